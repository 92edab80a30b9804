"""Photographs that Python packages ship, so that they need no download."""

import numpy as np

from csdl_keras._utils.optional import optional_module
from csdl_keras.datasets.variants import luma

#: Those in the wheels of scikit-image; its other pictures are downloaded or no photographs.
_OF_SCIKIT_IMAGE = (
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
    """The 14 photographs that scikit-image and scikit-learn ship, gray.

    Returns:
        Float32 arrays `(height, width)` in [0, 1], of 300 to 640 pixels a side
        and more, always in the same order.

    Raises:
        ModuleNotFoundError: if a package is missing, with the command to install it.

    Example:

    >>> len(photographs()), photographs()[0].shape
    (14, (512, 512))
    """
    library = optional_module("skimage.data", "compare")
    pictures = [getattr(library, name)() for name in _OF_SCIKIT_IMAGE]
    # A stereo pair comes with the distances; its left picture is one of ours.
    pictures = [entry[0] if isinstance(entry, tuple) else entry for entry in pictures]
    pictures += optional_module("sklearn.datasets", "compare").load_sample_images().images
    scaled = [picture.astype("float32") / np.float32(255) for picture in pictures]
    return [luma(picture)[..., 0] if picture.ndim == 3 else picture for picture in scaled]
