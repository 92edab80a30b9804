"""Functions of `datasets` refuse what they document, and divide sets of any size."""

import dataclasses
import importlib

import numpy as np
import pytest

from csdl_keras import datasets
from csdl_keras.datasets import DataSet
from tests.datasets.helpers import SPLITS, toy_data
from tests.robustness.outcome import outcome, public_functions
from tests.robustness.rows import Row, named, names_of, table_tests
from tests.robustness.spoiled import JUNK, SCALARS, spoilings

TOY, LARGE = toy_data(), toy_data(per_class=100)
RNG = np.random.default_rng(0)


def with_images(*shape, data=TOY):
    """The toy set with other images."""
    images = {f"x_{split}": len(getattr(data, f"y_{split}")) for split in SPLITS}
    drawn = {name: RNG.uniform(size=(size, *shape)) for name, size in images.items()}
    return dataclasses.replace(data, **{name: x.astype("float32") for name, x in drawn.items()})


GRAY, COLOUR = with_images(8, 8, 1), with_images(4, 4, 3)


def with_pixel(value):
    images = GRAY.x_test.copy()
    images[0, 0, 0, 0] = value
    return dataclasses.replace(GRAY, x_test=images)


@pytest.fixture(autouse=True, scope="module")
def small_data():
    """Two small pictures instead of photographs, and a toy set under a name of its own."""
    pictures = [RNG.uniform(size=shape).astype("float32") for shape in ((12, 9), (10, 16))]

    def unknown(name, data_dir):
        raise ValueError(f"Expected one of a few names; received {name!r}.")

    with pytest.MonkeyPatch.context() as patch:
        module = importlib.import_module("csdl_keras.datasets.bg_img_rot_synthetic")
        patch.setattr(module, "photographs", lambda: pictures)
        module = importlib.import_module("csdl_keras.datasets.load")
        patch.setattr(module, "EMBEDDED", {"toy": lambda: LARGE})
        patch.setattr(module, "load_tfds", unknown)
        yield


def of_set(function, data, errors=(), also=(), name="data", **others):
    errors = (({name: None}, "a DataSet"), ({name: data.x_train}, "a DataSet"), *errors)
    return Row(function, lambda rng, k: {name: data} | others, errors, also)


seed_errors = (({"seed": -1}, "`seed`"),)

ROWS = {
    "imbalance": of_set(
        datasets.imbalance,
        TOY,
        (
            *seed_errors,
            ({"fraction": 1.0}, "below 1"),
            ({"fraction": -0.1}, "`fraction`"),
            ({"num_rare": 6}, "at least num_rare=6 classes"),
            ({"data": dataclasses.replace(TOY, imbalanced=True)}, "imbalanced already"),
        ),
        ({"fraction": 0.0}, {"seed": 2**70}),
        seed=3,
        fraction=0.5,
        num_rare=2,
    ),
    "subset": of_set(
        datasets.subset,
        TOY,
        (
            *seed_errors,
            ({"seed": 2**32}, "`seed`"),
            ({"train_size": 17}, "`train_size` from"),
            ({"train_size": 81}, "to 80"),
            ({"train_size": 79}, "every class can be divided"),
        ),
        ({"train_size": 80},),
        train_size=42,
        seed=3,
    ),
    "grayscale": of_set(
        datasets.grayscale, COLOUR, (({"data": with_images(4, 4, 2)}, "1 or 3 channels"),)
    ),
    "bg_img_rot_synthetic": of_set(
        datasets.bg_img_rot_synthetic,
        GRAY,
        (
            *seed_errors,
            ({"base": COLOUR}, "gray images"),
            ({"base": with_images(11, 8, 1)}, "no larger than any photograph"),
            ({"base": with_images(8, 10, 1)}, "no larger than any photograph"),
            ({"base": with_images(1, 1, 1)}, "large enough for patches"),
            *(
                ({"base": with_pixel(x)}, r"to lie in \[0, 1\]")
                for x in (np.nan, np.inf, -0.1, 1.1)
            ),
            ({"train_size": 2**62}, "each gets some"),
        ),
        name="base",
        seed=3,
        train_size=6,
        val_size=3,
        test_size=100,
    ),
    "load": Row(
        datasets.load,
        lambda rng, k: (
            {"name": "toy", "imbalanced": True, "train_size": 100, "seed": 3}
            | {"data_dir": "folder", "grayscale": False}
        ),
        (
            *seed_errors,
            ({"name": "cats"}, "one of a few names"),
            *named(train_size=[4, 401]),
        ),
        ({"train_size": None}, {"data_dir": None}),
    ),
}


def test_every_public_function_is_here():
    assert names_of(ROWS) == public_functions(datasets)


TestTable = table_tests(ROWS, large=False)


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(DataSet)])
def test_fields_of_a_data_set(field):
    """No set of other arrays than are documented gets to a function."""
    right = {"name": str, "num_classes": int, "imbalanced": bool}.get(field, np.ndarray)
    for value in spoilings(getattr(TOY, field)) if right is np.ndarray else SCALARS + JUNK:
        result = outcome(lambda value: dataclasses.replace(TOY, **{field: value}), value)
        if isinstance(result, DataSet):
            assert isinstance(value, (right, np.integer))
            assert result.y_train.max() < result.num_classes
            assert len(result.x_train) == len(result.y_train) > 0
