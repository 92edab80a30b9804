"""Loads image-classification sets of TensorFlow Datasets (TFDS)."""

import os
import socket
import types
import urllib.request
from typing import Any

import numpy as np

from csdl_keras._utils.arrays import check_range
from csdl_keras.datasets.data_set import DataSet
from csdl_keras.datasets.embedded import EMBEDDED
from csdl_keras_cli.did_you_mean import did_you_mean
from csdl_keras_cli.optional import optional_module


class DataUnavailableError(ValueError):
    """Raised if the files of a known data set are missing and cannot be downloaded."""


def load_tfds(name: str, data_dir: str | os.PathLike | None = None) -> DataSet:
    """Loads a TFDS set, `"svhn"` or `"bg_img_rot"` into memory, as `load` describes."""
    tfds = optional_module("tensorflow_datasets")
    builder = _prepared_builder(tfds, name, data_dir)
    image_key, label_key = _supervised_keys(tfds, builder.info)
    num_classes = builder.info.features[label_key].num_classes

    def read(split: str) -> tuple[np.ndarray, np.ndarray]:
        # Files are read in order, so that the order of examples never changes.
        examples = list(tfds.as_numpy(builder.as_dataset(split=split, shuffle_files=False)))
        images = np.stack([example[image_key] for example in examples])
        return images, np.array([example[label_key] for example in examples], dtype="int64")

    splits = set(builder.info.splits)
    train = read("train")
    others = [read(split) for split in ("test", "validation") if split in splits]
    if not others:
        train, *others = _last_sixth(*train)
    if len(others) < 2:
        train, validation = _last_sixth(*train)
        others.append(validation)
    (x_train, y_train), (x_test, y_test), (x_val, y_val) = train, *others
    x_train, x_val, x_test = (_scaled(name, x) for x in (x_train, x_val, x_test))
    return DataSet(name, num_classes, x_train, y_train, x_val, y_val, x_test, y_test)


def _prepared_builder(tfds: types.ModuleType, name: str, data_dir: str | os.PathLike | None) -> Any:
    """Returns the TFDS builder of that name, and prepares its files."""
    if name.partition(":")[0] == "bg_img_rot":
        # The import registers the builder with TFDS.
        from csdl_keras.datasets.bg_img_rot import bg_img_rot_dataset_builder  # noqa: F401
    known = "svhn_cropped" if name == "svhn" else name
    try:
        builder = tfds.builder(known, data_dir=data_dir)
    except (tfds.core.DatasetNotFoundError, ValueError) as error:
        names = [*EMBEDDED, "bg_img_rot", "bg_img_rot_synthetic", "cifar10", "mnist", "svhn"]
        raise ValueError(
            f"{name!r} is not in {names}, and TFDS cannot find it: {str(error).splitlines()[0]}"
            f"{did_you_mean(name, names)}"
        ) from error
    archive = getattr(builder, "manual_archive", None)
    reason = "this machine is offline"
    try:
        # Offline, TFDS would retry each file for minutes before giving up.
        if builder.is_prepared() or (archive and archive.exists()) or _online():
            builder.download_and_prepare()
            return builder
    except Exception as error:  # The network, the server and archives raise errors of any type.
        reason = f"{type(error).__name__}: {str(error)[:300]}"
    advice = (
        f'Prepare the data where there is a network (python -c "import tensorflow_datasets as '
        f"tfds; tfds.load('{known}')\"), copy the folder, and point data_dir= or the environment "
        "variable TFDS_DATA_DIR at it."
    )
    if archive:
        advice = (
            f"{builder.MANUAL_DOWNLOAD_INSTRUCTIONS} This is {archive.parent}, below data_dir= or "
            "the environment variable TFDS_DATA_DIR. The data set 'bg_img_rot_synthetic' is a "
            "substitute, made from MNIST."
        )
    raise DataUnavailableError(
        f"{name!r} is not prepared in {builder.data_dir}, and preparing it failed: {reason}. "
        f"{advice}"
    )


def _online() -> bool:
    """Returns whether host names resolve, or a proxy would resolve them."""
    if urllib.request.getproxies():
        return True
    try:
        socket.getaddrinfo("www.tensorflow.org", 443)
    except OSError:
        return False
    return True


def _supervised_keys(tfds: types.ModuleType, info: Any) -> tuple[str, str]:
    """Returns the keys of image and label in the examples of a data set."""
    keys, features = info.supervised_keys, info.features
    kinds = [features[key] for key in keys or () if isinstance(key, str)]
    image: Any
    image, label = kinds if len(kinds) == 2 else (None, None)
    of_images = isinstance(image, (tfds.features.Image, tfds.features.Tensor))
    if not of_images or len(image.shape) != 3 or not isinstance(label, tfds.features.ClassLabel):
        raise ValueError(
            f"{info.name!r} does not consist of images with one class label each; its features "
            f"are {list(features)}."
        )
    return keys


def _scaled(name: str, images: np.ndarray) -> np.ndarray:
    """Returns float32 images in [0, 1]; 1 is the largest value of an unsigned type."""
    if images.dtype.kind == "u":
        # One step converts and divides, since the images of SVHN occupy more than a gigabyte.
        largest = np.float32(np.iinfo(images.dtype).max)
        return np.divide(images, largest, dtype="float32", casting="unsafe")
    check_range(f"the images of {name!r}", images, 0, 1, hint=" Scale them and create a DataSet.")
    return images.astype("float32", copy=False)


def _last_sixth(x: np.ndarray, y: np.ndarray) -> tuple[tuple, tuple]:
    """Splits off the last sixth of a shuffle with seed 0."""
    order = np.random.default_rng(0).permutation(len(y))
    cut = len(y) - len(y) // 6
    return (x[order[:cut]], y[order[:cut]]), (x[order[cut:]], y[order[cut:]])
