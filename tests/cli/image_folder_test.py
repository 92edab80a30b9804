"""Images of several kinds in a folder, and files that are none."""

import io
import pathlib

import numpy as np
import pytest
from PIL import Image, ImageOps

from csdl_keras_cli.data import described_inputs
from csdl_keras_cli.image_folder import read_images
from tests.cli.own_files import RNG, images, load, run

#: A ramp from black to white.
RAMP = np.linspace(0, 1, 24).reshape(6, 4)
DEEP = Image.fromarray((RAMP * 65535).round().astype("uint16"))
GRAY = Image.fromarray((RAMP * 255).round().astype("uint8"))


def content(image, **options):
    """The bytes of an image in a file."""
    out = io.BytesIO()
    image.save(out, **options)
    return out.getvalue()


def test_each_image_is_scaled_by_its_own_bits(tmp_path):
    folder = images(tmp_path / "pets")
    GRAY.save(folder / "cat" / "0.png")
    DEEP.save(folder / "cat" / "1.png")
    # A dark one: its pixels are below 256.
    Image.fromarray(np.full((6, 4), 200, "uint16")).save(folder / "dog" / "0.png")
    file = read_images(folder)
    read = file.inputs
    np.testing.assert_allclose(read[0][..., 0], RAMP, atol=0.003)
    np.testing.assert_allclose(read[1][..., 0], RAMP, atol=1e-5)
    np.testing.assert_allclose(read[np.argmax(file.numbers)], 200 / 65535, rtol=1e-5)
    np.testing.assert_array_equal(run(file.code)[0], read[0])


@pytest.mark.parametrize(
    "image, told",
    [
        (Image.fromarray((RAMP * 70000).astype("int32")), "cat.0.tif, .*mode 'I'. Save it as"),
        (Image.fromarray(RAMP.astype("float32")), "cat.0.tif, .*mode 'F'"),
        (Image.frombytes("I;16B", (4, 6), DEEP.tobytes()), "cat.0.tif, .*mode 'I;16B'"),
    ],
)
def test_pixels_of_unknown_scale(image, told, tmp_path):
    folder = images(tmp_path / "pets")
    image.save(folder / "cat" / "0.tif")
    with pytest.raises(ValueError, match=f"8 bits, or gray ones of 16; received .*{told}"):
        read_images(folder)


def test_sixteen_bits_among_colours(tmp_path):
    folder = images(tmp_path / "pets", mode="RGB")
    DEEP.save(folder / "dog" / "3.png")
    with pytest.raises(ValueError, match="such as .*cat.0.png; received .*dog.3.png"):
        read_images(folder)


def test_images_in_folders_of_a_class(tmp_path):
    folder = images(tmp_path / "pets")
    (folder / "dog" / ".thumbnails").mkdir()
    GRAY.save(folder / "dog" / ".thumbnails" / "0.png")
    assert len(read_images(folder).inputs) == 10
    (folder / "dog" / "more").mkdir()
    GRAY.save(folder / "dog" / "more" / "1.png")
    with pytest.raises(ValueError, match="received 1 in folders inside it, such as .*more.1.png"):
        read_images(folder)


def test_other_files_are_told(tmp_path):
    folder = images(tmp_path / "pets")
    assert described_inputs(load(folder)) == "images of 6x4x1"
    for name in ("0.jfif", "1.heic"):
        (folder / "cat" / name).write_bytes(b"")
    (folder / "notes.txt").write_text("")
    told = described_inputs(load(folder))
    assert told == "images of 6x4x1, left out 3 other files, such as notes.txt"


#: Blocks of one colour, which JPEG keeps.
SCENE = Image.fromarray(RNG.integers(0, 256, (3, 2, 3), dtype=np.uint8)).resize(
    (16, 24), Image.Resampling.NEAREST
)
#: How a camera that was turned stores an image, by the number with which it tells so.
STORED = {
    1: (),
    2: (ImageOps.mirror,),
    3: (ImageOps.mirror, ImageOps.flip),
    4: (ImageOps.flip,),
    5: (lambda image: image.transpose(Image.Transpose.TRANSPOSE),),
    6: (lambda image: image.rotate(90, expand=True),),
    7: (lambda image: image.transpose(Image.Transpose.TRANSVERSE),),
    8: (lambda image: image.rotate(-90, expand=True),),
}
FORMATS = {"tif": {}, "jpg": {"subsampling": 0, "quality": 95}}


