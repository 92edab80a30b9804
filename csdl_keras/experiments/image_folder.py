"""Images in a folder with a folder for each class."""

import pathlib
import warnings
from typing import Any

import numpy as np

from csdl_keras._utils.optional import optional_module

_SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp")
_MOST_BYTES = 8 * 2**30
#: Pillow's mode of gray images of 16 bits.
_DEEP = "I;16"


def read_images(
    folder: pathlib.Path, size: tuple[int, int] | None = None, skip_broken: bool = False
) -> tuple[np.ndarray, list[str], str, tuple[str, ...]]:
    """Reads images and the names of the folders that they are in.

    Images are gray if all of them are, or else RGB.

    Args:
        folder: the folder; folders in it are classes.
        size: height and width that images are scaled to; `None` (default) is their own size.
        skip_broken: whether images that cannot be read are left out. Defaults to False.

    Returns:
        float32 images `(N, height, width, channels)` in [0, 1], labels, Python that reads one of
        the files as an array of that kind, and the other files in the folder.

    Raises:
        ValueError: if there are no folders, a folder without images or with images in folders of
            its own, a file that is no image or has pixels of another kind than the rest, or
            images of several sizes without `size`.
    """
    files, others = _files(folder)
    optional_module("PIL.Image", "compare")
    images: dict[pathlib.Path, Any] = {}
    broken = []
    for path in files:
        try:
            image = _open(path, size)
        # Damaged files make Pillow raise nearly anything.
        except Exception as error:
            if not skip_broken:
                raise ValueError(
                    f"Expected {path} to be an image that can be read; {str(error).rstrip('.')}. "
                    "Go on without such images by --skip-broken."
                ) from error
            broken.append(f"{path.relative_to(folder)} (broken)")
            continue
        first = next(iter(images.values()), image)
        if image.size != first.size:
            sizes = sorted({(one.height, one.width) for one in (first, image)})
            raise ValueError(
                f"Expected --image-size, since the images in {folder} have at least 2 sizes, such "
                f"as {' and '.join(f'{height}x{width}' for height, width in sizes)}."
            )
        if len(files) * image.height * image.width * len(image.getbands()) * 4 > _MOST_BYTES:
            raise ValueError(
                f"Expected images that fit into {_MOST_BYTES / 2**30:.0f} GiB; received "
                f"{len(files)} of {image.height}x{image.width} pixels. Scale them by --image-size."
            )
        images[path] = image
    lost = sorted({path.parent for path in files} - {path.parent for path in images})
    if lost:
        raise ValueError(f"Expected an image that can be read in {lost[0]}; all are broken.")
    gray = all(image.mode != "RGB" for image in images.values())
    _check_modes(images, gray)
    pixels = np.stack([_pixels(image, gray) for image in images.values()])
    path, image = next(iter(images.items()))
    code = (
        f"from {__name__} import read_image\n"
        f"x = read_image({str(path)!r}, {(image.height, image.width)}, gray={gray})[None]"
    )
    return pixels, [path.parent.name for path in images], code, (*broken, *others)


def read_image(
    path: str | pathlib.Path, size: tuple[int, int] | None = None, gray: bool = False
) -> np.ndarray:
    """Reads an image as `read_images` does.

    Args:
        path: the file.
        size: height and width that it is scaled to; `None` (default) is its own size.
        gray: whether it becomes gray, or else RGB. Defaults to False.

    Returns:
        float32 pixels `(height, width, channels)` in [0, 1].
    """
    return _pixels(_open(path, size), gray)


def _open(path: str | pathlib.Path, size: tuple[int, int] | None) -> Any:
    """Returns an image upright, on white where it is transparent, in gray or RGB and scaled."""
    pillow, ops = (optional_module(f"PIL.{name}", "compare") for name in ("Image", "ImageOps"))
    with warnings.catch_warnings():
        # Pillow warns of large images, and refuses those of twice that size.
        warnings.simplefilter("ignore", pillow.DecompressionBombWarning)
        # From a path, Pillow maps TIFF files into memory before it turns them, and garbles them.
        with open(path, "rb") as file, pillow.open(file) as stored:
            image = ops.exif_transpose(stored)
    gray = image.mode in ("1", "L", "LA", "La")
    if image.has_transparency_data:
        background = pillow.new("RGBA", image.size, "white")
        image = pillow.alpha_composite(background, image.convert("RGBA"))
    if image.mode[0] not in "IF":
        image = image.convert("L" if gray else "RGB")
    if size not in (None, (image.height, image.width)):
        image = image.resize(size[::-1], pillow.Resampling.BILINEAR)
    return image


def _pixels(image: Any, gray: bool) -> np.ndarray:
    white = 65535 if image.mode == _DEEP else 255
    pixels = np.asarray(image if gray else image.convert("RGB"), "float32") / white
    return pixels.reshape(image.height, image.width, -1)


def _check_modes(images: dict[pathlib.Path, Any], gray: bool) -> None:
    """Raises a ValueError for pixels whose scale is unknown, or that do not go with the others."""
    for path, image in images.items():
        if image.mode == _DEEP and not gray:
            other = next(it for it, one in images.items() if one.mode == "RGB")
            raise ValueError(
                f"Expected no gray images of 16 bits among those in colours, such as {other}; "
                f"received {path}. Save it with 8 bits."
            )
        # Pixels of other modes, such as 16 bits in big-endian order, have no common scale.
        if image.mode[0] in "IF" and image.mode != _DEEP:
            raise ValueError(
                f"Expected images of 8 bits, or gray ones of 16; received {path}, whose pixels "
                f"are of Pillow's mode {image.mode!r}. Save it as a PNG file of 8 or 16 bits."
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
