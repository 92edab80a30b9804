"""Images in a folder with a folder for each class."""

import pathlib

import keras
import numpy as np

from csdl_keras._utils.optional import optional_module

_SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp")
_MOST_BYTES = 8 * 2**30


def read_images(
    folder: pathlib.Path, size: tuple[int, int] | None = None
) -> tuple[np.ndarray, list[str], str]:
    """Reads images and the names of the folders that they are in.

    Images are gray if all of them are, or else RGB.

    Args:
        folder: the folder; folders in it are classes.
        size: height and width that images are scaled to; `None` (default) is their own size.

    Returns:
        float32 images `(N, height, width, channels)` in [0, 1], labels, and Python that reads
        one of the files as an array of that kind.

    Raises:
        ValueError: if there are no folders, a folder without images, a file that is no image, or
            images of several sizes without `size`.
    """
    files = _files(folder)
    sizes, gray = set(), True
    pillow = optional_module("PIL.Image", "compare")
    for path in files:
        try:
            with pillow.open(path) as image:
                sizes.add((image.height, image.width))
                gray &= image.mode in ("1", "L") or image.mode.startswith("I;16")
        except OSError as error:
            raise ValueError(f"Expected {path} to be an image; {error}.") from error
    if size is None and len(sizes) > 1:
        raise ValueError(
            f"Expected --image-size, since the images in {folder} have {len(sizes)} sizes, such as "
            f"{' and '.join(f'{height}x{width}' for height, width in sorted(sizes)[:2])}."
        )
    size = size or sizes.pop()
    channels = 1 if gray else 3
    if len(files) * size[0] * size[1] * channels * 4 > _MOST_BYTES:
        raise ValueError(
            f"Expected images that fit into {_MOST_BYTES / 2**30:.0f} GiB; received {len(files)} "
            f"of {size[0]}x{size[1]} pixels. Scale them by --image-size."
        )
    options = {
        "color_mode": "grayscale" if gray else "rgb",
        "target_size": size,
        "interpolation": "bilinear",
    }
    try:
        loaded = [keras.utils.img_to_array(keras.utils.load_img(it, **options)) for it in files]
    except OSError as error:
        raise ValueError(f"Expected images in {folder}; {error}.") from error
    images = np.stack(loaded).astype("float32")
    largest = 255 if images.max() <= 255 else 65535
    written = ", ".join(f"{name}={value!r}" for name, value in options.items())
    code = (
        f"image = keras.utils.load_img({str(files[0])!r}, {written})\n"
        f"x = keras.utils.img_to_array(image)[None] / {largest}"
    )
    return images / largest, [path.parent.name for path in files], code


def _files(folder: pathlib.Path) -> list[pathlib.Path]:
    entries = [path for path in sorted(folder.iterdir()) if not path.name.startswith(".")]
    classes = [path for path in entries if path.is_dir()]
    if not classes:
        raise ValueError(
            f"Expected a folder of images for each class in {folder}; received {len(entries)} "
            "files and no folder."
        )
    files: list[pathlib.Path] = []
    for one in classes:
        found = [path for path in sorted(one.iterdir()) if path.suffix.lower() in _SUFFIXES]
        if not found:
            raise ValueError(
                f"Expected images in {one}, {', '.join(_SUFFIXES)}; received none. Each folder in "
                f"{folder} is a class."
            )
        files += found
    return files
