"""Image-classification sets of TensorFlow Datasets."""

import importlib
import os
import socket
import urllib.request
from typing import Any

import numpy as np

from csdl_keras._utils.optional import optional_module
from csdl_keras.datasets.data_set import DataSet
from csdl_keras.datasets.embedded import EMBEDDED

#: Shorter names of TFDS sets.
_ALIASES = {"svhn": "svhn_cropped"}
_BUILDER = "csdl_keras.datasets.bg_img_rot.bg_img_rot_dataset_builder"


class DataUnavailableError(ValueError):
    """A known data set whose files are not there and cannot be fetched."""


def load_tfds(name: str, data_dir: str | os.PathLike | None = None) -> DataSet:
    """Loads a TFDS set into memory, with splits.

    Its own `train`, `validation` and `test` where it has them. Without a test
    split, its validation split is the test set; without either, the last sixth
    of a shuffle of `train` is. Validation is then the last sixth of a shuffle
    of what remains (`numpy.random.default_rng(0).permutation`). Images are divided
    by what stands for 1 in all splits alike: 255 for `uint8`, 65,535 for `uint16`, 1
    for `bool`, and for other types 1, 255 or 65,535, the lowest that no value exceeds.

    Args:
        name: a TFDS name, with `"/config"` and `":version"` if wanted; `"svhn"`
            is `"svhn_cropped"`, and `"bg_img_rot"` is known as well.
        data_dir: folder of the data; `None` is TFDS' own choice, the variable
            `TFDS_DATA_DIR` or `~/tensorflow_datasets`.

    Returns:
        A `DataSet`.

    Raises:
        ValueError: if TFDS does not know the name, or it holds no labelled
            images of one size and of values that can be told.
        DataUnavailableError: if the files are missing and cannot be downloaded.
    """
    tfds = optional_module("tensorflow_datasets")
    builder = _prepared_builder(tfds, name, data_dir)
    image_key, label_key = _supervised_keys(tfds, builder.info)
    num_classes = builder.info.features[label_key].num_classes

    def read(split: str) -> tuple[np.ndarray, np.ndarray]:
        # Files are read in order and not shuffled: the same examples every time.
        examples = list(tfds.as_numpy(builder.as_dataset(split=split, shuffle_files=False)))
        images = [example[image_key] for example in examples]  # their own type: small
        sizes = {image.shape for image in images}
        if len(sizes) != 1:
            raise ValueError(
                f"Expected images of one size; {name!r} has {len(sizes)} sizes in its split "
                f"{split!r}, such as {sorted(sizes)[:2]}. Load and resize it yourself."
            )
        labels = np.array([example[label_key] for example in examples], dtype="int64")
        return np.stack(images), labels

    splits = set(builder.info.splits)
    if "train" not in splits:
        raise ValueError(f"Expected a split 'train'; {name!r} has {sorted(splits)}.")
    train = read("train")
    if "test" in splits:
        test = read("test")
    elif "validation" in splits:
        test = read("validation")
    else:
        train, test = _last_sixth(*train)
    if {"test", "validation"} <= splits:
        validation = read("validation")
    else:
        train, validation = _last_sixth(*train)
    (x_train, y_train), (x_val, y_val), (x_test, y_test) = train, validation, test
    largest = _largest_pixel(name, x_train, x_val, x_test)
    x_train, x_val, x_test = (_scaled(x, largest) for x in (x_train, x_val, x_test))
    return DataSet(name, num_classes, x_train, y_train, x_val, y_val, x_test, y_test)


