"""Images of several kinds in a folder, and files that are none."""

import io
import pathlib

import numpy as np
import pytest
from PIL import Image

from csdl_keras_cli.data import described_inputs
from csdl_keras_cli.image_folder import read_images
from tests.cli.own_files import RNG, images, load, run

#: A ramp from black to white.
RAMP = np.linspace(0, 1, 24).reshape(6, 4)
DEEP = Image.fromarray((RAMP * 65535).round().astype("uint16"))
GRAY = Image.fromarray((RAMP * 255).round().astype("uint8"))


def test_each_image_is_scaled_by_its_own_bits(tmp_path):
    for mode in ("L", "RGB"):  # Gray images of 16 bits may be among those in colours.
        folder = images(tmp_path / mode, mode=mode)
        GRAY.save(folder / "cat" / "0.png")
        DEEP.save(folder / "cat" / "1.png")
        # A dark one: its pixels are below 256.
        Image.fromarray(np.full((6, 4), 200, "uint16")).save(folder / "dog" / "0.png")
        file = read_images(folder)
        read = file.inputs
        assert read.shape == (10, 6, 4, len(mode))
        for channel in range(len(mode)):
            np.testing.assert_allclose(read[0][..., channel], RAMP, atol=0.003)
            np.testing.assert_allclose(read[1][..., channel], RAMP, atol=1e-5)
        np.testing.assert_allclose(read[np.argmax(file.numbers)], 200 / 65535, rtol=1e-5)
        np.testing.assert_array_equal(run(file.code)[0], read[0])


@pytest.mark.parametrize(
    "image, mode",
    [
        (Image.fromarray((RAMP * 70000).astype("int32")), "'I'"),
        (Image.fromarray(RAMP.astype("float32")), "'F'"),
        (Image.frombytes("I;16B", (4, 6), DEEP.tobytes()), "'I;16B'"),
    ],
)
def test_pixels_of_unknown_scale(image, mode, tmp_path):
    folder = images(tmp_path / "pets")
    image.save(folder / "cat" / "0.tif")
    with pytest.raises(ValueError, match=f"Expected .*cat.0.tif .*mode {mode}; save it as"):
        read_images(folder)


def test_files_that_are_no_images_of_a_class(tmp_path):
    folder = images(tmp_path / "pets")
    (folder / "dog" / ".thumbnails").mkdir()
    GRAY.save(folder / "dog" / ".thumbnails" / "0.png")
    assert described_inputs(load(folder)) == "images of 6x4x1"
    for name in ("cat/0.jfif", "cat/1.heic", "notes.txt"):
        (folder / name).write_bytes(b"")
    told = f"images of 6x4x1, left out 3, such as {pathlib.Path('cat', '0.jfif')}"
    assert described_inputs(load(folder)) == told
    (folder / "dog" / "more").mkdir()
    GRAY.save(folder / "dog" / "more" / "1.png")
    with pytest.raises(ValueError, match=r"received 1 in folders inside it, such as .*more.1.png"):
        read_images(folder)


#: Blocks of one colour, which JPEG keeps.
SCENE = Image.fromarray(RNG.integers(0, 256, (3, 2, 3), dtype=np.uint8)).resize(
    (16, 24), Image.Resampling.NEAREST
)
#: How a camera that was turned stores an image, by the number with which it tells so.
STORED = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_90,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_270,
}


@pytest.mark.parametrize("mode, suffix", [("L", "tif"), ("RGB", "tif"), ("RGB", "jpg")])
@pytest.mark.parametrize("orientation", STORED)
def test_images_are_upright(orientation, suffix, mode, tmp_path):
    scene, exif = SCENE.convert(mode), Image.Exif()
    exif[0x0112] = orientation
    options = {"subsampling": 0, "quality": 95} if suffix == "jpg" else {}
    for label in ("cat", "dog"):
        (tmp_path / label).mkdir()
        for number in range(3):
            stored = scene.transpose(STORED[orientation])
            stored.save(tmp_path / label / f"{number}.{suffix}", exif=exif, **options)
    file = read_images(tmp_path)
    pixels = np.asarray(scene, "float32").reshape(24, 16, -1) / 255
    np.testing.assert_allclose(file.inputs[0], pixels, atol=0.03)
    np.testing.assert_array_equal(run(file.code)[0], file.inputs[0])


def transparent(kind, hidden):
    """An image whose left half is opaque, and whose right half hides a value."""
    gray = np.full((6, 4), 90, np.uint8)
    gray[:, 2:] = hidden
    alpha = np.tile(np.where(np.arange(4) < 2, 255, 0).astype("uint8"), (6, 1))
    if kind == "palette":
        image = Image.fromarray((alpha == 0).astype("uint8"))
        image.putpalette([90, 90, 90, hidden, hidden, hidden])
        return image, {"transparency": 1}
    if kind == "colour":
        return Image.fromarray(gray).convert("RGB"), {"transparency": (hidden,) * 3}
    image = Image.fromarray(gray).convert({"LA": "L", "RGBA": "RGB"}[kind])
    image.putalpha(Image.fromarray(alpha))
    return image, {}


@pytest.mark.parametrize("kind", ["LA", "RGBA", "palette", "colour"])
@pytest.mark.parametrize("hidden", [0, 200])
def test_transparent_pixels_are_white(kind, hidden, tmp_path):
    folder = images(tmp_path / "pets", mode="L" if kind == "LA" else "RGB")
    image, options = transparent(kind, hidden)
    image.save(folder / "cat" / "0.png", **options)
    file = read_images(folder)
    np.testing.assert_allclose(file.inputs[0][:, :2], 90 / 255, atol=1e-6)
    np.testing.assert_array_equal(file.inputs[0][:, 2:], 1)
    np.testing.assert_array_equal(run(file.code)[0], file.inputs[0])


def content(image, form):
    out = io.BytesIO()
    image.save(out, format=form)
    return out.getvalue()


NOISE = Image.fromarray(RNG.integers(0, 256, (64, 64, 3), dtype=np.uint8))
BROKEN = {
    "cut.jpg": content(NOISE, "JPEG")[:-900],
    "cut.png": content(NOISE, "PNG")[:-900],
    "text.jpg": b"no image",
    "enormous.png": content(Image.new("1", (20_000, 10_000)), "PNG"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_images_that_cannot_be_read(name, tmp_path):
    folder = images(tmp_path / "pets", mode="RGB")
    whole = read_images(folder).inputs
    (folder / "dog" / name).write_bytes(BROKEN[name])
    told = f"Expected .*dog.{name} to be an image.*--skip-broken"
    with pytest.raises(ValueError, match=told) as caught:
        read_images(folder)
    assert "\n" not in str(caught.value)
    file = read_images(folder, skip_broken=True)
    np.testing.assert_array_equal(file.inputs, whole)
    assert file.left_out == (str(pathlib.Path("dog") / name) + " (broken)",)
    for path in (folder / "dog").iterdir():
        path.write_bytes(b"")
    with pytest.raises(ValueError, match=r"images that can be read in .*dog, .*; received none"):
        read_images(folder, skip_broken=True)
