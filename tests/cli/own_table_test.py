"""Data of users: what is read from tables and arrays, how it is split, and what is refused."""

import keras
import numpy as np
import pandas
import pytest

import csdl_keras as csdl
from csdl_keras.training.train import Trained
from csdl_keras_cli.data import summary
from tests.cli.own_files import FRAME, RNG, ROWS, csv, load, read, run, save, table

PRICES = {"cost_columns": ["price_no", "price_yes"]}


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
def test_rows_stay_together(suffix, tmp_path):
    data = load(table(tmp_path, suffix), drop=["id"], **PRICES)
    assert data.labels == ("no", "yes")
    assert data.x["train"].columns.names == ("age", "job", "member")
    sizes = {part: len(labels) for part, labels in data.y.items()}
    assert sizes == {"train": 36, "val": 12, "test": 12}
    assert np.isnan(data.x["train"].rows[:, 0]).any()
    for part in data.x:
        # The cost columns follow from the place of a row in the file.
        for (no, yes), label in zip(data.costs[part], data.y[part], strict=True):
            places = np.flatnonzero((FRAME.price_no == no) & (FRAME.price_yes == yes))
            assert label in (FRAME["answer"][places] == "yes").astype(int).tolist()


def test_numbers_for_networks_that_take_no_categories(tmp_path):
    own = load(table(tmp_path), drop=["id,price_no,price_yes"])
    data = own.suiting(csdl.ALGORITHMS["csdnn"])
    assert data.x["train"].dtype == "float32" and data.x["train"].min() >= 0
    assert data.x["train"].max() <= 1 and np.isfinite(data.x["val"]).all()
    assert own.suiting(csdl.ALGORITHMS["cost_model"]) is own
    # Trained on these numbers, the saved model takes the rows of the file.
    network = csdl.models.mlp(data.x["train"].shape[1:], 2, (3,), output="cost", seed=0)
    data.finished(Trained(network, seconds=1.0, epochs=1)).save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    decisions = csdl.decide(loaded, pandas.read_csv(tmp_path / "table.csv").iloc[:12])
    expected = network.predict(data.x["test"], verbose=0)
    found = loaded.predict(own.x["test"].rows, verbose=0)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert set(loaded.classes[decisions]) <= {"no", "yes"}


@pytest.mark.parametrize(
    "labels, expected, classes",
    [
        ([0, 1, 2], (0, 1, 2), None),
        ([True, False], (False, True), [False, True]),
        ([2**60, 2**60 + 1], (2**60, 2**60 + 1), [str(2**60), str(2**60 + 1)]),
        ([2.0, 1.0], ("1.0", "2.0"), ["1.0", "2.0"]),
    ],
)
def test_classes_of_the_saved_model(labels, expected, classes, tmp_path):
    frame = pandas.DataFrame({"x": range(30), "answer": (labels * 30)[:30]})
    frame.to_csv(tmp_path / "table.csv")
    data = load(tmp_path / "table.csv")
    assert data.own.left_out == ("Unnamed: 0",) and data.x["train"].columns.names == ("x",)
    assert data.labels == expected
    assert (data.classes if data.classes is None else data.classes.tolist()) == classes


def test_splits(tmp_path):
    path = table(tmp_path)
    first, again, other = (load(path, seed=seed).x["test"].rows for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other, equal_nan=True)


