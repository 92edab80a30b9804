"""Images in a folder with a folder for each class."""

import pathlib
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import PIL.Image
import PIL.ImageOps

from csdl_keras_cli.own_columns import read_labels
from csdl_keras_cli.own_file import OwnFile

_SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp")
_MOST_BYTES = 8 * 2**30
#: Pillow's mode of gray images of 16 bits.
_DEEP = "I;16"


def read_images(
    folder: pathlib.Path, size: tuple[int, int] | None = None, skip_broken: bool = False
) -> OwnFile:
    """Reads images, gray if all of them are, or else RGB; folders in the folder are their labels.

    They are scaled to `size`, height and width, if it is given; `skip_broken` leaves out those that
    cannot be read.
    """
    files, others = _files(folder)
    images: dict[pathlib.Path, PIL.Image.Image] = {}
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
    labels, numbers = read_labels(str(folder), np.array([path.parent.name for path in images]))
    path, image = next(iter(images.items()))
    code = (
        f"from {__name__} import read_image\n"
        f"x = read_image({str(path)!r}, {(image.height, image.width)}, gray={gray})[None]"
    )
    return OwnFile(pixels, labels, numbers, code, left_out=(*broken, *others))


def read_image(
    path: str | pathlib.Path, size: tuple[int, int] | None = None, gray: bool = False
) -> np.ndarray:
    """Reads an image as `read_images` does: float32 `(height, width, channels)` in [0, 1]."""
    return _pixels(_open(path, size), gray)


def _open(path: str | pathlib.Path, size: tuple[int, int] | None) -> PIL.Image.Image:
    """Returns an image upright, on white where it is transparent, in gray or RGB and scaled."""
    with warnings.catch_warnings():
        # Pillow warns of large images, and refuses those of twice that size.
        warnings.simplefilter("ignore", PIL.Image.DecompressionBombWarning)
        # From a path, Pillow maps TIFF files into memory before it turns them, and garbles them.
        with open(path, "rb") as file, PIL.Image.open(file) as stored:
            image = PIL.ImageOps.exif_transpose(stored)
    gray = image.mode in ("1", "L", "LA", "La")
    if image.has_transparency_data:
        background = PIL.Image.new("RGBA", image.size, "white")
        image = PIL.Image.alpha_composite(background, image.convert("RGBA"))
    if image.mode[0] not in "IF":
        image = image.convert("L" if gray else "RGB")
    if size not in (None, (image.height, image.width)):
        image = image.resize(size[::-1], PIL.Image.Resampling.BILINEAR)
    return image


def _pixels(image: PIL.Image.Image, gray: bool) -> np.ndarray:
    white = 65535 if image.mode == _DEEP else 255
    pixels = np.asarray(image if gray else image.convert("RGB"), "float32") / white
    return pixels.reshape(image.height, image.width, -1)


def _check_modes(images: dict[pathlib.Path, Any], gray: bool) -> None:
    """Refuses pixels whose scale is unknown, or that do not go with the others."""
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


def _files(folder: pathlib.Path) -> tuple[list[pathlib.Path], list[str]]:
    """Returns the images in the folders of classes, and the names of the other files."""
    entries = _shown(folder, folder.iterdir())
    classes = [path for path in entries if path.is_dir()]
    if not classes:
        raise ValueError(
            f"Expected a folder of images for each class in {folder}; received {len(entries)} "
            "files and no folder."
        )
    images: list[pathlib.Path] = []
    others = [path for path in entries if path not in classes]
    for one in classes:
        inside = [path for path in _shown(one, one.rglob("*")) if path.is_file()]
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
        images += found
        others += [path for path in inside if path.suffix.lower() not in _SUFFIXES]
    return images, [str(path.relative_to(folder)) for path in others]


def _shown(folder: pathlib.Path, paths: Iterable[pathlib.Path]) -> list[pathlib.Path]:
    """Returns the paths in a folder that neither are hidden nor lie in a hidden folder, sorted."""
    return sorted(
        path
        for path in paths
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
