"""Images of several kinds in a folder, and files that are none."""

import numpy as np
import pytest
from PIL import Image

from csdl_keras.experiments.commands.sources import _inputs
from csdl_keras.experiments.image_folder import read_images
from csdl_keras.experiments.own_data import OwnSource
from tests.experiments.own_tables import images

#: A ramp from black to white.
RAMP = np.linspace(0, 1, 24).reshape(6, 4)
DEEP = Image.fromarray((RAMP * 65535).round().astype("uint16"))
GRAY = Image.fromarray((RAMP * 255).round().astype("uint8"))


def test_each_image_is_scaled_by_its_own_bits(tmp_path):
    folder = images(tmp_path / "pets")
    GRAY.save(folder / "cat" / "0.png")
    DEEP.save(folder / "cat" / "1.png")
    # A dark one: its pixels are below 256.
    Image.fromarray(np.full((6, 4), 200, "uint16")).save(folder / "dog" / "0.png")
    read, labels, code, _ = read_images(folder)
    np.testing.assert_allclose(read[0][..., 0], RAMP, atol=0.003)
    np.testing.assert_allclose(read[1][..., 0], RAMP, atol=1e-5)
    np.testing.assert_allclose(read[labels.index("dog")], 200 / 65535, rtol=1e-5)
    names = {}
    exec(f"import keras\n{code}", names)
    np.testing.assert_array_equal(names["x"][0], read[0])


def test_sixteen_bits_are_kept_when_images_are_scaled(tmp_path):
    folder = images(tmp_path / "pets", mode="L")
    for path in folder.glob("*/*.png"):
        DEEP.save(path)
    read, *_ = read_images(folder, (12, 8))
    assert read.shape[1:] == (12, 8, 1) and read.min() < 0.02 and read.max() > 0.98


def test_gray_images_with_transparency_are_gray(tmp_path):
    folder = images(tmp_path / "pets")
    GRAY.convert("LA").save(folder / "cat" / "0.png")
    read, *_ = read_images(folder)
    assert read.shape[1:] == (6, 4, 1)
    np.testing.assert_allclose(read[0][..., 0], RAMP, atol=0.003)


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
    assert len(read_images(folder)[0]) == 10
    (folder / "dog" / "more").mkdir()
    GRAY.save(folder / "dog" / "more" / "1.png")
    with pytest.raises(ValueError, match="received 1 in folders inside it, such as .*more.1.png"):
        read_images(folder)


def test_other_files_are_told(tmp_path):
    folder = images(tmp_path / "pets")
    assert _inputs(OwnSource("pets", path=folder).load()) == "images of 6x4x1"
    for name in ("0.jfif", "1.heic"):
        (folder / "cat" / name).write_bytes(b"")
    (folder / "notes.txt").write_text("")
    told = _inputs(OwnSource("all", path=folder).load())
    assert told == "images of 6x4x1, left out 3 other files, such as notes.txt"