@pytest.mark.parametrize("mode", ["L", "RGB"])
@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("orientation", STORED)
def test_images_are_upright(orientation, suffix, mode, tmp_path):
    scene, exif = SCENE.convert(mode), Image.Exif()
    exif[0x0112] = orientation
    stored = scene
    for turn in STORED[orientation]:
        stored = turn(stored)
    for label in ("cat", "dog"):
        (tmp_path / label).mkdir()
        for number in range(3):
            stored.save(tmp_path / label / f"{number}.{suffix}", exif=exif, **FORMATS[suffix])
    file = read_images(tmp_path)
    read = file.inputs
    pixels = np.asarray(scene, "float32").reshape(24, 16, -1) / 255
    np.testing.assert_allclose(read[0], pixels, atol=0.03)
    np.testing.assert_array_equal(run(file.code)[0], read[0])


def transparent(kind, hidden):
    """An image whose left half is opaque, and whose right half hides a value."""
    gray = np.full((6, 4), 90, np.uint8)
    gray[:, 2:] = hidden
    alpha = Image.fromarray(np.where(np.arange(4) < 2, 255, 0).astype("uint8")[None].repeat(6, 0))
    if kind == "palette":
        image = Image.fromarray(np.where(np.arange(4) < 2, 0, 1).astype("uint8")[None].repeat(6, 0))
        image.putpalette([90, 90, 90, hidden, hidden, hidden])
        return image, {"transparency": 1}
    if kind == "colour":
        return Image.fromarray(gray).convert("RGB"), {"transparency": (hidden,) * 3}
    image = Image.fromarray(gray).convert({"LA": "L", "RGBA": "RGB"}[kind])
    image.putalpha(alpha)
    return image, {}


@pytest.mark.parametrize("kind", ["LA", "RGBA", "palette", "colour"])
@pytest.mark.parametrize("hidden", [0, 200])
def test_transparent_pixels_are_white(kind, hidden, tmp_path):
    folder = images(tmp_path / "pets", mode="L" if kind == "LA" else "RGB")
    image, options = transparent(kind, hidden)
    image.save(folder / "cat" / "0.png", **options)
    file = read_images(folder)
    read = file.inputs
    np.testing.assert_allclose(read[0][:, :2], 90 / 255, atol=1e-6)
    np.testing.assert_array_equal(read[0][:, 2:], 1)
    np.testing.assert_array_equal(run(file.code)[0], read[0])


def noise(size):
    return Image.fromarray(RNG.integers(0, 256, (*size, 3), dtype=np.uint8))


BROKEN = {
    "cut.jpg": content(noise((64, 64)), format="JPEG")[:-900],
    "cut.png": content(noise((64, 64)), format="PNG")[:-900],
    "empty.png": b"",
    "text.jpg": b"no image",
    "enormous.png": content(Image.new("1", (20_000, 10_000)), format="PNG"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_images_that_cannot_be_read(name, tmp_path):
    folder = images(tmp_path / "pets", mode="RGB")
    whole = read_images(folder).inputs
    (folder / "dog" / name).write_bytes(BROKEN[name])
    with pytest.raises(
        ValueError, match=f"Expected .*dog.{name} to be an image.*--skip-broken"
    ) as e:
        read_images(folder)
    assert "\n" not in str(e.value)
    file = read_images(folder, skip_broken=True)
    np.testing.assert_array_equal(file.inputs, whole)
    assert len(file.numbers) == 10
    assert file.left_out == (str(pathlib.Path("dog") / name) + " (broken)",)


def test_a_class_of_broken_images(tmp_path):
    folder = images(tmp_path / "pets")
    for path in (folder / "dog").iterdir():
        path.write_bytes(b"")
    with pytest.raises(ValueError, match="an image that can be read in .*dog; all are broken"):
        read_images(folder, skip_broken=True)
