"""Decisions, labels and names of files are stored as they were computed, however many there are."""

import dataclasses
import json

import numpy as np
import pytest
from csdl_keras.fitting.stage_cache import StageCache

import csdl_keras as csdl
from csdl_keras.datasets import DataSet
from csdl_keras.experiments.cell import OWN_COSTS, Cell
from csdl_keras.experiments.cell_runner import CellRunner
from csdl_keras.experiments.data_source import DataSource
from csdl_keras.experiments.decision_files import DecisionFiles, beta_name


def data_of(num_classes):
    rng = np.random.default_rng(0)
    labels = np.arange(2 * num_classes) % num_classes
    x = rng.uniform(size=(len(labels), 2, 2, 1)).astype("float32")
    half = slice(0, num_classes)
    return DataSet("many", num_classes, x, labels, x[half], labels[half], x[half], labels[half])


@dataclasses.dataclass(frozen=True)
class Many(DataSource):
    num_classes: int = 2

    def load(self):
        return data_of(self.num_classes)


@pytest.mark.parametrize("others", [1, 2])
@pytest.mark.parametrize("num_classes", [2, 255, 256, 257])
def test_decisions_beyond_the_classes(num_classes, others, tmp_path, monkeypatch):
    """Asking costs hardly anything, in the last of the decisions that are no class."""
    matrix = np.hstack([100 * (1 - np.eye(num_classes)), np.full((num_classes, others), 50.0)])
    matrix[:, -1] = 0.001
    source = Many("many", num_classes=num_classes, costs=tuple(map(tuple, matrix.tolist())))
    settings = csdl.Settings().replace({"mlp.hidden_units": (3,)}).limit_epochs(1)
    cell = Cell(source, csdl.ALGORITHMS["dnn_bayes"], OWN_COSTS, settings)
    for _ in range(2):  # trained, then found
        ((outcome, _),) = CellRunner(StageCache(tmp_path)).run([cell])
        asked = num_classes + others - 1
        assert set(outcome.test) == set(outcome.validation) == {asked}
        assert outcome.test_costs.mean() == outcome.validation_cost == pytest.approx(0.001)


@pytest.mark.parametrize("highest", [1, 255, 256, 65_535, 65_536, 2**31])
def test_labels_of_any_size(highest, tmp_path, monkeypatch):
    source = DataSource("digits")
    data = dataclasses.replace(source.load(), num_classes=max(10, highest + 1))
    labels = np.where(data.y_test > 4, highest, 0)
    data = dataclasses.replace(data, y_test=labels)
    monkeypatch.setattr(DataSource, "load", lambda self: data)
    files = DecisionFiles(tmp_path)
    decisions = labels[::-1].copy()
    for _ in range(2):
        files.write(source, {**files.read(source, {}), "decisions": decisions})
    found = files.read(source, {})
    assert found["labels"].tolist() == labels.tolist()
    assert found["decisions"].tolist() == decisions.tolist()
    data = dataclasses.replace(data, y_test=np.roll(labels, 1))
    with pytest.raises(ValueError, match="its 'labels' is another one"):
        files.read(source, {})


def test_each_beta_has_a_name_of_its_own(tried):
    betas = [0.0, 1.0, 0.25, 0.1, 0.1234567, 0.1234568, 1e-05, 0.30000000000000004, 0.3, 1 / 3]
    names = [beta_name("csdnn", 1000, beta) for beta in betas]
    assert len(set(names)) == len(betas)
    assert [float(name.rpartition("_")[2]) for name in names] == betas
    # Files that are there keep their names.
    assert names[:3] == [f"csdnn_1000_beta_{it}" for it in ("0", "1", "0.25")]
    tried("values of beta", len(betas))


def test_curves_are_what_fit_computed(tmp_path):
    """In memory, on disk and from there, to the last digit."""
    data = csdl.datasets.load("digits", train_size=229)
    settings = csdl.Settings().replace({"mlp.hidden_units": (4,)}).limit_epochs(2)

    def history():
        cache = csdl.StageCache(tmp_path)
        trainer = csdl.Trainer(data.x_train, data.y_train, settings=settings, seed=0, cache=cache)
        return trainer.train("dnn_blind", 1 - np.eye(10)).history

    computed = history()
    assert any(value != float(f"{value:.4g}") for value in computed["loss"])
    assert json.dumps(history()) == json.dumps(computed)
