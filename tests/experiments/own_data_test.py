"""Data of users: what is read, split and refused, before anything is trained."""

import pathlib

import keras
import numpy as np
import pandas
import pytest
from PIL import Image

import csdl_keras as csdl
from csdl_keras.experiments.cli import main
from csdl_keras.experiments.own_data import OwnSource
from csdl_keras.experiments.own_labels import SHARES, read_labels, split

ROWS = 60
RNG = np.random.default_rng(0)
FRAME = pandas.DataFrame(
    {
        "id": np.arange(ROWS),
        "age": np.where(RNG.random(ROWS) < 0.2, np.nan, RNG.integers(18, 80, ROWS)),
        "job": RNG.choice(["nurse", "baker", None], ROWS),
        "member": RNG.random(ROWS) < 0.5,
        "price_no": np.arange(ROWS) % 7.0,
        "price_yes": np.arange(ROWS) % 5.0,
        "answer": ["no", "yes", "no"] * (ROWS // 3),
    }
)


def source(path, **choices):
    choices = {"label_column": "answer", "drop": ("id",), **choices}
    return OwnSource(path.stem, path=path, **choices)


def csv(folder, content):
    path = folder / "table.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def table(folder, suffix=".csv"):
    path = folder / f"table{suffix}"
    if suffix == ".csv":
        FRAME.to_csv(path, index=False)
    elif suffix == ".parquet":
        FRAME.to_parquet(path)
    else:
        arrays = {name: FRAME[name].fillna("") if name == "job" else FRAME[name] for name in FRAME}
        kept = {name: np.array(it.tolist()) for name, it in arrays.items()}
        np.savez(path, **kept)
    return path


def images(folder, sizes=((6, 4),), mode="L"):
    for label in ("cat", "dog"):
        (folder / label).mkdir(parents=True)
        for number in range(5):
            size = sizes[number % len(sizes)]
            shape = size if mode == "L" else (*size, 3)
            pixels = RNG.integers(0, 256, shape, dtype=np.uint8)
            Image.fromarray(pixels).save(folder / label / f"{number}.png")
    return folder


class TestTables:
    @pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
    def test_files(self, suffix, tmp_path):
        data = source(table(tmp_path, suffix), cost_columns=("price_no", "price_yes")).load()
        assert data.labels == ("no", "yes") and data.is_table
        assert data.x_train.columns.names == ("age", "job", "member")
        sizes = {part: len(labels) for part, labels in data.y.items()}
        assert sizes == {"train": 36, "val": 12, "test": 12}
        assert np.isnan(data.x_train.rows[:, 0]).any()
        for part in data.x:
            # Rows stay together: the cost columns follow from the place of a row in the file.
            places = [
                np.flatnonzero((FRAME.price_no == no) & (FRAME.price_yes == yes))
                for no, yes in data.costs[part]
            ]
            for one, label in zip(places, data.y[part], strict=True):
                assert label in (FRAME["answer"][one] == "yes").astype(int).tolist()

    def test_numbers_for_networks_that_take_no_categories(self, tmp_path):
        own = source(table(tmp_path), drop=("id", "price_no", "price_yes"))
        algorithm = csdl.ALGORITHMS["csdnn"]
        data = own.suiting(algorithm).load()
        assert data.x_train.dtype == "float32" and data.x_train.min() >= 0
        assert data.x_train.max() <= 1 and np.isfinite(data.x_val).all()
        assert own.suiting(csdl.ALGORITHMS["cost_model"]) is own
        # Trained on these numbers, the saved model takes the rows of the file.
        network = csdl.models.mlp(data.x_train.shape[1:], 2, (3,), output="cost", seed=0)
        finished = own.suiting(algorithm).finished(network)
        finished.save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        decisions = csdl.decide(loaded, pandas.read_csv(own.path).iloc[:12])
        rows = own.load().x_test.rows
        np.testing.assert_allclose(
            loaded.predict(rows, verbose=0), network.predict(data.x_test, verbose=0), atol=1e-6
        )
        assert set(loaded.classes[decisions]) <= {"no", "yes"}

    def test_dialects(self, tmp_path):
        rows = "\n".join(f"{i},5; {'ja' if i % 2 else 'nein'}" for i in range(20))
        path = csv(tmp_path, f"\ufeffpreis;antwort\r\n{rows}".replace("; ", ";"))
        data = source(path, label_column="antwort", drop=()).load()
        assert data.labels == ("ja", "nein")
        assert set(data.x_train.rows[:, 0] % 1) == {0.5}
        assert "sep=';', decimal=','" in data.code

    def test_unnamed_columns_are_no_inputs(self, tmp_path):
        path = tmp_path / "table.csv"
        FRAME.to_csv(path)
        data = source(path).load()
        assert data.left_out == ("Unnamed: 0",)
        assert "Unnamed: 0" not in data.x_train.columns.names

    @pytest.mark.parametrize(
        "labels, expected, classes",
        [
            ([0, 1, 2], (0, 1, 2), None),
            ([1, 2, 10], (1, 2, 10), ["1", "2", "10"]),
            ([True, False], (False, True), [False, True]),
            (["b", "a"], ("a", "b"), ["a", "b"]),
        ],
    )
    def test_labels(self, labels, expected, classes, tmp_path):
        path = tmp_path / "table.csv"
        pandas.DataFrame({"x": range(30), "y": (labels * 30)[:30]}).to_csv(path, index=False)
        data = source(path, label_column="y", drop=()).load()
        assert data.labels == expected
        found = data.classes
        assert (found if found is None else found.tolist()) == classes

    def test_other_rows_of_another_seed(self, tmp_path):
        path = table(tmp_path)
        first, again, other = (source(path, seed=seed).load() for seed in (0, 0, 1))
        np.testing.assert_array_equal(first.x_test.rows, again.x_test.rows)
        assert not np.array_equal(first.x_test.rows, other.x_test.rows, equal_nan=True)

    def test_train_size(self, tmp_path):
        data = source(table(tmp_path), train_size=20).load()
        assert len(data.y_train_val) == 20 and len(data.y_test) == 12
        with pytest.raises(ValueError, match="--train-size of at most 48.*received 49"):
            source(table(tmp_path), train_size=49).load()


def test_split_keeps_shares_of_classes():
    labels = np.repeat([0, 1, 2], [200, 50, 3])
    parts = split(labels, seed=0)
    assert sorted(np.concatenate(parts)) == list(range(253))
    for part, share in zip(parts, SHARES, strict=True):
        counts = np.bincount(labels[part])
        assert counts.tolist() == [200 * share, 50 * share, 1]


class TestImages:
    def test_a_folder(self, tmp_path):
        data = OwnSource("pets", path=images(tmp_path / "pets")).load()
        assert data.labels == ("cat", "dog") and not data.is_table
        assert data.x_train.shape[1:] == (6, 4, 1)
        assert 0 <= data.x_train.min() < 0.2 and 0.8 < data.x_train.max() <= 1
        names = {}
        exec(f"import keras\n{data.code}", names)  # the printed lines
        assert names["x"].shape == (1, 6, 4, 1) and 0.8 < names["x"].max() <= 1

    def test_sizes_and_colours(self, tmp_path):
        folder = images(tmp_path / "pets", ((6, 4), (8, 8)), "RGB")
        with pytest.raises(ValueError, match="--image-size, .*2 sizes, such as 6x4 and 8x8"):
            OwnSource("pets", path=folder).load()
        data = OwnSource("pets", path=folder, image_size=(5, 7)).load()
        assert data.x_train.shape[1:] == (5, 7, 3)

    @pytest.mark.parametrize("largest, kind", [(255, np.uint8), (65535, np.uint16), (1, float)])
    def test_arrays(self, largest, kind, tmp_path):
        pixels = (RNG.random((30, 4, 4)) * largest).astype(kind)
        np.savez(tmp_path / "a.npz", images=pixels, answer=np.arange(30) % 3)
        data = source(tmp_path / "a.npz", drop=()).load()
        assert data.x_train.shape[1:] == (4, 4, 1) and 0.8 < data.x_train.max() <= 1
        names = {}
        exec(data.code, names)
        np.testing.assert_allclose(names["x"], pixels[:10, ..., None] / largest, rtol=1e-6)

    def test_rows_of_numbers(self, tmp_path):
        rows = RNG.normal(size=(30, 5))
        np.savez(tmp_path / "a.npz", x=rows, answer=np.arange(30) % 3)
        data = source(tmp_path / "a.npz", drop=()).load()
        assert data.is_table and data.x_train.shape == (18, 5)

    def test_what_is_no_image(self, tmp_path):
        folder = images(tmp_path / "pets")
        (folder / "cat" / "0.png").write_bytes(b"no image")
        with pytest.raises(ValueError, match="0.png to be an image"):
            OwnSource("pets", path=folder).load()
        (folder / "empty").mkdir()
        with pytest.raises(ValueError, match="Expected images in .*empty.*received none"):
            OwnSource("pets", path=folder).load()
        with pytest.raises(ValueError, match="a folder of images for each class.*5 files"):
            OwnSource("cat", path=folder / "cat").load()


HEAD = "x,answer\n"
GOOD = HEAD + "1,a\n2,b\n" * 3


@pytest.mark.parametrize(
    "content, told",
    [
        ("", "to hold a table; the file is empty"),
        (HEAD, "Expected rows in"),
        ("x,y\n1,a\n", "--label to name a column of .*'x', 'y'; received 'answer'"),
        ("x,Answer\n1,a\n", "Did you mean 'Answer'"),
        (GOOD.replace("b", "a"), "2 to 1000 labels in 'answer'; received only 'a'"),
        (GOOD + "3,c\n", r"3 examples of each label.*'c' \(1\)"),
        (GOOD + "3,\n4,NA\n", "a label in each row of 'answer'; received 2 rows.* row 7"),
        (HEAD + "".join(f"1,{i / 7}\n" for i in range(30)), "strings or whole numbers; received"),
        (HEAD + "".join(f"1,{i}\n" for i in range(1001)), "2 to 1000 labels.*1001 labels"),
        ("answer\na\nb\n", "Expected inputs besides"),
        (GOOD + "1,2,3,4\n", "to hold a table that pandas.read_csv reads"),
        (GOOD.encode("utf-16"), "UTF-8; received the byte"),
        ("x,answer\né,a\n".encode("latin-1"), "UTF-8; received the byte 0xe9 in line 2"),
    ],
)
def test_strange_tables(content, told, tmp_path):
    path = csv(tmp_path, content)
    with pytest.raises(ValueError, match=told):
        source(path, drop=()).load()


@pytest.mark.parametrize(
    "name, content, told",
    [
        ("a.npz", b"no archive", "to be an .npz file with arrays"),
        ("a.parquet", b"no parquet", "to hold a table that pandas.read_parquet reads"),
        ("a.npz", {"answer": np.array([{}, {}])}, "no Python objects"),
        ("a.npz", {"answer": np.arange(4), "x": np.ones((3, 2))}, "a row for each of the labels"),
        ("a.npz", {"answer": np.arange(4), "x": np.ones((4, 2)), "z": np.ones(4)}, "by --drop"),
        ("a.npz", {"answer": np.arange(4), "x": -np.ones((4, 2, 2))}, "values from -1.0 to -1.0"),
    ],
)
def test_strange_files(name, content, told, tmp_path):
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.savez(path, allow_pickle=True, **content)
    with pytest.raises(ValueError, match=told):
        source(path, drop=()).load()


@pytest.mark.parametrize(
    "choices, told",
    [
        ({"drop": ("age", "jobs")}, "--drop to name a column.*'jobs'. Did you mean 'job'"),
        ({"drop": ("answer",)}, "different columns; received 'answer' twice"),
        ({"cost_columns": ("price_no",)}, "a column for each label, no, yes; received 1"),
        ({"cost_columns": ("price_no", "job")}, "numbers in --cost-columns"),
        ({"cost_columns": ("price_no", "age")}, "finite"),
    ],
)
def test_strange_columns(choices, told, tmp_path):
    with pytest.raises(ValueError, match=told):
        source(table(tmp_path), **choices).load()


def test_labels_of_arrays_are_one_dimensional():
    with pytest.raises(ValueError, match="one value in each row"):
        read_labels("y", np.ones((4, 2)))


class TestCommand:
    """The command from a user's file to the printed lines that load the best model."""

    ARGUMENTS = "--label answer --drop id,price_no,price_yes --jobs 1 --epochs 1".split()

    def compare(self, tmp_path, path, *arguments):
        out = tmp_path / "run"
        return main(["compare", "--data", str(path), *arguments, "--out", str(out)]), out

    def test_table(self, tmp_path, capsys):
        costs = tmp_path / "costs.csv"
        costs.write_text(",yes,no\nyes,0,9\nno,2,0\n")
        status, out = self.compare(
            tmp_path,
            table(tmp_path),
            *self.ARGUMENTS,
            "--cost-matrix",
            str(costs),
            "--algorithms",
            "dnn_bayes,dnn_sosr",
        )
        printed = capsys.readouterr().out
        assert status == 0
        assert "36 training (60%), 12 validation (20%) and 12 test (20%)" in printed
        assert printed.index("decide yes") < printed.index("average cost")
        code = printed[printed.index("import keras") :]
        exec(code, {})
        decided = capsys.readouterr().out
        assert set(decided.replace("[", "").replace("]", "").replace("'", "").split()) <= {
            "no",
            "yes",
        }
        assert {path.name for path in out.iterdir()} == {
            "best_model.keras",
            "costs.png",
            "results.csv",
            "run.json",
        }
        row = pandas.read_csv(out / "results.csv").set_index("algorithm").loc["dnn_bayes"]
        assert row["dataset"] == "table" and row["train_size"] == 48

    def test_own_costs_of_examples(self, tmp_path, capsys):
        status, out = self.compare(
            tmp_path,
            table(tmp_path, ".parquet"),
            "--label",
            "answer",
            "--drop",
            "id",
            "--jobs",
            "1",
            "--epochs",
            "1",
            "--cost-columns",
            "price_no,price_yes",
            "--algorithms",
            "dnn_sosr",
        )
        assert status == 0 and "Mean cost of each decision" in capsys.readouterr().out
        (row,) = pandas.read_csv(out / "results.csv").to_dict("records")
        model = keras.saving.load_model(out / "best_model.keras")
        data = source(table(tmp_path, ".parquet"), cost_columns=("price_no", "price_yes")).load()
        paid = data.costs["test"][np.arange(12), csdl.decide(model, data.x_test.rows)]
        assert row["average_cost"] == pytest.approx(paid.mean(), abs=1e-6)

    def test_defaults_leave_out_what_does_not_fit(self, tmp_path, monkeypatch, capsys):
        monkeypatch.setattr(csdl.Trainer, "train_all", lambda *_, **__: iter(()))
        costs = tmp_path / "costs.csv"
        costs.write_text(",no,yes,ask\nno,0,3,1\nyes,9,0,1\n")
        self.compare(tmp_path, table(tmp_path), *self.ARGUMENTS, "--cost-matrix", str(costs))
        (line,) = [it for it in capsys.readouterr().out.splitlines() if it.startswith("Left out")]
        assert "cnn_blind, cnn_bayes, cnn_sosr" in line and "dnn_sosr" in line
        assert "cost_model" not in line and "dnn_bayes" not in line

    @pytest.mark.parametrize(
        "arguments, told",
        [
            (["--algorithms", "cnn_bayes"], "Expected images for 'cnn_bayes'"),
            (["--algorithms", "csosr"], "keeps neither columns nor the names of labels"),
            (["--label", "anwser"], "Did you mean 'answer'?"),
        ],
    )
    def test_refusals_come_before_training(self, arguments, told, tmp_path, monkeypatch, capsys):
        monkeypatch.setattr(csdl.Trainer, "train_all", None)
        status, out = self.compare(tmp_path, table(tmp_path), *self.ARGUMENTS, *arguments)
        assert status == 2 and told in capsys.readouterr().err and not out.exists()

    @pytest.mark.parametrize("costs", [["--cost-columns", "price_no,price_yes"], ["--drop", "id"]])
    def test_tune(self, costs, tmp_path, capsys):
        out = tmp_path / "search"
        arguments = ["tune", "--data", str(table(tmp_path)), "--label", "answer", "--out", str(out)]
        arguments += "--max-trials 1 --epochs 1 --pretraining-epochs 1 --depth 1 --units 4".split()
        assert main([*arguments, *costs]) == 0
        printed = capsys.readouterr().out
        exec(printed[printed.index("import keras") :], {})
        assert "yes" in (decided := capsys.readouterr().out) or "no" in decided
        assert pathlib.Path(out / "trials.csv").exists()