def test_splits_by_columns(tmp_path):
    days = [f"2026-{1 + place // 28:02}-{1 + place % 28:02}" for place in range(ROWS)]
    frame = FRAME.assign(when=days[::-1], client=[f"c{place // 4}" for place in range(ROWS)])
    path = save(frame, tmp_path / "table.csv")
    for drop in (["when"], ["age"]):  # A date that is no input may order the rows.
        data = load(path, drop=drop, split_by=["when"])
        assert "the latest by 'when' in the test set" in summary(data)
        place = data.x["train"].columns.names.index("id")  # The latest rows come first.
        ids = {part: sorted(it.rows[:, place]) for part, it in data.x.items()}
        assert ids["test"] == list(range(12)) and ids["val"] == list(range(12, 24))
    dates = save(frame.assign(when=pandas.to_datetime(days).date), tmp_path / "a.parquet")
    assert sorted(load(dates, split_by=["when"]).x["test"].rows[:, 0]) == list(range(48, 60))
    data = load(path, drop=["when"], group=["client"])
    assert "client" not in data.x["train"].columns.names
    clients = [{*(it.rows[:, 0] // 4)} for it in data.x.values()]
    assert sum(map(len, clients)) == len(set.union(*clients)) == 15


def test_decisions_of_today(tmp_path):
    path = save(FRAME.assign(decided=FRAME["answer"] + " "), tmp_path / "table.csv")
    data = load(path, today=["decided"])
    assert "decided" not in data.x["train"].columns.names
    np.testing.assert_array_equal(data.today, data.y["test"])


@pytest.mark.parametrize("largest, kind", [(255, np.uint8), (65535, np.uint16), (1, float)])
def test_images_in_arrays(largest, kind, tmp_path):
    pixels = (RNG.random((30, 4, 4)) * largest).astype(kind)
    np.savez(tmp_path / "a.npz", images=pixels, answer=np.arange(30) % 3)
    data = load(tmp_path / "a.npz")
    assert data.x["train"].shape[1:] == (4, 4, 1) and 0.8 < data.x["train"].max() <= 1
    np.testing.assert_allclose(run(data.own.code), pixels[:10, ..., None] / largest, rtol=1e-6)


HEAD = "x,z,answer\n"
LINES = [f"{i},{i * 2},{'ab'[i % 2]}\n" for i in range(12)]
GOOD = HEAD + "".join(LINES)


def changed(change, *places):
    return HEAD + "".join(change(it) if i in places else it for i, it in enumerate(LINES))


def trailing(line):
    return line.replace("\n", ",\n")


def quoted(row, names="abcdefghijkl"):
    """A row of R: its name, numbers, and a text in quotes."""
    return f'"{names[row]}",{row},{row * 2},"{"ab"[row % 2]}"\n'


@pytest.mark.parametrize(
    "text, told",
    [
        # A decimal comma without quotes, and a comma in a text.
        (HEAD + "".join(f"{i},5,{i},a\n" for i in range(12)), "1, 4 in line 2"),
        # A cell too few, also after lines in quotes and the one of Excel.
        (changed(lambda line: line[:-3] + "\n", 11), "3 in line 1, 2 in line 13"),
        (changed(lambda line: f'"a\nb",{line[-4:]}', 1, 2) + "1,2\n", "2 in line 16"),
        ("sep=,\n" + changed(trailing, 2), "3 in line 2, 4 in line 5"),
        # Names of rows of which one is repeated, or has another number.
        (HEAD + "".join(quoted(i, "abcdefghijka") for i in range(12)), "4 in line 2"),
        (HEAD + "".join(f"{i},{line}" for i, line in enumerate(LINES)), "4 in line 2"),
    ],
)
def test_a_line_of_another_length_is_refused(text, told, tmp_path):
    with pytest.raises(ValueError, match=told) as caught:
        read(csv(tmp_path, text))
    assert "differ in their number of cells" in str(caught.value)


def test_texts_far_down_make_texts_of_the_whole_column(tmp_path):
    """pandas would read long files in parts, each of its own type."""
    cells, others = ["7"] * 20_000 + ["w"] * 30_000, [f"z{i}" for i in range(62)]
    lines = [f"{cell},{i % 2}{',1' * 62}" for i, cell in enumerate(cells)]
    path = csv(tmp_path, "\n".join([",".join(["x", "answer", *others]), *lines]))
    file = read(path)
    assert file.inputs["x"].tolist() == cells and run(file.code)["x"].tolist() == cells[:10]


@pytest.mark.parametrize(
    "values, dropped",
    [
        (["A, B", "C"], ["A", "B", "C"]),
        (["A", "Income, total", "C"], ["A", "Income, total", "C"]),
        (['A,"Income, total"'], ["A", "Income, total"]),
        ([""], []),
    ],
)
def test_columns_are_named_one_by_one_or_between_commas(values, dropped, tmp_path):
    rows = "".join(f"{i},1,2,3,{'ab'[i % 2]}\n" for i in range(12))
    path = csv(tmp_path, f'A,B,"Income, total",C,answer\n{rows}')
    data = load(path, drop=values)
    kept = [it for it in ["A", "B", "Income, total", "C"] if it not in dropped]
    assert list(data.x["train"].columns.names) == kept
    costs = read(path, cost_columns=values).costs
    assert costs is None if not dropped else costs.shape == (12, len(dropped))


FOUR = {"answer": np.arange(4)}


@pytest.mark.parametrize(
    "name, content, told",
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b"x,Answer\n1,a\n", "which has 'x', 'Answer'.*Did you mean 'Answer'"),
        ("a.csv", b"x,answer,answer\n1,a,a\n2,b,b\n", "has the column 'answer' twice"),
        ("a.csv", b"x,answer\n" + b"1,7.5\n2,5\n" * 3, "whole numbers; received 7.5. Group"),
        ("a.csv", GOOD.replace("b", "a").encode(), "2 to 1000 different labels; received 1, s"),
        ("a.csv", (GOOD + "3,1,c\n").encode(), r"needs at least 3 examples.*'c' \(1\)"),
        ("a.csv", (GOOD + "3,1,\n4,1,NA\n").encode(), "row 13 of 'answer' is missing"),
        ("a.csv", "x,answer\né,a\n".encode("latin-1"), "UTF-8: .*byte 0xe9"),
        ("a.npz", b"no archive", "cannot be read as a .npz file"),
        ("a.npz", {"answer": np.ones((4, 2)), "x": np.ones((4, 2))}, r"labels \(N,\).*\(4, 2\)"),
        ("a.npz", {**FOUR, "x": np.ones((3, 2))}, "with 4 labels"),
        ("a.npz", {**FOUR, "x": -np.ones((4, 2, 2))}, "float64 from -1.0 to -1.0"),
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
        ({"drop": ["age", "jobs"]}, "--drop 'jobs' is not a column of .*Did you mean 'job'"),
        ({"drop": ["answer"]}, "name the column 'answer' twice"),
        ({"cost_columns": ["price_no"]}, "a column for each label, no, yes; received 1"),
        ({"cost_columns": ["price_no", "age"]}, "Column 'age' has nan in row 3"),
    ],
)
def test_strange_columns(options, told, tmp_path):
    with pytest.raises(ValueError, match=told):
        load(table(tmp_path), **options)