def _prepared_builder(tfds: Any, name: str, data_dir: str | os.PathLike | None) -> Any:
    if name.partition(":")[0] == "bg_img_rot":
        importlib.import_module(_BUILDER)  # which makes it known to TFDS
    known = _ALIASES.get(name, name)
    try:
        builder = tfds.builder(known, data_dir=data_dir)
    except (tfds.core.DatasetNotFoundError, ValueError) as error:
        names = sorted(
            [*EMBEDDED, "bg_img_rot", "bg_img_rot_synthetic", "cifar10", "mnist", "svhn"]
        )
        raise ValueError(
            f"Expected one of {names} or another image-classification set of TensorFlow "
            f"Datasets; received {name!r}. TFDS says: {str(error).splitlines()[0]}"
        ) from error
    archive = getattr(builder, "manual_archive", None)
    reason = "this machine is offline"
    try:
        # Offline, TFDS would try each file for minutes before it gave up.
        if builder.is_prepared() or (archive and archive.exists()) or _online():
            builder.download_and_prepare()
            return builder
    except Exception as error:  # whatever the network, the server or an archive raises
        reason = f"{type(error).__name__}: {str(error)[:300]}"
    message = (
        f"Expected the prepared files of {name!r} in {builder.data_dir}, and preparing them "
        f"failed ({reason}). "
    )
    if archive:
        raise DataUnavailableError(
            f"{message}{builder.MANUAL_DOWNLOAD_INSTRUCTIONS} It is {archive.parent}, below "
            "data_dir= or the environment variable TFDS_DATA_DIR. The data set "
            "'bg_img_rot_synthetic' is a substitute, made from MNIST."
        )
    raise DataUnavailableError(
        f"{message}Prepare the data where there is a network (python -c "
        f"\"import tensorflow_datasets as tfds; tfds.load('{known}')\"), copy the folder, and "
        "point data_dir= or the environment variable TFDS_DATA_DIR at it."
    )


def _online() -> bool:
    """Whether names resolve, or a proxy would resolve them."""
    if urllib.request.getproxies():
        return True
    try:
        socket.getaddrinfo("www.tensorflow.org", 443)
    except OSError:
        return False
    return True


def _supervised_keys(tfds: Any, info: Any) -> tuple[str, str]:
    """The names of image and label in the examples of a data set."""
    keys = info.supervised_keys
    features = info.features
    if (
        keys is None
        or len(keys) != 2
        or not all(isinstance(key, str) for key in keys)
        or not isinstance(features[keys[0]], (tfds.features.Image, tfds.features.Tensor))
        or len(features[keys[0]].shape) != 3
        or not isinstance(features[keys[1]], tfds.features.ClassLabel)
    ):
        raise ValueError(
            "Expected a data set of images with one class label each; "
            f"{info.name!r} has the features {list(features)}."
        )
    return keys


def _largest_pixel(name: str, *splits: np.ndarray) -> float:
    """Finds the value that stands for 1 in the images of all splits.

    Types of pixels tell, `uint8` and `uint16` and `bool`; of others, which may hold
    anything, the lowest of 1, 255 and 65,535 that no value exceeds.
    """
    dtype = splits[0].dtype
    if dtype.kind == "b":
        return 1.0
    if dtype in (np.uint8, np.uint16):
        return float(np.iinfo(dtype).max)
    lowest = min(float(images.min()) for images in splits)
    highest = max(float(images.max()) for images in splits)
    for largest in (1.0, 255.0, 65_535.0):
        if lowest >= 0 and highest <= largest * (1 + 1e-6):  # a rounded 1 is no 1 of 255
            return largest
    raise ValueError(
        "Expected images whose values lie in [0, 1], [0, 255] or [0, 65535]; those of "
        f"{name!r} lie from {lowest:g} to {highest:g}. Load and scale it yourself."
    )


def _scaled(images: np.ndarray, largest: float) -> np.ndarray:
    """Float32 images in [0, 1]; a copy only where there is something to change."""
    if largest == 1:
        images = images.astype("float32", copy=False)
        return images if images.max() <= 1 else np.minimum(images, np.float32(1))
    # In one step: the images of SVHN alone are more than a gigabyte.
    scaled = np.divide(images, np.float32(largest), dtype="float32", casting="unsafe")
    return np.minimum(scaled, np.float32(1), out=scaled)


def _last_sixth(x: np.ndarray, y: np.ndarray) -> tuple[tuple, tuple]:
    """Splits off the last sixth of a shuffle with seed 0."""
    order = np.random.default_rng(0).permutation(len(y))
    cut = len(y) - len(y) // 6
    return (x[order[:cut]], y[order[:cut]]), (x[order[cut:]], y[order[cut:]])
