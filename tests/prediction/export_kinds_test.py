"""Artifacts of every kind of classifier answer as Keras does, in all three runtimes."""

import keras
import numpy as np
import pytest
from keras import layers

import csdl_keras as csdl
from csdl_keras.models import bayes_classifier, ensemble, serving_model
from csdl_keras.prediction.export import float32_model
from tests.support.artifacts import OPENERS, PATHS
from tests.support.small_models import functional, inputs, randomized
from tests.support.testing import dtype_policy, to_numpy

pytestmark = pytest.mark.skipif(
    keras.backend.backend() != "tensorflow",
    reason="another backend exports by the same code, in a process that takes far longer to start",
)
MATRIX = np.array([[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]])
WITH_ABSTAIN = csdl.costs.with_abstain(MATRIX, 0.75)
NEW = np.array([[0, 3, 1, 0.5], [1, 0, 6, 0.5], [2, 2, 0, 0.1]], "float32")
X = inputs(200)
KNOWN = np.random.default_rng(0).uniform(0, 9, size=(200, 3, 4)).astype("float32")
NOISE = np.random.default_rng(0).normal(size=(200, 8, 9, 2))
IMAGES = (NOISE + 3 * NOISE[:, :1, :1]).astype("float32")
TOKENS = np.random.default_rng(0).integers(20, size=(200, 6)).astype("int32")


def softmax():
    return functional([layers.Dense(5, "tanh"), layers.Dense(3, "softmax")])


def calibrated():
    model = ensemble([softmax() for _ in range(2)])
    labels = np.where(np.arange(200) % 4, csdl.decide(model, X), 0)
    return csdl.calibrate(model, X, labels, method="bias_corrected")


def two_inputs():
    ends = [keras.Input((3,), name="left"), keras.Input((3,), name="right")]
    outputs = layers.Dense(3, "softmax")(layers.Concatenate()(ends))
    return bayes_classifier(randomized(keras.Model(ends, outputs)), WITH_ABSTAIN)


def tokens():
    ends = keras.Input((6,), dtype="int32")
    x = layers.GlobalAveragePooling1D()(layers.Embedding(20, 4, mask_zero=True)(ends))
    return randomized(keras.Model(ends, layers.Dense(1, "sigmoid")(x)))


def of_pixels():
    ends = keras.Input((8, 9, 2))
    return bayes_classifier(
        randomized(keras.Model(ends, layers.Conv2D(3, 3, activation="softmax")(ends))), WITH_ABSTAIN
    )


# The model, its inputs by name, and arguments of `export`.
KINDS = {
    "calibrated": (lambda: bayes_classifier(calibrated(), WITH_ABSTAIN), {"inputs": X}, {}),
    "two inputs and prices": (
        two_inputs,
        {"left": X, "right": X[::-1].copy(), "cost_matrix": NEW},
        {"cost_matrix_input": True},
    ),
    "costs known when deciding": (
        lambda: bayes_classifier(softmax(), cost_input=True, num_decisions=4),
        {"inputs": X, "cost_matrix": KNOWN},
        {},
    ),
    "tokens": (tokens, {"inputs": TOKENS}, {}),
    "pixels": (of_pixels, {"inputs": IMAGES}, {}),
}


def check_decisions(found, expected, clear):
    """Decisions are alike where they are clear, as most are, and not all the same."""
    assert clear.mean() > 0.4 and len(np.unique(expected[clear])) > 1
    np.testing.assert_array_equal(found[clear], expected[clear])


@pytest.mark.parametrize("kind", KINDS)
def test_same_answers_as_keras(tmp_path, kind):
    make, arrays, arguments = KINDS[kind]
    model = make()
    served = float32_model(serving_model(model, **arguments))
    asked = arrays if len(arrays) > 1 else arrays["inputs"]
    expected = {name: to_numpy(value) for name, value in served(asked).items()}
    lowest = np.sort(expected["costs"], axis=-1)
    clear = lowest[..., 1] - lowest[..., 0] > 1e-5
    assert clear.mean() > 0.9
    (tmp_path / PATHS["savedmodel"]).mkdir()  # an empty folder may be there
    for format, name in PATHS.items():
        csdl.export(model, tmp_path / name, format, **arguments)
        artifact = OPENERS[format](tmp_path / name)
        assert set(artifact.inputs) == set(arrays)
        for size in (1, 200):
            batch = {it: x if x is NEW else x[:size] for it, x in arrays.items()}
            found = artifact(batch)
            assert set(found) == {"decision", "costs"}
            assert (found["decision"].dtype, found["costs"].dtype) == (np.int32, np.float32)
            np.testing.assert_allclose(
                found["costs"], expected["costs"][:size], rtol=1e-5, atol=1e-5
            )
        check_decisions(found["decision"], expected["decision"], clear)
    assert {path.name for path in tmp_path.iterdir()} == {*PATHS.values(), "model.bin"}


