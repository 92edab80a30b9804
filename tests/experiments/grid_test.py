"""The grid of Table 2: choices, shared stages, files, kills, crowds."""

import csv
import dataclasses
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.experiments import stage_runner
from csdl_keras.experiments.cell import Cell
from csdl_keras.experiments.data_source import DataSource
from csdl_keras.experiments.grid import Grid
from csdl_keras.experiments.profiles import PROFILES, Profile
from csdl_keras.experiments.stage_runner import workers
from csdl_keras.stage_cache import StageCache
from tests.fresh_process import REPOSITORY

PROFILE = Profile(
    datasets=("digits_imb",),
    settings=csdl.Settings(
        hidden_units=(8,), epochs=2, pretraining_epochs=1, cnn_epochs=1, min_steps=1
    ),
    grids={"learning_rate": (0.01, 0.3), "beta": (0.0, 0.5), "penalty": (0.1, 1.0)},
    cost_seeds=2,
    dear_cost_seeds=1,
    train_size=343,
    algorithms=("dnn_blind", "csosr", "dnn_bayes", "sdae_sosr", "csdnn"),
)
#: For processes of their own, which take their time to start.
SHORT = dataclasses.replace(
    PROFILE,
    datasets=("digits",),
    algorithms=("dnn_bayes", "csdnn"),
    grids={"beta": (0.0, 0.5)},
    cost_seeds=1,
)
RUN = """
import pathlib
from csdl_keras import Settings
from csdl_keras.experiments.grid import Grid
from csdl_keras.experiments.profiles import Profile
from tests.experiments.grid_test import Recorder

print("started", flush=True)
watcher = Recorder()
Grid({profile!r}, pathlib.Path({folder!r}), pathlib.Path({cache!r})).run(watcher)
print("finished", len(watcher.stages), flush=True)
"""


class Recorder:
    """Keeps what a grid tells."""

    def __init__(self):
        self.stages, self.choices, self.completed, self.left = [], [], [], []

    def finished(self, cell, stage, seconds, left):
        self.stages.append((cell.source.label, cell.algorithm, cell.cost_seed, stage))
        self.left.append(len(left))

    def chosen(self, dataset, choices):
        self.choices += choices

    def complete(self, dataset, outcomes):
        self.completed.append(dataset)


def run(folder, profile=PROFILE, cache=None, **kwargs):
    watcher = Recorder()
    Grid(profile, folder, cache or folder / "stages", **kwargs).run(watcher)
    return watcher


def read(folder, name="results.csv", without=("train_seconds",)):
    with (folder / name).open() as file:
        rows = list(csv.DictReader(file))
    return [{key: row[key] for key in row if key not in without} for row in rows]


def start(folder, cache=None, profile=SHORT):
    code = RUN.format(profile=profile, folder=str(folder), cache=str(cache or folder / "stages"))
    environment = {
        **os.environ,
        "KERAS_BACKEND": keras.backend.backend(),
        "PYTHONPATH": str(REPOSITORY),
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    )


