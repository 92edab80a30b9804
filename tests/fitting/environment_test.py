"""What the numbers of a training depend on beside its arguments, in keys and in workers."""

import contextlib
import os

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.fitting import environment as _environment
from csdl_keras.fitting.environment import VARIABLES, adopt, environment, settings
from csdl_keras.training.stages import _run_alone
from csdl_keras.training.workers import workers
from tests.support.changes import all_keys, assert_all_differ
from tests.support.trainers import DATA, MATRICES, make_trainer
from tests.support.weights import assert_same_weights

#: What `keras.config` can tell that changes no result.
IRRELEVANT = {
    "is_interactive_logging_enabled": "what is printed",
    "is_traceback_filtering_enabled": "what errors look like",
}
#: Setters whose names do not follow from what they set.
SETTERS = {
    f"{verb}_{thing}": f"is_{thing}_enabled"
    for verb in ("enable", "disable")
    for thing in ("flash_attention", "interactive_logging", "traceback_filtering")
}
#: Another value of each setting that can be undone.
CHANGED = {
    "dtype_policy": keras.dtype_policies.serialize(keras.DTypePolicy("mixed_bfloat16")),
    "epsilon": 1e-3,
    "floatx": "float64",
    "image_data_format": "channels_first",
    "is_flash_attention_enabled": False,
    "max_epochs": 1,
    "max_steps_per_epoch": 1,
    "tensor_float_32": False,
    "jit": "autoclustering",
    "jax_enable_x64": True,
    "jax_default_matmul_precision": "float32",
    "jax_numpy_dtype_promotion": "strict",
    "jax_threefry_partitionable": False,
    "deterministic_algorithms": 2,
    "float32_matmul_precision": "medium",
    "default_dtype": "torch.float64",
    "cpu_autocast": [True, "torch.bfloat16"],
    "backends.cudnn.benchmark": True,
    "backends.cudnn.deterministic": True,
    "backends.mkldnn.enabled": False,
}


@contextlib.contextmanager
def process_with(**values):
    """Changes settings of the process within the `with`."""
    before = environment()
    try:
        for name, value in values.items():
            settings()[name][1](value)
        yield
    finally:
        adopt(before)


def test_every_name_of_keras_config_is_classified():
    """A new one fails here until it is a setting, or named among those that change nothing."""
    names = {name for name in dir(keras.config) if not name.startswith("_")}
    setters = {name for name in names if name.startswith("set_")} | (SETTERS.keys() & names)
    getters = names - setters - {"enable_unsafe_deserialization"}
    assert getters <= settings().keys() | IRRELEVANT.keys() | {"backend"}
    for name in setters:
        assert SETTERS.get(name, name.removeprefix("set_")) in getters


class TestKeys:
    @pytest.mark.parametrize("name", VARIABLES)
    def test_a_variable_of_the_environment(self, name, monkeypatch, tmp_path, tried):
        monkeypatch.delenv(name, raising=False)
        without = all_keys(tmp_path)
        monkeypatch.setenv(name, "0")
        off = all_keys(tmp_path)
        monkeypatch.setenv(name, "1")
        on = all_keys(tmp_path)
        for one, other in ((without, off), (without, on), (off, on)):
            assert_all_differ(one, other)
        tried("variables of the environment", 2)

    @pytest.mark.parametrize("name", sorted(CHANGED.keys() & settings().keys()))
    def test_a_setting(self, name, tmp_path, tried):
        before = all_keys(tmp_path)
        with process_with(**{name: CHANGED[name]}):
            assert environment()["settings"][name] == CHANGED[name]
            assert_all_differ(before, all_keys(tmp_path))
        assert all_keys(tmp_path) == before
        tried("settings of Keras and its backend, set")

    def test_all_settings(self, monkeypatch, tmp_path, tried):
        """Also those that a process cannot undo, such as op determinism on TensorFlow."""
        found, before = settings(), all_keys(tmp_path)
        for name in found:
            told = {**found, name: (lambda: "another", None)}
            monkeypatch.setattr(_environment, "settings", lambda told=told: told)
            assert_all_differ(before, all_keys(tmp_path))
        tried("settings of Keras and its backend, told", len(found))

    @pytest.mark.parametrize("name", environment()["versions"])
    def test_a_version(self, name, monkeypatch, tmp_path, tried):
        before = all_keys(tmp_path)
        if name == "csdl_keras":
            monkeypatch.setattr(_environment, "__version__", "0.0")
        else:
            monkeypatch.setattr(_environment.importlib.import_module(name), "__version__", "0.0")
        assert_all_differ(before, all_keys(tmp_path))
        tried("versions")

    def test_the_backend(self, monkeypatch, tmp_path, tried):
        before = all_keys(tmp_path)
        other = {"tensorflow": "numpy", "jax": "numpy", "torch": "numpy"}
        monkeypatch.setattr(keras.backend, "backend", lambda: other[before_name])
        before_name = keras.config.backend()
        assert_all_differ(before, all_keys(tmp_path))
        tried("versions")

    def test_contexts_of_jax(self, tmp_path):
        jax = pytest.importorskip("jax")
        if keras.backend.backend() != "jax":
            pytest.skip("settings of JAX matter to JAX alone")
        before = all_keys(tmp_path)
        with jax.default_matmul_precision("bfloat16"):
            assert_all_differ(before, all_keys(tmp_path))

    def test_processes_that_are_started(self, monkeypatch, tmp_path):
        """What is set for them changes no key of the process that starts them."""
        for name in VARIABLES:
            monkeypatch.delenv(name, raising=False)
        before, variables = all_keys(tmp_path), dict(os.environ)
        with workers(2):
            assert all_keys(tmp_path) == before
            with workers(2):
                pass
            assert all_keys(tmp_path) == before
        assert all_keys(tmp_path) == before and dict(os.environ) == variables
        monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", "0")
        own = all_keys(tmp_path)
        with workers(2):
            assert all_keys(tmp_path) == own != before


