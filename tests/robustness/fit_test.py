"""What goes into `fit` or comes after it refuses what it documents; nothing is trained here."""

import importlib
import pathlib

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.models import BayesClassifier
from tests.robustness.containers import contained
from tests.robustness.no_training import no_training
from tests.robustness.rows import Row, named, table_tests
from tests.robustness.samples import amounts, examples, inputs, matrix, probabilities, vectors

CLASSIFIER = csdl.models.mlp((3,), 3, (4,), seed=0)
COSTS = csdl.models.mlp((3,), 3, (4,), output="cost", seed=0)
LOGITS = keras.Sequential([keras.Input((3,)), keras.layers.Dense(3)])
BATCHES = csdl.ShuffledBatches(np.ones((4, 3)))
WIDTH = 3


class WritesError(Exception):
    """Raised where a file would be written."""


def writes(*_, **__):
    raise WritesError


@pytest.fixture(autouse=True, scope="module")
def neither_trains_nor_writes(tmp_path_factory):
    def predict(self, x, **_):
        """Probabilities at once: what Keras does in between takes most of the time."""
        return np.full((len(x), 3), 1 / 3)

    with pytest.MonkeyPatch.context() as patch, no_training():
        patch.chdir(tmp_path_factory.mktemp("folder"))
        patch.setattr(BayesClassifier, "predict", predict)
        module = importlib.import_module("csdl_keras.prediction.export")
        patch.setattr(module, "write_artifact", writes)
        patch.setattr(module, "_write_in_process", writes)
        yield
    keras.utils.clear_session()


def batch(**given):
    """The first batch of the second epoch."""
    batches = csdl.ShuffledBatches(**given)
    batches.epoch = 1
    batches.fingerprint()
    return list(batches[0])


def exported(**given):
    try:
        csdl.export(**given)
    except WritesError:
        return "written"
    raise AssertionError("neither refused nor written")


class Direct(keras.Model):
    """A model that predicts at once: what Keras does in between takes most of the time."""

    def predict(self, x, **_):
        return keras.ops.convert_to_numpy(self(np.asarray(x, "float32")))


def identity(model=keras.Model, width=WIDTH):
    """A model that outputs its inputs, so that the inputs say what the outputs are."""
    x = keras.Input((width,))
    return model(x, keras.layers.Identity()(x))