def stage_names(folder):
    """The files of stages, by which of them are there one knows what has been run."""
    return sorted(str(path.relative_to(folder)) for path in folder.glob("stages/*/*.npz"))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a whole run, and what it told."""
    folder = tmp_path_factory.mktemp("grid")
    return folder, run(folder)


class TestRun:
    def test_rows(self, finished):
        rows = read(finished[0])
        expected = [
            ("digits", "True", name, str(1000 + index))
            for name in PROFILE.algorithms
            for index in range(1 if name == "csosr" else 2)
        ]
        keys = ("dataset", "imbalanced", "algorithm", "cost_seed")
        assert [tuple(row[key] for key in keys) for row in rows] == expected
        assert finished[1].completed == ["digits_imb"]

    def test_costs_follow_from_the_decisions_on_file(self, finished):
        for row in read(finished[0]):
            data = csdl.datasets.load("digits", imbalanced=True)
            with np.load(finished[0] / "test_decisions" / "digits_imb.npz") as file:
                labels, matrix = file["labels"], file[f"matrix_{row['cost_seed']}"]
                decisions = file[f"{row['algorithm']}_{row['cost_seed']}"]
                assert decisions.dtype == np.uint8
            np.testing.assert_array_equal(labels, data.y_test)
            # Costs are drawn from all labels, whatever part of them is trained on.
            expected = csdl.costs.randomized_proportional(
                data.y_train_val, seed=int(row["cost_seed"])
            )
            np.testing.assert_array_equal(matrix, expected)
            assert float(row["average_cost"]) == pytest.approx(matrix[labels, decisions].mean())
            assert float(row["error_rate"]) == pytest.approx((labels != decisions).mean())

    def test_sizes(self, finished):
        for row in read(finished[0]):
            data = csdl.datasets.load("digits", imbalanced=True)
            assert (int(row["train_size"]), int(row["test_size"])) == (343, len(data.y_test))

    def test_the_value_of_the_lowest_validation_figure_is_chosen(self, finished):
        choices = read(finished[0], "choices.csv")
        groups = {}
        for row in choices:
            key = (row["algorithm"], row["parameter"])
            groups.setdefault(key, []).append(row)
            assert row["criterion"] == ("error" if row["algorithm"] == "dnn_blind" else "cost")
        assert len(groups) == 4 + 1 + 1  # learning rate, beta, penalty
        results = {r["algorithm"]: r for r in read(finished[0])}
        for (name, parameter), rows in groups.items():
            chosen = [row for row in rows if row["chosen"] == "True"]
            figures = [float(row["validation"]) for row in rows]
            assert len(chosen) == 1 and float(chosen[0]["validation"]) == min(figures)
            assert [float(row["value"]) for row in rows] == list(PROFILE.grids[parameter])
            assert results[name][parameter] == chosen[0]["value"]

    def test_curve_of_beta(self, finished):
        curve = read(finished[0], "beta_curve.csv")
        assert [float(row["beta"]) for row in curve] == [0.0, 0.5]
        choices = [
            row
            for row in read(finished[0], "choices.csv")
            if (row["algorithm"], row["parameter"]) == ("csdnn", "beta")
        ]
        for point, choice in zip(curve, choices, strict=True):
            assert point["test_cost"] == choice["test_cost"]
            assert float(point["standard_error"]) > 0
            with np.load(finished[0] / "test_decisions" / "digits_imb.npz") as file:
                decisions = file[f"csdnn_1000_beta_{float(point['beta']):g}"]
                costs = file["matrix_1000"][file["labels"], decisions]
            assert float(point["test_cost"]) == pytest.approx(costs.mean())
        # At 0 the curve begins with the SDAE's network, if both have chosen the same rate.
        results = read(finished[0])
        rates = {r["algorithm"]: r["learning_rate"] for r in results}
        if rates["csdnn"] == rates["sdae_sosr"]:
            sdae = next(r for r in results if r["algorithm"] == "sdae_sosr")
            assert float(curve[0]["test_cost"]) == pytest.approx(float(sdae["average_cost"]))

    def test_shared_stages_ran_once(self, finished):
        stages = [stage for stage in finished[1].stages if stage[0] == "digits_imb"]
        trained = [stage for stage in stages if stage[3] == "training" and "blind" in stage[1]]
        bayes = [stage for stage in stages if stage[3] == "training" and stage[1] == "dnn_bayes"]
        assert len(trained) + len(bayes) == 2  # the two learning rates, for both rows
        pretrained = [stage[1:3] for stage in stages if stage[3] == "pretraining"]
        # Cost-blind pre-training once, for both matrices and for beta = 0 in the other row.
        assert pretrained.count(("sdae_sosr", 1000)) == 1
        assert ("sdae_sosr", 1001) not in pretrained
        assert pretrained.count(("csdnn", 1000)) == 2  # beta = 0.25, the default, and 0.5

    def test_a_second_run_trains_nothing(self, finished, tmp_path):
        folder = tmp_path / "again"
        watcher = run(folder, cache=finished[0] / "stages")
        assert watcher.stages == []
        for name in ("results.csv", "choices.csv", "beta_curve.csv"):
            assert (folder / name).read_bytes() == (finished[0] / name).read_bytes()
        for path in (finished[0] / "test_decisions").iterdir():
            assert path.read_bytes() == (folder / "test_decisions" / path.name).read_bytes()

    def test_other_rows_and_sets_stay(self, finished, tmp_path):
        """A run of a part of the grid replaces that part alone."""
        folder = tmp_path / "copy"
        shutil.copytree(finished[0], folder)
        part = dataclasses.replace(
            PROFILE, datasets=("digits", "digits_imb"), algorithms=("dnn_bayes",), grids={}
        )
        run(folder, dataclasses.replace(part, cost_seeds=1))
        before, after = read(finished[0]), read(folder)
        keys = [(row["imbalanced"], row["algorithm"]) for row in after]
        assert keys[0] == ("False", "dnn_bayes") and keys.count(("True", "dnn_bayes")) == 1
        others = [row for row in before if row["algorithm"] != "dnn_bayes"]
        assert [row for row in after if row["algorithm"] != "dnn_bayes"] == others
        with np.load(folder / "test_decisions" / "digits_imb.npz") as file:
            assert "dnn_bayes_1001" not in file and "csdnn_1000_beta_0.5" in file

    def test_no_other_file_has_a_column_of_average_costs(self, finished):
        for path in finished[0].glob("*.csv"):
            header = path.read_text().splitlines()[0].split(",")
            assert ("average_cost" in header) == (path.name == "results.csv")


class TestDivergence:
    def test_a_value_that_diverges_is_not_chosen(self, tmp_path):
        profile = dataclasses.replace(
            SHORT, algorithms=("cnn_bayes",), grids={"cnn_learning_rate": (1e30, 1e-3)}
        )
        watcher = run(tmp_path, profile)
        assert [choice.value for choice in watcher.choices] == [1e-3]
        tried = read(tmp_path, "choices.csv")
        assert [row["validation"] for row in tried][0] == "inf"
        assert np.isfinite(float(read(tmp_path)[0]["average_cost"]))

    def test_a_row_that_diverges_does_not_stop_the_grid(self, tmp_path):
        settings = dataclasses.replace(SHORT.settings, cnn_learning_rate=1e30)
        profile = dataclasses.replace(
            SHORT, algorithms=("cnn_bayes", "dnn_sosr"), grids={}, settings=settings
        )
        run(tmp_path, profile)
        costs = {row["algorithm"]: float(row["average_cost"]) for row in read(tmp_path)}
        assert costs["cnn_bayes"] == np.inf and np.isfinite(costs["dnn_sosr"])


class TestProcesses:
    @pytest.fixture(scope="class")
    def undisturbed(self, tmp_path_factory):
        folder = tmp_path_factory.mktemp("undisturbed")
        return folder, run(folder, SHORT)

    def test_killed_at_random_it_ends_with_the_same_results(self, undisturbed, tmp_path):
        rng = random.Random(int(time.time()))
        stages = len(undisturbed[1].stages)
        for _ in range(2):
            process = start(tmp_path)
            assert process.stdout.readline() == "started\n"
            before = len(list(tmp_path.rglob("*.npz")))
            target = before + rng.randint(0, 4)
            deadline = time.monotonic() + 60
            while len(list(tmp_path.rglob("*.npz"))) < target and time.monotonic() < deadline:
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        found = len(list((tmp_path / "stages").rglob("*.npz")))
        output = start(tmp_path).communicate(timeout=300)[0].split()
        # It went on from where it was.
        assert output == ["started", "finished", str(stages - found)]
        assert read(tmp_path) == read(undisturbed[0])
        assert read(tmp_path, "choices.csv") == read(undisturbed[0], "choices.csv")

    @pytest.mark.slow
    def test_two_processes_on_one_cache(self, undisturbed, tmp_path):
        """Both finish with the same results, and each stage is run by one of them."""
        crowd = [start(tmp_path / str(i), cache=tmp_path / "stages") for i in range(2)]
        outputs = [process.communicate(timeout=300)[0].split() for process in crowd]
        assert all(output[:2] == ["started", "finished"] for output in outputs)
        files = list((tmp_path / "stages").rglob("*"))
        assert not [path for path in files if path.name.startswith("unfinished")]
        assert len([p for p in files if p.suffix == ".npz"]) == len(undisturbed[1].stages)
        for i in range(2):
            assert read(tmp_path / str(i)) == read(undisturbed[0])

    @pytest.mark.slow
    def test_two_jobs(self, undisturbed, tmp_path):
        before = dict(os.environ)
        with workers(2):
            watcher = run(tmp_path, SHORT)
        assert dict(os.environ) == before
        assert sorted(watcher.stages) == sorted(undisturbed[1].stages)
        assert read(tmp_path) == read(undisturbed[0])

    def test_a_dask_cluster_of_two_workers(self, tmp_path):
        distributed = pytest.importorskip("distributed")
        # Nothing to choose: rounding, which differs with the number of threads, would choose too.
        profile = dataclasses.replace(SHORT, grids={})
        alone = run(tmp_path / "alone", profile)
        cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        )
        with cluster, workers(scheduler=cluster.scheduler_address):
            watcher = run(tmp_path / "cluster", profile)
        assert sorted(watcher.stages) == sorted(alone.stages)
        assert len(read(tmp_path / "cluster")) == len(read(tmp_path / "alone")) == 2
        names = stage_names(tmp_path / "alone")
        assert names == stage_names(tmp_path / "cluster")
        # The cluster's own threads draw from Python's random numbers; stages do not.
        for name in names:
            with (
                np.load(tmp_path / "alone" / name) as one,
                np.load(tmp_path / "cluster" / name) as other,
            ):
                for array in (array for array in one if array.startswith("array")):
                    if one[array].dtype == "float32":
                        np.testing.assert_allclose(one[array], other[array], atol=1e-3)

    def test_no_scheduler_there(self, monkeypatch):
        distributed = pytest.importorskip("distributed")
        client = distributed.Client
        monkeypatch.setattr(distributed, "Client", lambda a, timeout: client(a, timeout="1s"))
        with pytest.raises(ValueError, match="Expected a Dask scheduler at 'tcp://127.0.0.1:9'"):
            with workers(scheduler="tcp://127.0.0.1:9"):
                pass


class TestCell:
    def test_cost_matrices_do_not_depend_on_the_part_trained_on(self):
        whole, part = (
            Cell(DataSource("digits", train_size=size), "csdnn", 1000, csdl.Settings())
            for size in (None, 343)
        )
        np.testing.assert_array_equal(whole.matrix, part.matrix)

    def test_cost_scale(self):
        cell = Cell(DataSource("digits"), "csdnn", 1000, csdl.Settings())
        other = dataclasses.replace(cell, cost_scale=2000.0)
        np.testing.assert_allclose(other.matrix, 200 * cell.matrix)

    def test_drop_rate_and_grayscale(self):
        data = DataSource("digits", imbalanced=True, drop_rate=0.9).load()
        counts = np.sort(np.bincount(data.y_train_val))
        assert counts[3] < 0.15 * counts[4]
        gray = DataSource("digits", grayscale=True).load()
        assert gray.input_shape == (8, 8, 1)

    @pytest.mark.parametrize("rate", [-0.1, 1.1, np.nan])
    def test_wrong_drop_rate(self, rate):
        with pytest.raises(ValueError, match="Expected `drop_rate`"):
            DataSource("digits", drop_rate=rate)

    def test_stages_say_which_images_were_decided(self, tmp_path):
        cells = [
            Cell(source, "dnn_blind", 1000, csdl.Settings())
            for source in (DataSource("digits"), DataSource("digits", imbalanced=True))
        ]
        keys = {StageCache.key(cell.stages(tmp_path)["decisions"]) for cell in cells}
        assert len(keys) == 2


class TestProfiles:
    def test_names(self):
        assert list(PROFILES) == ["tiny", "small", "paper"]
        for profile in PROFILES.values():
            assert profile.algorithms == tuple(csdl.ALGORITHMS)
            fields = {field.name for field in dataclasses.fields(csdl.Settings)}
            assert set(profile.grids) <= fields

    def test_the_paper(self):
        paper = PROFILES["paper"]
        assert paper.settings.hidden_units == (3000, 3000, 3000)
        assert paper.grids["beta"] == (0.0, 0.05, 0.1, 0.25, 0.4, 0.75, 1.0)
        assert len(paper.datasets) == 8 and paper.train_size is None

    def test_tiny_needs_no_download(self):
        names = {name.removesuffix("_imb") for name in PROFILES["tiny"].datasets}
        assert names <= set(csdl.datasets.EMBEDDED)

    @pytest.mark.parametrize("profile", PROFILES)
    def test_every_value_can_be_set(self, profile):
        for field, values in PROFILES[profile].grids.items():
            for value in values:
                dataclasses.replace(PROFILES[profile].settings, **{field: value})


class TestWorkers:
    def test_environment_is_restored_after_an_error(self, monkeypatch):
        monkeypatch.setenv("TF_NUM_INTRAOP_THREADS", "7")
        monkeypatch.delenv("TF_NUM_INTEROP_THREADS", raising=False)
        with pytest.raises(RuntimeError), workers(2):
            assert os.environ["TF_NUM_INTRAOP_THREADS"] == "7"
            assert int(os.environ["TF_NUM_INTEROP_THREADS"]) >= 1
            raise RuntimeError
        assert os.environ["TF_NUM_INTRAOP_THREADS"] == "7"
        assert "TF_NUM_INTEROP_THREADS" not in os.environ

    def test_a_stage_that_fails_keeps_those_before_it(self, tmp_path, monkeypatch):
        ran = []
        original = stage_runner._run

        def fail(cell, stage, folder):
            if stage == "decisions":
                raise OSError("no space left")
            ran.append(stage)
            return original(cell, stage, folder)

        monkeypatch.setattr(stage_runner, "_run", fail)
        profile = dataclasses.replace(SHORT, algorithms=("sdae_sosr",), grids={})
        with pytest.raises(OSError, match="no space"):
            run(tmp_path, profile)
        assert ran == ["pretraining", "training"]
        monkeypatch.undo()
        assert [stage for *_, stage in run(tmp_path, profile).stages] == ["decisions"]


class TestDataSource:
    @pytest.mark.parametrize(
        ("text", "name", "imbalanced", "label"),
        [
            ("mnist", "mnist", False, "mnist"),
            ("mnist_imb", "mnist", True, "mnist_imb"),
            ("a/b:1.0.0_imb", "a/b:1.0.0", True, "a_b:1.0.0_imb"),
        ],
    )
    def test_parse(self, text, name, imbalanced, label):
        source = DataSource.parse(text, seed=3)
        assert (source.name, source.imbalanced, source.seed) == (name, imbalanced, 3)
        assert source.label == label
