"""Data of users: what is read from tables, arrays and folders of images, and how it is split."""

import keras
import numpy as np
import pandas
import pytest

import csdl_keras as csdl
from csdl_keras_cli.choices import SHARES
from csdl_keras_cli.own_columns import split
from tests.cli.own_files import FRAME, RNG, csv, images, load, run, save, table

PRICES = {"cost_columns": ["price_no", "price_yes"]}


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
def test_tables(suffix, tmp_path):
    data = load(table(tmp_path, suffix), drop=["id"], **PRICES)
    assert data.labels == ("no", "yes")
    assert data.x["train"].columns.names == ("age", "job", "member")
    sizes = {part: len(labels) for part, labels in data.y.items()}
    assert sizes == {"train": 36, "val": 12, "test": 12}
    assert np.isnan(data.x["train"].rows[:, 0]).any()
    for part in data.x:
        # Rows stay together: the cost columns follow from the place of a row in the file.
        places = [
            np.flatnonzero((FRAME.price_no == no) & (FRAME.price_yes == yes))
            for no, yes in data.costs[part]
        ]
        for one, label in zip(places, data.y[part], strict=True):
            assert label in (FRAME["answer"][one] == "yes").astype(int).tolist()


def test_numbers_for_networks_that_take_no_categories(tmp_path):
    own = load(table(tmp_path), drop=["id,price_no,price_yes"])
    data = own.suiting(csdl.ALGORITHMS["csdnn"])
    assert data.x["train"].dtype == "float32" and data.x["train"].min() >= 0
    assert data.x["train"].max() <= 1 and np.isfinite(data.x["val"]).all()
    assert own.suiting(csdl.ALGORITHMS["cost_model"]) is own
    # Trained on these numbers, the saved model takes the rows of the file.
    network = csdl.models.mlp(data.x["train"].shape[1:], 2, (3,), output="cost", seed=0)
    data.finished(network).save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    decisions = csdl.decide(loaded, pandas.read_csv(tmp_path / "table.csv").iloc[:12])
    expected = network.predict(data.x["test"], verbose=0)
    found = loaded.predict(own.x["test"].rows, verbose=0)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert set(loaded.classes[decisions]) <= {"no", "yes"}


def test_unnamed_columns_are_no_inputs(tmp_path):
    FRAME.to_csv(tmp_path / "table.csv")
    data = load(tmp_path / "table.csv")
    assert data.own.left_out == ("Unnamed: 0",)
    assert "Unnamed: 0" not in data.x["train"].columns.names


@pytest.mark.parametrize(
    "labels, expected, classes",
    [
        ([0, 1, 2], (0, 1, 2), None),
        ([1, 2, 10], (1, 2, 10), ["1", "2", "10"]),
        ([True, False], (False, True), [False, True]),
        (["02", "01", "10"], ("01", "02", "10"), ["01", "02", "10"]),
        ([2**60, 2**60 + 1], (2**60, 2**60 + 1), [str(2**60), str(2**60 + 1)]),
        ([2.0, 1.0], ("1.0", "2.0"), ["1.0", "2.0"]),
    ],
)
def test_classes_of_the_saved_model(labels, expected, classes, tmp_path):
    frame = pandas.DataFrame({"x": range(30), "answer": (labels * 30)[:30]})
    data = load(save(frame, tmp_path / "table.csv"))
    assert data.labels == expected
    found = data.classes
    assert (found if found is None else found.tolist()) == classes


def test_splits(tmp_path):
    path = table(tmp_path)
    first, again, other = (load(path, seed=seed).x["test"].rows for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other, equal_nan=True)
    data = load(path, train_size=20)
    assert {part: len(labels) for part, labels in data.y.items()} == dict(train=15, val=5, test=12)
    with pytest.raises(ValueError, match="--train-size of at most 48.*received 49"):
        load(path, train_size=49)


def test_split_keeps_shares_of_classes():
    labels = np.repeat([0, 1, 2], [200, 50, 3])
    parts = split(labels, seed=0).values()
    assert sorted(np.concatenate([*parts])) == list(range(253))
    for part, share in zip(parts, SHARES, strict=True):
        assert np.bincount(labels[part]).tolist() == [200 * share, 50 * share, 1]


@pytest.mark.parametrize("largest, kind", [(255, np.uint8), (65535, np.uint16), (1, float)])
def test_images_in_arrays(largest, kind, tmp_path):
    pixels = (RNG.random((30, 4, 4)) * largest).astype(kind)
    np.savez(tmp_path / "a.npz", images=pixels, answer=np.arange(30) % 3)
    data = load(tmp_path / "a.npz")
    assert data.x["train"].shape[1:] == (4, 4, 1) and 0.8 < data.x["train"].max() <= 1
    np.testing.assert_allclose(run(data.code), pixels[:10, ..., None] / largest, rtol=1e-6)