MANY = 10**400
ROWS = {
    "ShuffledBatches": Row(
        csdl.ShuffledBatches,
        lambda rng, k: (
            {"x": inputs(rng, 5), "y": rng.integers(k, size=5), "sample_weight": np.ones(5)}
            | {"batch_size": 2, "seed": 3, "steps_per_epoch": 4}
        ),
        (
            ({"x": np.ones((0, 3)), "y": None, "sample_weight": None}, "Expected"),
            ({"y": [0, 1]}, "Expected"),
            ({"y": None}, "Expected"),
            ({"sample_weight": np.ones(4)}, "Expected"),
            *named(batch_size=[0, MANY], seed=[MANY], steps_per_epoch=[0]),
        ),
        ({"sample_weight": None, "steps_per_epoch": None}, {"y": None, "sample_weight": None}),
        call=batch,
        containers=("polars", "pandas, shuffled index", "backwards"),
    ),
    "Resume": Row(
        csdl.Resume,
        lambda rng, k: (
            {"path": pathlib.Path("state.npz"), "batches": BATCHES, "seconds": 0.5}
            | {"callbacks": [keras.callbacks.History()]}
        ),
        (*named(path=[3, "."], batches=[np.ones((4, 3))], callbacks=[[3]], seconds=[-0.5]),),
        ({"path": "state.npz", "callbacks": ()},),
        call=lambda **given: csdl.Resume(**given).seconds,
    ),
    "RaiseOnDivergence": Row(
        csdl.RaiseOnDivergence,
        lambda rng, k: {"what": "a network"},
        also=({"what": None},),
        call=lambda what: csdl.RaiseOnDivergence(what).what,
    ),
    "StageCache": Row(
        csdl.StageCache,
        lambda rng, k: {"folder": "cache"},
        also=({"folder": None}, {"folder": pathlib.Path("cache")}),
        call=lambda folder: str(csdl.StageCache(folder).folder),
    ),
    "calibrate": Row(
        csdl.calibrate,
        lambda rng, k: (
            {"model": CLASSIFIER, "method": "temperature", "from_logits": False}
            | dict(zip(("x_val", "y_val"), examples(rng, 3), strict=True))
            | {"batch_size": 2, "spread": 1.0, "sample_weight": np.ones(6)}
        ),
        (
            ({"model": None}, "keras.Model"),
            ({"x_val": np.ones((6, 4))}, "of shape"),
            ({"y_val": [0, 1, 2], "sample_weight": None}, "for each of"),
            ({"y_val": [0, 1, 2, 3, 0, 1]}, "below 3"),
            ({"from_logits": True}, "outputs probabilities"),
            ({"sample_weight": np.ones(5)}, r"`sample_weight` of shape \(6,\)"),
            ({"sample_weight": np.zeros(6)}, "`sample_weight` above 0"),
            ({"sample_weight": -np.ones(6)}, "at least 0"),
            *named(method=["platt"], spread=[1e-7, 1e7]),
        ),
        (
            {"x_val": np.ones((6, 3), bool), "batch_size": None, "spread": None},
            {"sample_weight": None},
        ),
        call=lambda **given: csdl.calibrate(**given).name,
    ),
    "adjust_priors": Row(
        csdl.adjust_priors,
        lambda rng, k: (
            {"model_or_probabilities": probabilities(rng, 5, k), "from_logits": False}
            | {name: 0.25 + vectors(rng, k) for name in ("from_priors", "to_priors")}
        ),
        (
            ({"model_or_probabilities": np.full((5, 3), 0.5)}, "to sum to 1"),
            ({"model_or_probabilities": np.full(5, 1.5)}, r"to lie in \[0, 1\]"),
            ({"from_priors": [1, 0, 1]}, "above 0"),
            ({"from_logits": True}, "received both"),
            *named(from_priors=[[1, 1], [1, 1, np.nan]], to_priors=[[1, 1], [0, 0, 0], [1, 1, -1]]),
        ),
        ({"to_priors": [1, 0, 0]},),
    ),
    "export": Row(
        csdl.export,
        lambda rng, k: (
            {"model": CLASSIFIER, "path": "a.tflite", "format": "litert"}
            | {"output": "probability", "from_logits": False, "cost_matrix_input": False}
        ),
        (
            ({"model": None}, "keras.Model"),
            ({"path": "a.onnx"}, "ends in '.tflite'"),
            ({"format": "pdf"}, "`format`"),
            ({"output": "cost"}, "received"),
            ({"from_logits": True}, "outputs probabilities"),
        ),
        ({"output": None}, {"cost_matrix_input": True}, {"model": LOGITS, "from_logits": True}),
        call=exported,
    ),
    "decide": Row(
        csdl.decide,
        lambda rng, k: ({"model": identity(Direct), "x": amounts(rng, 5, WIDTH), "output": "cost"}),
        (
            *(({"model": model}, "keras.Model or a CSOSR") for model in (None, "model", 3)),
            *(({"x": np.zeros(shape)}, "`x` of") for shape in ((4, 2), (4, 3, 2), (3,), (0, 3))),
            ({"x": np.full((2, 3), np.nan)}, "without NaN"),
            ({"output": "logits"}, "`output`"),
        ),
        ({"x": np.ones((4, 3), bool)}, {"x": np.ones((4, 3, 1))}),
        free=("batch_size", "verbose", "costs", "labels"),
    ),
    "decide, costs": Row(
        csdl.decide,
        lambda rng, k: (
            {"model": identity(Direct), "x": probabilities(rng, 5, WIDTH), "output": "probability"}
            | {"costs": matrix(rng, WIDTH, 4)}
        ),
        (
            *(({"model": model}, "keras.Model or a CSOSR") for model in (None, "model", 3)),
            (
                {"model": csdl.models.mlp((3,), 3, (4,), output="cost"), "output": None},
                "inside|for `costs`",
            ),
            ({"x": np.ones((4, 3))}, "sum to 1"),
            ({"costs": np.ones((5, 3))}, "diagonal|received"),
            ({"costs": -np.ones((5, 3, 4))}, "at least 0"),
            ({"costs": np.ones((4, 3, 4))}, "each of 5 examples"),
            ({"costs": np.ones((5, 2, 4))}, "each of 3 classes"),
            ({"costs": csdl.costs.AffineCosts([1.0], np.ones((3, 4)))}, "each of 5 examples"),
        ),
        ({"costs": np.ones((5, 3, 4))}, {"costs": np.ones((5, 3, 4), int)}),
        free=("batch_size", "verbose", "labels"),
    ),
}
TestTable = table_tests(ROWS, large=False)


class TestDecide:
    @pytest.mark.filterwarnings("ignore:The structure of `inputs` doesn't match")
    def test_what_keras_takes(self, run_eagerly):
        model, rows = identity(), amounts(np.random.default_rng(0), 4, WIDTH)
        tensor = keras.ops.convert_to_tensor(rows, "float32")
        held = [contained(rows, kind) for kind in ("list", "pandas", "polars", "f2", "strided")]
        for x in (tensor, [rows], [tensor], *held):
            np.testing.assert_array_equal(csdl.decide(model, x, "cost"), rows.argmin(axis=1))
