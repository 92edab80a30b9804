"""Images in a folder with a folder for each class."""

import pathlib

import keras
import numpy as np

from csdl_keras._utils.optional import optional_module

_SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp")
_MOST_BYTES = 8 * 2**30
#: Pillow's mode of gray images of 16 bits, and those of gray images.
_DEEP = "I;16"
_GRAY = ("1", "L", "LA", _DEEP)


def read_images(
    folder: pathlib.Path, size: tuple[int, int] | None = None
) -> tuple[np.ndarray, list[str], str, tuple[str, ...]]:
    """Reads images and the names of the folders that they are in.

    Images are gray if all of them are, or else RGB.

    Args:
        folder: the folder; folders in it are classes.
        size: height and width that images are scaled to; `None` (default) is their own size.

    Returns:
        float32 images `(N, height, width, channels)` in [0, 1], labels, Python that reads one of
        the files as an array of that kind, and the other files in the folder.

    Raises:
        ValueError: if there are no folders, a folder without images or with images in folders of
            its own, a file that is no image or has pixels of another kind than the rest, or
            images of several sizes without `size`.
    """
    files, others = _files(folder)
    sizes, modes = set(), []
    pillow = optional_module("PIL.Image", "compare")
    for path in files:
        try:
            with pillow.open(path) as image:
                sizes.add((image.height, image.width))
                modes.append(image.mode)
        except OSError as error:
            raise ValueError(f"Expected {path} to be an image; {error}.") from error
    gray = all(mode in _GRAY for mode in modes)
    _check_modes(files, modes, gray)
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
    white = [65535 if mode == _DEEP else 255 for mode in modes]
    images = np.empty((len(files), *size, channels), "float32")
    try:
        for number, path in enumerate(files):
            image = keras.utils.load_img(path, **options)
            images[number] = keras.utils.img_to_array(image) / white[number]
    except OSError as error:
        raise ValueError(f"Expected images in {folder}; {error}.") from error
    written = ", ".join(f"{name}={value!r}" for name, value in options.items())
    code = (
        f"image = keras.utils.load_img({str(files[0])!r}, {written})\n"
        f"x = keras.utils.img_to_array(image)[None] / {white[0]}"
    )
    return images, [path.parent.name for path in files], code, others


def _check_modes(files: list[pathlib.Path], modes: list[str], gray: bool) -> None:
    """Raises a ValueError for pixels whose scale is unknown, or that do not go with the others."""
    for path, mode in zip(files, modes, strict=True):
        if mode == _DEEP and not gray:
            other = next(it for it, one in zip(files, modes, strict=True) if one not in _GRAY)
            raise ValueError(
                f"Expected no gray images of 16 bits among those in colours, such as {other}; "
                f"received {path}. Save it with 8 bits."
            )
        # Keras cuts pixels of other modes, such as 16 bits in big-endian order, at 255.
        if mode[0] in "IF" and mode != _DEEP:
            raise ValueError(
                f"Expected images of 8 bits, or gray ones of 16; received {path}, whose pixels "
                f"are of Pillow's mode {mode!r}. Save it as a PNG file of 8 or 16 bits."
            )


def _files(folder: pathlib.Path) -> tuple[list[pathlib.Path], tuple[str, ...]]:
    """Returns the images in the folders of classes, and the other files."""
    entries = [path for path in sorted(folder.iterdir()) if not path.name.startswith(".")]
    classes = [path for path in entries if path.is_dir()]
    if not classes:
        raise ValueError(
            f"Expected a folder of images for each class in {folder}; received {len(entries)} "
            "files and no folder."
        )
    files: list[pathlib.Path] = []
    others = [path for path in entries if path not in classes]
    for one in classes:
        inside = [path for path in sorted(one.rglob("*")) if _is_shown(path, one)]
        found = [path for path in inside if path.suffix.lower() in _SUFFIXES]
        nested = [path for path in found if path.parent != one]
        if nested:
            raise ValueError(
                f"Expected images in {one} itself, since each folder in {folder} is a class; "
                f"received {len(nested)} in folders inside it, such as {nested[0]}."
            )
        if not found:
            raise ValueError(
                f"Expected images in {one}, {', '.join(_SUFFIXES)}; received none. Each folder in "
                f"{folder} is a class."
            )
        files += found
        others += [path for path in inside if path.suffix.lower() not in _SUFFIXES]
    return files, tuple(str(path.relative_to(folder)) for path in others)


def _is_shown(path: pathlib.Path, folder: pathlib.Path) -> bool:
    """Returns whether a path is a file that neither is hidden nor lies in a hidden folder."""
    parts = path.relative_to(folder).parts
    return path.is_file() and not any(part.startswith(".") for part in parts)
