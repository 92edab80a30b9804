"""Functions of `datasets` with right and wrong arguments of every kind."""

import dataclasses
import importlib

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from csdl_keras import datasets
from csdl_keras.datasets import DataSet
from tests.datasets.helpers import hashes
from tests.robustness.datasets_cases import CASES, GRAY, LARGE, LARGEST_SEED, TOY, with_images
from tests.robustness.documented import is_integer
from tests.robustness.outcome import outcome, public_functions
from tests.robustness.properties import robustness_tests
from tests.robustness.spoiled import JUNK, SCALARS, spoilings


def unknown(name, data_dir):
    raise ValueError(f"Expected one of a few names; received {name!r}.")


@pytest.fixture(autouse=True, scope="module")
def small_data():
    """Two small pictures instead of photographs, and a toy set under a name of its own."""
    rng = np.random.default_rng(0)
    pictures = [rng.uniform(size=shape).astype("float32") for shape in ((12, 9), (10, 16))]
    with pytest.MonkeyPatch.context() as patch:
        module = importlib.import_module("csdl_keras.datasets.bg_img_rot_synthetic")
        patch.setattr(module, "photographs", lambda: pictures)
        module = importlib.import_module("csdl_keras.datasets.load")
        patch.setattr(module, "EMBEDDED", {"toy": lambda: LARGE})
        patch.setattr(module, "load_tfds", unknown)
        yield


def test_every_public_function_is_here():
    assert CASES.keys() == public_functions(datasets)


TestRobustness = robustness_tests(CASES)


class TestSizes:
    @settings(max_examples=200)
    @given(size=st.integers(-5, 90), seed=st.integers(0, LARGEST_SEED))
    @example(size=79, seed=0)
    def test_subset(self, size, seed):
        """Splits of 60 and 20 keep their proportion; what is left out has all 5 classes, too."""
        result = outcome(datasets.subset, TOY, size, seed)
        val = round(size / 4)
        left = 60 - (size - val), 20 - val
        known = min(val, size - val) >= 5 and size <= 80
        documented = known and all(number == 0 or number >= 5 for number in left)
        assert isinstance(result, DataSet) == documented
        if documented:
            for split, number in (("train", 60), ("val", 20)):
                assert set(hashes(result, split)) <= set(hashes(TOY, split))
                part = np.bincount(getattr(result, f"y_{split}"), minlength=5)
                kept = number - left[split == "val"]
                assert part.sum() == kept and np.abs(part - kept / 5).max() < 1

    @settings(max_examples=200)
    @given(sizes=st.tuples(*[st.integers(1, 120)] * 3), seed=st.integers(0, 2**70))
    def test_bg_img_rot_synthetic(self, sizes, seed):
        result = outcome(datasets.bg_img_rot_synthetic, GRAY, seed, *sizes)
        train, val, test = sizes
        total = min(80, train + val)
        in_val = round(total * val / (train + val))
        assert isinstance(result, DataSet) == (0 < in_val < total)
        if isinstance(result, DataSet):
            assert len(result.y_val) == in_val and len(result.y_train) == total - in_val
            assert len(result.y_test) == min(test, 20 + 80 - total)

    @pytest.mark.parametrize("shape", [(1, 1, 1), (11, 8, 1), (8, 10, 1), (4, 4, 2)])
    def test_images_of_other_sizes(self, shape):
        """A patch of one pixel never varies, and some are larger than the smallest picture."""
        result = outcome(datasets.bg_img_rot_synthetic, with_images(*shape))
        assert isinstance(result, ValueError)

    @pytest.mark.parametrize("value", [np.nan, np.inf, -0.1, 1.1])
    def test_pixels_outside_the_unit_interval(self, value):
        images = GRAY.x_test.copy()
        images[0, 0, 0, 0] = value
        data = dataclasses.replace(GRAY, x_test=images)
        with pytest.raises(ValueError, match=r"^Expected the images of .* to lie in \[0, 1\]"):
            datasets.bg_img_rot_synthetic(data, test_size=1)


class TestDataSet:
    @pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(DataSet)])
    def test_fields(self, field):
        """No set of other arrays than are documented gets to a function."""
        right = {"name": str, "num_classes": int, "imbalanced": bool}
        for value in spoilings(getattr(TOY, field)) if field not in right else SCALARS + JUNK:
            result = outcome(lambda value: dataclasses.replace(TOY, **{field: value}), value)
            if isinstance(result, DataSet):
                assert is_labels(value, field) or isinstance(value, right.get(field, np.ndarray))
                assert result.y_train.max() < result.num_classes
                assert len(result.x_train) == len(result.y_train) > 0


def is_labels(value, field):
    return field == "num_classes" and is_integer(value, 5)
