"""Settings of the process that change results: all are in keys, and workers adopt them."""

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
from tests.support.trainers import MATRICES, make_trainer, outputs

#: Settings that change what is printed and what errors look like, but no result.
IRRELEVANT = {"is_interactive_logging_enabled", "is_traceback_filtering_enabled"}
#: Setters whose names do not follow from what they set.
SETTERS = {
    f"{verb}_{thing}": f"is_{thing}_enabled"
    for verb in ("enable", "disable")
    for thing in ("flash_attention", "interactive_logging", "traceback_filtering")
}
#: Another value of each setting that can be changed back.
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
    """Changes settings of the process inside the `with`."""
    before = environment()
    try:
        for name, value in values.items():
            settings()[name][1](value)
        yield
    finally:
        adopt(before)


def test_every_name_of_keras_config_is_classified():
    """A new name fails here until it is a setting or in `IRRELEVANT`."""
    names = {name for name in dir(keras.config) if not name.startswith("_")}
    setters = {name for name in names if name.startswith("set_")} | (SETTERS.keys() & names)
    getters = names - setters - {"enable_unsafe_deserialization"}
    assert getters <= settings().keys() | IRRELEVANT | {"backend"}
    for name in setters:
        assert SETTERS.get(name, name.removeprefix("set_")) in getters


class TestKeys:
    def test_every_stage_depends_on_the_environment(self, monkeypatch, tmp_path, tried):
        monkeypatch.delenv("MKL_CBWR", raising=False)
        before = all_keys(tmp_path)
        monkeypatch.setenv("MKL_CBWR", "AVX2")
        assert_all_differ(before, all_keys(tmp_path))
        monkeypatch.delenv("MKL_CBWR")
        with process_with(image_data_format="channels_first"):
            assert_all_differ(before, all_keys(tmp_path))
        assert all_keys(tmp_path) == before
        tried("environments in keys of stages", 2)

    def test_variables_of_the_environment(self, monkeypatch, tried):
        for name in VARIABLES:
            monkeypatch.delenv(name, raising=False)
        assert environment()["variables"] == {}
        for number, name in enumerate(VARIABLES):
            monkeypatch.setenv(name, str(number))
        assert environment()["variables"] == {name: str(i) for i, name in enumerate(VARIABLES)}
        tried("variables of the environment", len(VARIABLES))

    @pytest.mark.parametrize("name", sorted(CHANGED.keys() & settings().keys()))
    def test_a_setting(self, name, tried):
        before = environment()
        with process_with(**{name: CHANGED[name]}):
            assert environment()["settings"][name] == CHANGED[name] != before["settings"][name]
        assert environment() == before
        tried("settings of Keras and its backend, changed")

    def test_versions_and_the_backend(self, monkeypatch, tried):
        names = set(environment()["versions"])
        assert names == {"csdl_keras", "keras", "numpy", keras.backend.backend()}
        for name in names - {"csdl_keras"}:
            monkeypatch.setattr(_environment.importlib.import_module(name), "__version__", "0.0")
        monkeypatch.setattr(_environment, "__version__", "0.0")
        assert set(environment()["versions"].values()) == {"0.0"}
        monkeypatch.setattr(keras.backend, "backend", lambda: "numpy")
        assert environment()["backend"] == "numpy"
        tried("versions", len(names) + 1)

    @pytest.mark.skipif(keras.backend.backend() != "jax", reason="settings of JAX")
    def test_contexts_of_jax(self):
        import jax

        with jax.default_matmul_precision("bfloat16"):
            assert environment()["settings"]["jax_default_matmul_precision"] == "bfloat16"

    def test_variables_for_worker_processes(self, monkeypatch):
        """Variables that are set for worker processes change no key of the process itself."""
        before, variables = environment(), dict(os.environ)
        with workers(2):
            with workers(2):
                assert environment() == before
            assert environment() == before
        assert environment() == before and dict(os.environ) == variables
        monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", "another")
        own = environment()
        with workers(2):
            assert environment() == own != before


class TestAdopt:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"versions": {"keras": "1.0"}}, "compute like the one.*versions .*keras .*not '1.0'"),
            ({"backend": "theano"}, "backend .*not 'theano'"),
            (
                {"settings": {"distribution": ["DataParallel", [2]]}},
                "settings .*distribution None, not .'DataParallel'",
            ),
        ],
    )
    def test_what_cannot_be_set_is_refused(self, change, message):
        ((part, value),) = change.items()
        here = environment()
        other = value if part == "backend" else {**here[part], **value}
        with pytest.raises(ValueError, match=message):
            adopt({**here, part: other})

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
        """Runs as in a worker process, which begins with Keras' default settings."""
        cache = csdl.StageCache(tmp_path)
        trainer = make_trainer(cache=cache)
        with process_with(image_data_format="channels_first"):
            (recipe,) = trainer._members("csdnn", None, MATRICES[0])
        here = environment()
        try:
            description = recipe.describe_pretraining()
            _run_alone(trainer._stages, "pretraining", recipe, description, [])
            assert keras.config.image_data_format() == "channels_first"
        finally:
            adopt(here)
        (other,) = trainer._members("csdnn", None, MATRICES[0])
        assert description in cache and other.describe_pretraining() not in cache


@pytest.mark.filterwarnings("ignore:Limiting steps_per_epoch to 1")
@pytest.mark.slow
def test_worker_processes_have_the_settings():
    """All settings of Keras at once; each that is left out would show."""

    def trained(**arguments):
        return outputs(make_trainer(**arguments).train("dnn_sosr", MATRICES[0], ensemble=2).model)

    before = trained()
    with process_with(image_data_format="channels_first", epsilon=1e-3, max_steps_per_epoch=1):
        one, several = trained(), trained(jobs=2)
    np.testing.assert_allclose(several, one, rtol=1e-4, atol=1e-5)
    assert np.abs(one - before).max() > 1e-3


def test_settings_that_change_before_the_training(run_eagerly):
    trainer = make_trainer(cache=csdl.StageCache())
    results = trainer.train_all([("dnn_blind", MATRICES[0]), ("dnn_sosr", MATRICES[0])])
    next(results)
    with (
        process_with(image_data_format="channels_first"),
        pytest.raises(ValueError, match="to stay as they were when training was asked for"),
    ):
        next(results)
