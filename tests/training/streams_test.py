"""Data in batches: arrays and streams train, calibrate, decide and report alike."""

import keras
import numpy as np
import pandas
import pytest

import csdl_keras as csdl
from csdl_keras._utils.streams import StoredRows
from csdl_keras.datasets import Parquet
from csdl_keras.evaluation import cost_report
from csdl_keras.training import Settings
from csdl_keras.training.data import check_data

MATRIX = np.array([[0.0, 1.0], [9.0, 0.0]])
SMALL = {"auto.min_steps": 20, "mlp.min_steps": 10, "mlp.hidden_units": (8, 8)}
QUICK = {"epochs": 1, "seed": 0, "settings": Settings().replace(SMALL)}
rng = np.random.default_rng(0)
X = rng.normal(size=(600, 4)).astype("float32")
Y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=600) > 1).astype(np.int64)


class Batches(keras.utils.PyDataset):
    """Batches of arrays, in a different order each time if `moves`."""

    def __init__(self, x=X, y=Y, size=128, moves=False):
        super().__init__()
        self.x, self.y, self.size, self.moves = x, y, size, moves

    def __len__(self):
        return -(-len(self.x) // self.size)

    def __getitem__(self, index):
        if self.moves and index == 0:
            order = np.random.permutation(len(self.x))
            self.x, self.y = self.x[order], self.y[order]
        rows = slice(index * self.size, (index + 1) * self.size)
        return self.x[rows], self.y[rows]


def tensorflow_data():
    tf = pytest.importorskip("tensorflow")
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(50)


def torch_data():
    torch = pytest.importorskip("torch")
    tensors = torch.utils.data.TensorDataset(torch.tensor(X), torch.tensor(Y))
    return torch.utils.data.DataLoader(tensors, batch_size=50)


@pytest.fixture(scope="module")
def model():
    return csdl.train(X, Y, MATRIX, **QUICK)


@pytest.mark.parametrize("make", [Batches, tensorflow_data, torch_data])
def test_as_with_arrays(make, model):
    """Other batches, as `predict` makes them, change outputs by rounding only."""
    data = make()
    trained = csdl.train(data, cost_matrix=MATRIX, **QUICK)
    expected = model.predict(X, verbose=0)
    np.testing.assert_array_equal(trained.predict(X, verbose=0), expected)
    decided = csdl.decide(model, data)
    clear = np.abs(expected[:, 0] - expected[:, 1]) > 1e-4
    np.testing.assert_array_equal(decided[clear], expected.argmin(axis=1)[clear])
    calibrated = csdl.calibrate(model, data).predict(X, verbose=0)
    of_arrays = csdl.calibrate(model, X, Y).predict(X, verbose=0)
    np.testing.assert_allclose(calibrated, of_arrays, rtol=1e-4, atol=1e-5)
    report = cost_report({"model": decided}, data, MATRIX)
    assert report.rows[0].average_cost == MATRIX[Y, decided].mean()


def test_parquet(tmp_path, monkeypatch):
    """Row groups have other categories, missing values and dates; together they are the frame."""
    monkeypatch.setattr("csdl_keras._utils.streams._PARQUET_ROWS", 90)
    frame = pandas.DataFrame(X, columns=list("abcd"))
    frame["place"] = np.where(np.arange(600) < 300, "here", "there")
    frame["day"] = pandas.date_range("2026-01-01", periods=600)
    frame.loc[5:200, "b"] = np.nan
    labels = np.where(Y == 1, "yes", "no")
    path = tmp_path / "cases.parquet"
    frame.assign(fraud=labels).to_parquet(path, row_group_size=100)
    expected = csdl.train(frame, labels, MATRIX, **QUICK)
    trained = csdl.train(path, "fraud", MATRIX, **QUICK)
    rows = expected.encode(frame)
    np.testing.assert_array_equal(trained.encode(frame), rows)
    np.testing.assert_array_equal(
        trained.predict(rows, verbose=0), expected.predict(rows, verbose=0)
    )
    decided = csdl.decide(trained, str(path), labels=True)
    assert (decided == csdl.decide(trained, frame, labels=True)).mean() > 0.99
    report = cost_report({"it": decided}, Parquet(path, "fraud"), MATRIX, classes=trained)
    assert report.size == 600
    for rows, _ in Parquet(path, "fraud", ["a", "place"]):
        assert list(rows.columns) == ["a", "place"]


@pytest.mark.parametrize("name", ["csdnn", pytest.param("ensemble_bayes", marks=pytest.mark.slow)])
def test_all_networks_of_an_ensemble_and_a_pretraining_read_a_file(name):
    """Folds are views of one file; a pre-training reads it into memory."""
    x = (X - X.min()) / (X.max() - X.min())
    expected = csdl.train(x, Y, MATRIX, name, **QUICK)
    trained = csdl.train(Batches(x), None, MATRIX, name, **QUICK)
    np.testing.assert_array_equal(trained.predict(x, verbose=0), expected.predict(x, verbose=0))


def test_validation_data_and_costs_of_examples():
    costs = csdl.costs.AffineCosts(np.linspace(1, 50, 600), [[0, 0], [1, 0]], [[0, 2], [0, 2]])
    given = {"costs": costs, **QUICK}
    trained = csdl.train(Batches(), validation_data=np.arange(500, 600), **given)
    decided = csdl.decide(trained, Batches(), costs=costs)
    np.testing.assert_array_equal(decided, csdl.decide(trained, X, costs=costs))
    with pytest.raises(ValueError, match="600"):
        csdl.decide(trained, Batches(), costs=costs[np.arange(500)])
    held_out = check_data(Batches(), None, validation_data=Batches(X[:50], Y[:50])).validation
    np.testing.assert_array_equal(held_out.in_memory().x, X[:50])


def test_rows_in_a_file(monkeypatch):
    """Indices of indices, a sample of large data, and the file, which goes with the rows."""
    rows = StoredRows.of([X[:100], X[100:]])
    np.testing.assert_array_equal(np.asarray(rows[::2][10:20]), X[::2][10:20])
    np.testing.assert_array_equal(rows[Y == 1].take([0, 2]), X[Y == 1][[0, 2]])
    assert (rows.min(), rows.max(), rows[:7].shape) == (X.min(), X.max(), (7, 4))
    monkeypatch.setattr("csdl_keras._utils.streams._SAMPLE", 10 * 4 * 4)
    assert rows.sampled_rows().tolist() == np.linspace(0, 599, 10).round().tolist()
    path, view = rows._path, rows[3:]
    del rows
    assert len(np.asarray(view)) == 597
    del view
    with pytest.raises(FileNotFoundError):
        open(path)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Batches(np.where(X > 3, np.nan, X)), "finite"),
        (lambda: Batches(X, np.eye(2)[Y]), "one-hot"),
        (lambda: tensorflow_data().repeat(), "never ends"),
        (lambda: tensorflow_data().map(lambda x, y: (x, y, y)), "3 parts"),
        (lambda: tensorflow_data().map(lambda x, y: x), "no labels"),
    ],
)
def test_wrong_data(make, message):
    with pytest.raises(ValueError, match=message):
        csdl.train(make(), cost_matrix=MATRIX)


def test_labels_in_another_order():
    with pytest.raises(ValueError, match="different order"):
        cost_report({"model": Y}, Batches(moves=True), MATRIX)
