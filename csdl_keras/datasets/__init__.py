"""Image-classification data, split into training, validation and test."""

from csdl_keras._utils.streams import Parquet
from csdl_keras.datasets.bg_img_rot_synthetic import bg_img_rot_synthetic
from csdl_keras.datasets.data_set import DataSet
from csdl_keras.datasets.embedded import EMBEDDED
from csdl_keras.datasets.load import load
from csdl_keras.datasets.tfds_images import DataUnavailableError
from csdl_keras.datasets.variants import grayscale, imbalance, subset
from csdl_keras_cli.splits import split

__all__ = [
    "DataSet",
    "DataUnavailableError",
    "EMBEDDED",
    "Parquet",
    "bg_img_rot_synthetic",
    "grayscale",
    "imbalance",
    "load",
    "split",
    "subset",
]
