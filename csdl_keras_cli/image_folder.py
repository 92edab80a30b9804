"""Reads images from a folder with one folder per class."""

import pathlib
import warnings

import numpy as np
import PIL.Image
import PIL.ImageOps

from csdl_keras_cli.own_columns import read_labels
from csdl_keras_cli.own_table import OwnFile

SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp")


def read_images(
    folder: pathlib.Path, size: int | None = None, skip_broken: bool = False
) -> OwnFile:
    """Reads images as gray if all are gray, else as RGB; the names of folders are the labels."""
    shown = [
        path
        for path in sorted(folder.rglob("*"))
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]
    classes = {path for path in shown if path.parent == folder and path.is_dir()}
    files = [it for it in shown if it.parent in classes and it.suffix.lower() in SUFFIXES]
    others = [str(it.relative_to(folder)) for it in sorted({*shown} - {*files}) if it.is_file()]
    images: dict[pathlib.Path, PIL.Image.Image] = {}
    for path in files:
        try:
            image = _open(path, size)
        # Damaged files make Pillow raise many kinds of errors.
        except Exception as error:
            if not skip_broken:
                raise ValueError(
                    f"{path} cannot be read as an image: {str(error).rstrip('.')}. Skip such "
                    "images with --skip-broken."
                ) from error
            others.append(f"{path.relative_to(folder)} (broken)")
            continue
        first = next(iter(images.values()), image)
        if image.size != first.size:
            raise ValueError(
                f"The images in {folder} differ in size, such as {first.height}x{first.width} and "
                f"{image.height}x{image.width}. Scale them with --image-size."
            )
        images[path] = image
    if (empty := sorted(classes - {path.parent for path in images})) or not classes:
        raise ValueError(
            f"{[*empty, folder][0]} has no images ({', '.join(SUFFIXES)}). In --data, each class "
            "is a folder with images."
        )
    gray = all(image.mode != "RGB" for image in images.values())
    pixels = np.stack([_pixels(image, gray) for image in images.values()])
    labels, numbers = read_labels(str(folder), np.array([path.parent.name for path in images]))
    path = next(iter(images))
    code = (
        f"from {__name__} import read_image\n"
        f"x = read_image({str(path)!r}, {size}, gray={gray})[None]"
    )
    return OwnFile(pixels, labels, numbers, code, left_out=tuple(others))


def read_image(
    path: str | pathlib.Path, size: int | tuple[int, int] | None = None, gray: bool = False
) -> np.ndarray:
    """Reads an image as `read_images` does: float32 `(height, width, channels)` in [0, 1]."""
    return _pixels(_open(path, size), gray)


def _open(path: str | pathlib.Path, size: int | tuple[int, int] | None) -> PIL.Image.Image:
    """Returns an image, upright and scaled, in gray or RGB, with white for transparent pixels."""
    with warnings.catch_warnings():
        # Pillow warns about large images, and raises an error for those of twice that size.
        warnings.simplefilter("ignore", PIL.Image.DecompressionBombWarning)
        # Given a path, Pillow maps TIFF files into memory and garbles them as it rotates them.
        with open(path, "rb") as file, PIL.Image.open(file) as stored:
            image = PIL.ImageOps.exif_transpose(stored)
    gray = image.mode in ("1", "L", "LA", "La")
    if image.has_transparency_data:
        background = PIL.Image.new("RGBA", image.size, "white")
        image = PIL.Image.alpha_composite(background, image.convert("RGBA"))
    if image.mode[0] not in "IF":
        image = image.convert("L" if gray else "RGB")
    elif image.mode != "I;16":
        # Pixels of other modes, such as 16 bits in big-endian order, differ in scale.
        raise ValueError(
            f"its pixels have Pillow's mode {image.mode!r}; save it as an 8-bit PNG file, or as a "
            "16-bit one if it is gray"
        )
    if size is not None:
        height, width = (size, size) if isinstance(size, int) else size
        image = image.resize((width, height), PIL.Image.Resampling.BILINEAR)
    return image


def _pixels(image: PIL.Image.Image, gray: bool) -> np.ndarray:
    white = 65535 if image.mode == "I;16" else 255
    pixels = np.asarray(image, "float32").reshape(image.height, image.width, -1) / white
    return np.broadcast_to(pixels, (*pixels.shape[:2], 1 if gray else 3))
