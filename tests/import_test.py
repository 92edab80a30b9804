"""What importing the package does and does not do, each in a fresh process."""

import importlib.util

import keras
import pytest

from tests.support.fresh_process import run_python

OPTIONAL = ("tensorflow_datasets", "keras_tuner", "matplotlib", "sklearn", "mlxtend")

BLOCK = """
import sys
from importlib.machinery import PathFinder

class Finder(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] not in {blocked!r}:
            return super().find_spec(name, path, target)

sys.meta_path[:] = [Finder if finder is PathFinder else finder for finder in sys.meta_path]
"""

TRAIN = """
import keras
import numpy as np
import csdl_keras as csdl

rng = np.random.default_rng(0)
x, y = rng.uniform(size=(40, 6)).astype("float32"), rng.integers(3, size=40)
settings = csdl.Settings().limit_epochs(1)
model = csdl.train(x, y, csdl.costs.zero_one(3), "csdnn", settings=settings)
print(keras.backend.backend(), csdl.decide(model, x).shape, "tensorflow" in sys.modules)
"""


def test_nothing_but_what_is_needed():
    """No optional package that Keras has not imported, and no random numbers."""
    code = (
        "import random, sys, numpy as np, keras\n"
        "keras.utils.set_random_seed(1)\n"
        "state = random.getstate(), str(np.random.get_state())\n"
        "draw = keras.ops.convert_to_numpy(keras.random.uniform((3,)))\n"
        "keras.utils.clear_session()\n"  # an older Keras keeps its generator at a seed
        "keras.utils.set_random_seed(1)\n"
        "modules = set(sys.modules)\n"
        "import csdl_keras\n"
        f"print(set({OPTIONAL}) & (set(sys.modules) - modules))\n"
        "print(state == (random.getstate(), str(np.random.get_state())))\n"
        "print((draw == keras.ops.convert_to_numpy(keras.random.uniform((3,)))).all())\n"
        "print({*csdl_keras.__all__} <= {*dir(csdl_keras)}, 'csdl_keras.tuning' in sys.modules)"
    )
    assert run_python(code).split() == ["set()", "True", "True", "True", "False"]


def test_training_needs_neither_tensorflow_nor_optional_packages():
    backends = [name for name in ("jax", "torch") if importlib.util.find_spec(name) is not None]
    if not backends:
        pytest.skip("needs JAX or PyTorch")
    backend = keras.backend.backend()
    backend = backend if backend in backends else backends[0]
    code = BLOCK.format(blocked=("tensorflow", *OPTIONAL)) + TRAIN
    printed = run_python(code, KERAS_BACKEND=backend)
    assert printed.split("\n")[-2] == f"{backend} (40,) False"