def test_a_folder_of_images(tmp_path):
    data = load(images(tmp_path / "pets"))
    assert data.labels == ("cat", "dog") and data.x["train"].shape[1:] == (6, 4, 1)
    assert 0 <= data.x["train"].min() < 0.2 and 0.8 < data.x["train"].max() <= 1
    assert run(data.code).shape == (1, 6, 4, 1)


@pytest.mark.parametrize("no, yes", [("no", "yes"), ("1.0", "2.0"), ("9", "10"), ("a,b", "b,c")])
def test_columns_of_costs_named_like_labels(no, yes, tmp_path):
    known = load(table(tmp_path), **PRICES)
    frame = FRAME.rename(columns={"price_no": no, "price_yes": yes})
    frame["answer"] = FRAME.answer.map({"no": no, "yes": yes})
    data = load(save(frame, tmp_path / "named.csv"), cost_columns=[yes, no])
    np.testing.assert_array_equal(data.costs["train"], known.costs["train"])
    assert data.decisions == (no, yes)


HEAD = "x,answer\n"
GOOD = HEAD + "1,a\n2,b\n" * 3
FOUR = {"answer": np.arange(4)}


@pytest.mark.parametrize(
    "content, told",
    [
        ("", "to hold a table; the file is empty"),
        (HEAD, "Expected rows in"),
        ("x,y\n1,a\n", "--label to name a column of .*'x', 'y'; received 'answer'"),
        ("x,Answer\n1,a\n", "Did you mean 'Answer'"),
        ("x,answer,answer\n1,a,a\n2,b,b\n", "columns of distinct names.*'answer' twice"),
        (HEAD + f"1,{2**60}.0\n2,5\n" * 3, "strings or whole numbers; received 1.15292e.18"),
        (GOOD.replace("b", "a"), "2 to 1000 labels in 'answer'; received only 'a'"),
        (GOOD + "3,c\n", r"3 examples of each label.*'c' \(1\)"),
        (GOOD + "3,\n4,NA\n", "a label in each row of 'answer'; received 2 rows.* row 7"),
        (HEAD + "".join(f"1,{i}\n" for i in range(1001)), "2 to 1000 labels.*1001 labels"),
        ("answer\na\nb\n", "Expected inputs besides"),
        ("x,answer\né,a\n".encode("latin-1"), "UTF-8; received the byte 0xe9 in line 2"),
    ],
)
def test_strange_tables(content, told, tmp_path):
    with pytest.raises(ValueError, match=told):
        load(csv(tmp_path, content))


@pytest.mark.parametrize(
    "name, content, told",
    [
        ("a.npz", b"no archive", "to be an .npz file with arrays"),
        ("a.parquet", b"no parquet", "to hold a table that pandas.read_parquet reads"),
        ("a.npz", {"answer": np.array([{}, {}])}, "no Python objects"),
        ("a.npz", {"answer": np.ones((4, 2)), "x": np.ones((4, 2))}, r"labels \(N,\).*\(4, 2\)"),
        ("a.npz", {**FOUR, "x": np.ones((3, 2))}, "a row for each of the labels"),
        ("a.npz", {**FOUR, "x": np.ones((4, 2)), "z": np.ones(4)}, "by --drop"),
        ("a.npz", {**FOUR, "x": -np.ones((4, 2, 2))}, "values from -1.0 to -1.0"),
        ("a.npz", {**FOUR, "x": np.full((4, 2, 2), np.nan)}, r"received nan at \(0, 0, 0\)"),
    ],
)
def test_strange_files(name, content, told, tmp_path):
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.savez(path, allow_pickle=True, **content)
    with pytest.raises(ValueError, match=told):
        load(path)


@pytest.mark.parametrize(
    "options, told",
    [
        ({"drop": ["age", "jobs"]}, "--drop to name a column.*'jobs'. Did you mean 'job'"),
        ({"drop": ["answer"]}, "different columns; received 'answer' twice"),
        ({"cost_columns": ["price_no"]}, "a column for each label, no, yes; received 1"),
        ({"cost_columns": ["price_no", "age"]}, "finite.* in column 'age'; received nan in row 3"),
    ],
)
def test_strange_columns(options, told, tmp_path):
    with pytest.raises(ValueError, match=told):
        load(table(tmp_path), **options)


def test_labels_of_several_kinds(tmp_path):
    days = pandas.to_datetime(["2020-01-01", "2020-01-02"] * 6)
    frame = pandas.DataFrame({"x": range(12), "answer": days})
    with pytest.raises(ValueError, match="strings, whole numbers or booleans; received Timestamp"):
        load(save(frame, tmp_path / "a.parquet"))
