"""Data of users: what is read from tables, arrays and folders of images, and how it is split."""

import keras
import numpy as np
import pandas
import pytest

import csdl_keras as csdl
from csdl_keras.experiments.own_data import OwnSource
from csdl_keras.experiments.own_labels import split
from csdl_keras_cli.choices import SHARES
from tests.experiments.own_tables import FRAME, RNG, csv, images, source, table


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
            (["02", "01", "10"], ("01", "02", "10"), ["01", "02", "10"]),
            (["true", "false"], ("false", "true"), ["false", "true"]),
            ([2**60, 2**60 + 1], (2**60, 2**60 + 1), [str(2**60), str(2**60 + 1)]),
            ([2.0, 1.0], ("1.0", "2.0"), ["1.0", "2.0"]),
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
        exec(data.code, names)  # the printed lines
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