class TestAdopt:
    def test_another_version_is_refused(self):
        there = environment()
        there["versions"] = {**there["versions"], "keras": "1.0"}
        with pytest.raises(ValueError, match="compute like the one.*versions keras .*not '1.0'"):
            adopt(there)

    def test_another_backend_is_refused(self):
        with pytest.raises(ValueError, match="backend .*not 'theano'"):
            adopt({**environment(), "backend": "theano"})

    def test_what_cannot_be_set_is_refused(self):
        there = environment()
        there["settings"] = {**there["settings"], "distribution": ["DataParallel", [2]]}
        with pytest.raises(ValueError, match="settings distribution None, not .'DataParallel'"):
            adopt(there)

    def test_variables_are_set_and_removed(self, monkeypatch):
        monkeypatch.setenv("MKL_CBWR", "AVX2")
        there = environment()
        monkeypatch.delenv("MKL_CBWR")
        here = environment()
        adopt(there)
        assert os.environ["MKL_CBWR"] == "AVX2"
        adopt(here)
        assert "MKL_CBWR" not in os.environ

    def test_a_stage(self, tmp_path, run_eagerly):
        """As in a worker process, which begins with the defaults of Keras."""
        cache = csdl.StageCache(tmp_path)
        trainer = make_trainer(cache=cache)
        with process_with(image_data_format="channels_first"):
            (recipe,) = trainer._members("csdnn", MATRICES[0], None)
        here = environment()
        try:
            description = recipe.describe_pretraining()
            _run_alone(trainer._stages, "pretraining", recipe, description, [])
            assert keras.config.image_data_format() == "channels_first"
        finally:
            adopt(here)
        (other,) = trainer._members("csdnn", MATRICES[0], None)
        assert description in cache and other.describe_pretraining() not in cache


def outputs(**arguments):
    model = make_trainer(**arguments).train("dnn_sosr", MATRICES[0], ensemble=2).model
    return model.predict(DATA.x_test, verbose=0)


@pytest.mark.filterwarnings("ignore:Limiting steps_per_epoch to 1")
def test_worker_processes_have_the_settings(tried):
    """All settings of Keras at once; each that is left out would show."""
    values = {"image_data_format": "channels_first", "epsilon": 1e-3, "max_steps_per_epoch": 1}
    before = outputs()
    with process_with(**values):
        one, several = outputs(), outputs(jobs=2)
    np.testing.assert_allclose(several, one, rtol=1e-4, atol=1e-5)
    assert np.abs(one - before).max() > 1e-3
    tried("settings in worker processes", len(values))


def test_settings_that_change_before_the_training(run_eagerly):
    trainer = make_trainer(cache=csdl.StageCache())
    results = trainer.train_all([("dnn_blind", MATRICES[0]), ("dnn_sosr", MATRICES[0])])
    next(results)
    with (
        process_with(image_data_format="channels_first"),
        pytest.raises(ValueError, match="to stay as they were when training was asked for"),
    ):
        next(results)


def test_a_cache_filled_under_another_image_data_format(run_eagerly, tmp_path):
    for cache in (csdl.StageCache(), csdl.StageCache(tmp_path)):
        first = make_trainer(cache=cache).train("dnn_blind", MATRICES[0]).model
        with process_with(image_data_format="channels_first"):
            expected = make_trainer().train("dnn_blind", MATRICES[0]).model
            found = make_trainer(cache=cache).train("dnn_blind", MATRICES[0]).model
        assert_same_weights(found, expected)
        assert_same_weights(make_trainer(cache=cache).train("dnn_blind", MATRICES[0]).model, first)