@pytest.mark.parametrize(("policy", "dtype"), [("float64", "uint8"), ("mixed_float16", "float16")])
def test_dtypes_of_layers_and_inputs(tmp_path, policy, dtype):
    with dtype_policy(policy):
        ends = keras.Input((3,), dtype=dtype)
        scale = layers.Normalization()
        hidden = layers.Dense(5, "tanh")(scale(ends))
        model = randomized(keras.Model(ends, layers.Dense(3, "softmax")(hidden)))
        scale.adapt(np.abs(4 * X))
        careful = bayes_classifier(model, MATRIX)
    x = np.abs(np.rint(4 * X)).astype(dtype)
    expected = {
        "costs": to_numpy(careful(x)).astype("float64"),
        "decision": csdl.decide(careful, x),
    }
    # 16 bits tell numbers apart that differ by a part of a hundred or so.
    apart = 1e-4 if policy == "float64" else 0.1
    lowest = np.sort(expected["costs"], axis=1)
    clear = lowest[:, 1] - lowest[:, 0] > apart
    for format, name in PATHS.items():
        csdl.export(careful, tmp_path / name, format)
        given = x if dtype == "uint8" else x.astype("float32")
        found = OPENERS[format](tmp_path / name)({"inputs": given})
        np.testing.assert_allclose(found["costs"], expected["costs"], atol=apart / 2)
        check_decisions(found["decision"], expected["decision"], clear)


def test_ties_and_values_that_are_no_numbers(tmp_path):
    """The model outputs its inputs, all rows of four costs among three."""
    rows = np.stack(np.meshgrid(*4 * [[0.0, 1.0, 2.0]]), axis=-1).reshape(-1, 4)
    special = [[np.inf] * 4, [np.inf, 3, 3, np.inf], [1, np.nan, 0, 0], [np.nan] * 4]
    rows = np.concatenate([rows, special]).astype("float32")
    expected = np.where(np.isnan(rows).any(axis=1), -1, rows.argmin(axis=1))
    ends = keras.Input((4,))
    model = keras.Model(ends, layers.Identity()(ends))
    for format, name in PATHS.items():
        if format == "openvino":
            continue  # It names this output "inputs", and its smallest of infinities is finite.
        csdl.export(model, tmp_path / name, format, output="cost")
        found = OPENERS[format](tmp_path / name)({"inputs": rows})
        np.testing.assert_array_equal(found["decision"], expected)
        np.testing.assert_array_equal(found["costs"], rows)


def test_one_matrix_for_a_batch_wrong_costs_and_ties(tmp_path):
    """Of a model that takes a matrix for each example."""
    model = softmax()
    careful = bayes_classifier(model, cost_input=True, num_decisions=4)
    p = model.predict(X, verbose=0)
    known = KNOWN.copy()
    known[3, 1, 2], known[4, 0, 0], known[5, 2, 3], known[6] = np.nan, np.inf, -1.0, 2.0
    for format, name in PATHS.items():
        csdl.export(careful, tmp_path / name, format)
        artifact = OPENERS[format](tmp_path / name)
        found = artifact({"inputs": X, "cost_matrix": NEW[None]})
        np.testing.assert_allclose(found["costs"], p @ NEW, rtol=1e-5, atol=1e-5)
        found = artifact({"inputs": X, "cost_matrix": known})
        assert np.flatnonzero(found["decision"] == -1).tolist() == [3, 4, 5]
        assert np.flatnonzero(np.isnan(found["costs"]).any(axis=1)).tolist() == [3, 4, 5]
        assert found["decision"][6] == 0
