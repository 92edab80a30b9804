"""TFDS sets: three real ones with mocked files, and tiny ones that the tests prepare."""

import numpy as np
import pytest

from csdl_keras.datasets import DataUnavailableError, load
from tests.datasets.helpers import labels, share_images

tfds = pytest.importorskip("tensorflow_datasets")


# Types of pixels, and the divisor that gives the files' pixels from images of 0 to 255.
PIXELS = {
    "image_uint16": (np.uint16, 1 / 257),
    "float64": (np.float64, 255),
    "bool": (np.bool_, 255),
    "of_255": (np.float32, 1),
    "negative": (np.float32, -255),
    "nan": (np.float32, np.nan),
}


class TinyImages(tfds.core.GeneratorBasedBuilder):
    """Images whose first pixel numbers them; configs differ in splits and features."""

    VERSION = tfds.core.Version("1.0.0")
    SIZES = {
        "all_splits": {"train": 12, "validation": 5, "test": 4},
        "no_test": {"train": 12, "validation": 5},
        "no_validation": {"train": 12, "test": 4},
        "train_only": {"train": 36},
        "test_only": {"test": 4},
        "sizes": {"train": 6},
        "no_labels": {"train": 6},
        **{name: {"train": 20, "validation": 8, "test": 8} for name in PIXELS},
    }
    BUILDER_CONFIGS = [tfds.core.BuilderConfig(name=name) for name in SIZES]

    def _info(self):
        name = self.builder_config.name
        dtype, _ = PIXELS.get(name, (np.uint8, 1))
        kind = tfds.features.Tensor
        if name not in PIXELS or name.startswith("image"):
            kind = tfds.features.Image
        side = None if name == "sizes" else 4
        label = tfds.features.ClassLabel(num_classes=3)
        if name == "no_labels":
            label = tfds.features.Scalar(np.int64)
        picture = kind(shape=(side, side, 1), dtype=dtype)
        return self.dataset_info_from_configs(
            features=tfds.features.FeaturesDict({"picture": picture, "kind": label}),
            supervised_keys=("picture", "kind"),
        )

    def _split_generators(self, dl_manager):
        generators, start = {}, 0
        for split, size in self.SIZES[self.builder_config.name].items():
            generators[split] = self._generate_examples(start, size)
            start += size
        return generators

    def _generate_examples(self, start, size):
        name = self.builder_config.name
        dtype, divisor = PIXELS.get(name, (np.uint8, 1))
        for number in range(start, start + size):
            side = 4 + number % 2 if name == "sizes" else 4
            image = np.full((side, side, 1), 255)
            image[0, 0] = number
            yield number, {"picture": (image / divisor).astype(dtype), "kind": number % 3}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A data folder in which every config is prepared."""
    path = tmp_path_factory.mktemp("tfds")
    for config in TinyImages.SIZES:
        TinyImages(config=config, data_dir=path).download_and_prepare()
    return path


def numbers(data, split):
    """The numbers of a split's images, with a check that images and labels belong together."""
    x = getattr(data, f"x_{split}")
    found = np.rint(255 * x[:, 0, 0, 0]).astype(int)
    np.testing.assert_array_equal(labels(data, split), found % 3)
    np.testing.assert_array_equal(x[:, 1:], 1.0)
    return found.tolist()


