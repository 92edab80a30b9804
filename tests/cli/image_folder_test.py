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


@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_each_image_is_scaled_by_its_own_bits(mode, tmp_path):
    """Gray images of 16 bits may be among those in colours."""
    folder = images(tmp_path / mode, mode=mode)
    GRAY.save(folder / "cat" / "0.png")
    DEEP.save(folder / "cat" / "1.png")
    # A dark one: its pixels are below 256.
    Image.fromarray(np.full((6, 4), 200, "uint16")).save(folder / "dog" / "0.png")
    file = read_images(folder)
    assert file.inputs.shape == (10, 6, 4, len(mode))
    for channel in range(len(mode)):
        np.testing.assert_allclose(file.inputs[0][..., channel], RAMP, atol=0.003)
        np.testing.assert_allclose(file.inputs[1][..., channel], RAMP, atol=1e-5)
    np.testing.assert_allclose(file.inputs[np.argmax(file.numbers)], 200 / 65535, rtol=1e-5)
    np.testing.assert_array_equal(run(file.code)[0], file.inputs[0])


def test_pixels_of_unknown_scale(tmp_path):
    folder = images(tmp_path / "pets")
    for image, mode in (
        (Image.fromarray(RAMP.astype("float32")), "'F'"),
        (Image.frombytes("I;16B", (4, 6), DEEP.tobytes()), "'I;16B'"),
    ):
        image.save(folder / "cat" / "0.tif")
        with pytest.raises(ValueError, match=f"cat.0.tif cannot be .*mode {mode}; save it as"):
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
    assert str(pathlib.Path("dog", "more", "1.png")) in read_images(folder).left_out
    with pytest.raises(ValueError, match=r"pets has no images .* each class is a folder"):
        read_images(tmp_path)


#: Blocks of one colour, which JPEG keeps.
SCENE = Image.fromarray(RNG.integers(0, 256, (3, 2, 3), "uint8")).resize((16, 24), Image.NEAREST)
#: How a camera that was turned stores an image, in the order of the numbers from 2 to 8.
STORED = (
    "FLIP_LEFT_RIGHT ROTATE_180 FLIP_TOP_BOTTOM TRANSPOSE ROTATE_90 TRANSVERSE ROTATE_270".split()
)


@pytest.mark.parametrize("mode, suffix", [("L", "tif"), ("RGB", "jpg")])
@pytest.mark.parametrize("orientation", range(2, 9))
def test_images_are_upright(orientation, suffix, mode, tmp_path):
    scene, exif = SCENE.convert(mode), Image.Exif()
    exif[0x0112] = orientation
    stored = scene.transpose(Image.Transpose[STORED[orientation - 2]])
    folder = images(tmp_path / "pets", sizes=[(24, 16)], mode=mode)
    (folder / "cat" / "0.png").unlink()
    options = {"subsampling": 0, "quality": 95} if suffix == "jpg" else {}
    stored.save(folder / "cat" / f"0.{suffix}", exif=exif, **options)
    file = read_images(folder)
    pixels = np.asarray(scene, "float32").reshape(24, 16, -1) / 255
    np.testing.assert_allclose(file.inputs[0], pixels, atol=0.03)
    np.testing.assert_array_equal(run(file.code)[0], file.inputs[0])


def transparent(kind, hidden):
    """An image whose left half is opaque, and whose right half hides a value."""
    left = np.tile(np.arange(4) < 2, (6, 1))
    gray = Image.fromarray(np.where(left, 90, hidden).astype("uint8"))
    if kind == "palette":
        image = Image.fromarray(1 - left.astype("uint8"))
        image.putpalette([90, 90, 90, hidden, hidden, hidden])
        return image, {"transparency": 1}
    gray.putalpha(Image.fromarray(255 * left.astype("uint8")))
    return gray.convert(kind), {}


@pytest.mark.parametrize("kind", ["LA", "RGBA", "palette"])
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
    "text.png": b"no image",
    "enormous.png": content(Image.new("1", (20_000, 10_000)), "PNG"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_images_that_cannot_be_read(name, tmp_path):
    folder = images(tmp_path / "pets", mode="RGB")
    whole = read_images(folder).inputs
    (folder / "dog" / name).write_bytes(BROKEN[name])
    told = f"dog.{name} cannot be read as an image.*--skip-broken"
    with pytest.raises(ValueError, match=told) as caught:
        read_images(folder)
    assert "\n" not in str(caught.value)
    file = read_images(folder, skip_broken=True)
    np.testing.assert_array_equal(file.inputs, whole)
    assert file.left_out == (str(pathlib.Path("dog") / name) + " (broken)",)
