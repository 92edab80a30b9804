"""The builder of bg-img-rot, on its dummy data and on a small archive of the public form."""

import hashlib
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from csdl_keras.datasets import DataUnavailableError, load
from tests.datasets.helpers import labels

tfds = pytest.importorskip("tensorflow_datasets")
pytest.importorskip("dill", reason="the test case of TFDS needs it")
from csdl_keras.datasets.bg_img_rot import bg_img_rot_dataset_builder as module  # noqa: E402

MEMBERS = {
    name: f"mnist_all_background_images_rotation_normalized_{name}.amat"
    for name in ("train_valid", "test")
}
MANUAL = Path("downloads", "manual", module.ARCHIVE)
DUMMY = Path(module.__file__).parent / "dummy_data" / module.ARCHIVE
# Dummy and small archives have other digests than the real one.
pytestmark = pytest.mark.filterwarnings("ignore:The SHA-1 of")


class TestBuilder(tfds.testing.DatasetBuilderTestCase):
    DATASET_CLASS = module.Builder
    SPLITS = {"train": 3, "validation": 2000, "test": 2}
    DL_DOWNLOAD_RESULT = module.ARCHIVE
    SKIP_CHECKSUMS = True  # Nobody publishes an SHA-256; the builder compares the SHA-1 itself.


def rows(number, seed, digits):
    """Rows of a file: images all of whose pixels are `digits` decimals long, and labels."""
    rng = np.random.default_rng(seed)
    pixels = np.zeros((number, 784))
    # Few that are not zero, so that 2,000 rows are quick to write and read.
    pixels[:, :40] = rng.integers(0, 10**digits + 1, (number, 40)) / 10**digits
    pixels[0] = rng.random(784)
    return pixels, rng.integers(0, 10, number)


def write(path, pixels, y):
    """An archive whose files have pixels and labels, separated by blanks."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, member in MEMBERS.items():
            lines = [
                " ".join([*(f"{value:.17g}" for value in image), f"{label:.6e}"])
                for image, label in zip(pixels[name], y[name], strict=True)
            ]
            archive.writestr(member, "   " + "\n   ".join(lines) + "\n")
    return path


@pytest.fixture
def offline(monkeypatch):
    monkeypatch.setattr("csdl_keras.datasets.tfds_images._online", lambda: False)


class TestArchive:
    def test_values_labels_order_and_splits(self, tmp_path):
        files = {"train_valid": rows(2005, 0, 5), "test": rows(4, 1, 5)}
        pixels, y = ({name: file[part] for name, file in files.items()} for part in (0, 1))
        path = write(tmp_path / MANUAL, pixels, y)
        data = load("bg_img_rot", data_dir=tmp_path)
        assert (data.name, data.num_classes, data.input_shape) == ("bg_img_rot", 10, (28, 28, 1))
        assert len(data.y_val) == 2000
        for name, splits in (("train_valid", ("train", "val")), ("test", ("test",))):
            x = np.concatenate([getattr(data, f"x_{split}") for split in splits])
            assert x.dtype == np.float32
            expected = pixels[name].astype("float32").reshape(-1, 28, 28, 1)
            np.testing.assert_array_equal(x, expected)
            found = np.concatenate([labels(data, split) for split in splits])
            np.testing.assert_array_equal(found, y[name])
        (metadata,) = tmp_path.glob("bg_img_rot/*/metadata.json")
        assert json.loads(metadata.read_text()) == {
            "archive_sha1": hashlib.sha1(path.read_bytes()).hexdigest(),
            "archive_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }

    def test_without_an_archive_it_is_downloaded(self, tmp_path, monkeypatch):
        urls = []
        monkeypatch.setattr("csdl_keras.datasets.tfds_images._online", lambda: True)
        monkeypatch.setattr(
            tfds.download.DownloadManager, "download", lambda self, url: urls.append(url) or DUMMY
        )
        data = load("bg_img_rot", data_dir=tmp_path)
        assert (data.y_train.tolist(), data.y_test.tolist()) == ([0, 1, 2], [4, 5])
        assert urls == [module.URL]

    def test_nothing_there(self, tmp_path, offline):
        with pytest.raises(DataUnavailableError) as caught:
            load("bg_img_rot", data_dir=tmp_path)
        message = str(caught.value)
        names = (module.ARCHIVE, module.URL, "TFDS_DATA_DIR", "'bg_img_rot_synthetic'")
        for part in (*names, str((tmp_path / MANUAL).parent), "offline"):
            assert part in message

    @pytest.mark.parametrize(
        "number,change,match",
        [
            (2000, lambda x: x, "No examples were yielded"),
            (2001, lambda x: x + 0.5, r"the images of 'bg_img_rot' to lie in \[0, 1\]"),
        ],
        ids=["few", "range"],
    )
    def test_archives_of_another_form(self, tmp_path, offline, number, change, match):
        pixels, y = rows(number, 0, 2)
        pixels = {"train_valid": change(pixels), "test": pixels[:1]}
        write(tmp_path / MANUAL, pixels, {"train_valid": y, "test": y[:1]})
        with pytest.raises(ValueError, match=match):
            load("bg_img_rot", data_dir=tmp_path)


def test_files_beside_the_builder_are_packaged():
    """TFDS reads them where the package is installed."""
    metadata = module.Builder.get_metadata()
    assert metadata.description.startswith("MNIST digits, rotated")
    assert "Larochelle, Hugo" in metadata.citation
    assert "ml.task.image-classification" in metadata.tags
    assert module.Builder.url_infos == {}  # no digest that nobody has checked