class TestSplits:
    def test_all_splits(self, folder):
        data = load("tiny_images/all_splits", data_dir=folder)
        assert (data.name, data.num_classes) == ("tiny_images/all_splits", 3)
        for split, first, last in (("train", 0, 12), ("val", 12, 17), ("test", 17, 21)):
            assert sorted(numbers(data, split)) == list(range(first, last))

    @pytest.mark.parametrize("config,size", [("no_test", 5), ("no_validation", 4)])
    def test_one_split_is_missing(self, folder, config, size):
        """A sixth of training is for validation; without a test, validation is the test."""
        data = load(f"tiny_images/{config}", data_dir=folder)
        assert sorted(numbers(data, "test")) == list(range(12, 12 + size))
        assert len(numbers(data, "val")) == 2
        assert sorted(numbers(data, "train") + numbers(data, "val")) == list(range(12))

    def test_without_either_a_sixth_is_taken_twice(self, folder):
        """Always by the shuffles in the documentation."""
        builder = tfds.builder("tiny_images/train_only", data_dir=folder)
        stored = [int(e["picture"][0, 0, 0]) for e in tfds.as_numpy(builder.as_dataset("train"))]
        shuffled = np.array(stored)[np.random.default_rng(0).permutation(36)]
        rest = shuffled[:30][np.random.default_rng(0).permutation(30)]
        data = load("tiny_images/train_only", data_dir=folder)
        assert numbers(data, "test") == shuffled[30:].tolist()
        assert numbers(data, "train") == rest[:25].tolist()
        assert numbers(data, "val") == rest[25:].tolist()
        assert not share_images(data)

    @pytest.mark.parametrize("config", ["image_uint16", "float64", "bool"])
    def test_every_type_of_pixels_becomes_0_to_1(self, folder, config):
        data = load(f"tiny_images/{config}", data_dir=folder)
        for split, first, size in (("train", 0, 20), ("val", 20, 8), ("test", 28, 8)):
            images = getattr(data, f"x_{split}")
            assert images.dtype == np.float32 and images.shape == (size, 4, 4, 1)
            assert 0 <= images.min() and images.max() <= 1
            expected = np.ones((size, 4, 4, 1))
            expected[:, 0, 0, 0] = np.arange(first, first + size) / 255
            if config == "bool":
                expected = np.ceil(expected)
            order = np.argsort(images[:, 0, 0, 0])
            np.testing.assert_allclose(images[order], expected, atol=1e-3)

    @pytest.mark.parametrize(
        "config,match",
        [
            ("test_only", "Unknown split 'train'. Should be one of .'test'."),
            ("sizes", "all input arrays must have the same shape"),
            ("no_labels", "images with one class label each; .*'picture', 'kind'"),
            ("of_255", r"the images of .* to lie in \[0, 1\]; .* to 255. Scale them"),
            ("negative", r"the images of .* to lie in \[0, 1\]; .*Scale them"),
            ("nan", r"the images of .* to lie in \[0, 1\]; .*Scale them"),
        ],
    )
    def test_sets_that_do_not_fit(self, folder, config, match):
        with pytest.raises(ValueError, match=match):
            load(f"tiny_images/{config}", data_dir=folder)


class TestNames:
    def test_svhn(self, tmp_path):
        builder = tfds.builder("svhn_cropped", data_dir=tmp_path)
        kind = {"dataset_name": "svhn_cropped", "filetype_suffix": "tfrecord"}
        splits = []
        for name in ("train", "test", "extra"):
            place = tfds.core.ShardedFileTemplate(data_dir=builder.data_dir, split=name, **kind)
            size = {"shard_lengths": [12], "num_bytes": 0}
            splits.append(tfds.core.SplitInfo(name=name, filename_template=place, **size))
        builder.info.set_splits(tfds.core.splits.SplitDict(splits))
        builder.data_path.mkdir(parents=True)
        builder.info.write_to_directory(builder.data_dir)
        with tfds.testing.mock_data(num_examples=12, data_dir=tmp_path):
            data = load("svhn")
        assert (data.name, data.num_classes, data.input_shape) == ("svhn", 10, (32, 32, 3))
        assert (len(data.y_train), len(data.y_val), len(data.y_test)) == (10, 2, 12)
        assert 0.0 <= data.x_test.min() < 0.1 < 0.9 < data.x_test.max() <= 1.0

    def test_unknown_names(self, tmp_path):
        with pytest.raises(ValueError) as caught:
            load("mnits", data_dir=tmp_path)
        assert not isinstance(caught.value, DataUnavailableError)
        names = ("digits", "mnist_5k", "mnist", "bg_img_rot", "bg_img_rot_synthetic")
        for name in ("mnits", *names, "svhn", "cifar10"):
            assert repr(name) in str(caught.value)

    @pytest.mark.parametrize(
        "name,known,online",
        [("svhn", "svhn_cropped", True), ("bg_img_rot_synthetic", "mnist", False)],
    )
    def test_files_that_cannot_be_fetched(self, tmp_path, monkeypatch, name, known, online):
        def fail(self, *args, **kwargs):
            raise ConnectionError("no route to host")

        monkeypatch.setattr("csdl_keras.datasets.tfds_images._online", lambda: online)
        monkeypatch.setattr(tfds.core.DatasetBuilder, "download_and_prepare", fail)
        with pytest.raises(DataUnavailableError) as caught:
            load(name, data_dir=tmp_path)
        message = str(caught.value)
        for part in (str(tmp_path / known), f"load('{known}')", "TFDS_DATA_DIR"):
            assert part in message
        assert ("no route to host" in message) == online
