"""Photographs included in Python packages, so that no download is needed."""

import numpy as np

from csdl_keras._utils.optional import optional_module
from csdl_keras.datasets.variants import luma

#: Photographs in scikit-image's wheels; its other pictures are downloaded or not photographs.
_SCIKIT_IMAGE_NAMES = (
    "astronaut",
    "brick",
    "camera",
    "chelsea",
    "clock",
    "coffee",
    "coins",
    "grass",
    "gravel",
    "moon",
    "rocket",
    "stereo_motorcycle",
)


def photographs() -> list[np.ndarray]:
    """Loads the 14 photographs included in scikit-image and scikit-learn, in gray.

    Returns:
        Float32 arrays `(height, width)` in [0, 1], with sides of at least 300 pixels,
        always in the same order.

    Raises:
        ModuleNotFoundError: if a package is missing, with the command to install it.

    Example:

    >>> len(photographs()), photographs()[0].shape
    (14, (512, 512))
    """
    from sklearn.datasets import load_sample_images  # slow to import

    library = optional_module("skimage.data", "compare")
    pictures = [getattr(library, name)() for name in _SCIKIT_IMAGE_NAMES]
    # A stereo pair is a tuple of two pictures and their disparity; the left picture serves.
    pictures = [entry[0] if isinstance(entry, tuple) else entry for entry in pictures]
    pictures += load_sample_images().images
    scaled = [picture.astype("float32") / np.float32(255) for picture in pictures]
    return [luma(picture)[..., 0] if picture.ndim == 3 else picture for picture in scaled]
