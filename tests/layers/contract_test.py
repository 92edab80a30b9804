"""The contract of every layer: values, symbolic shapes, config, weights, mixed precision."""

from collections.abc import Callable
from typing import Any, NamedTuple

import keras
import numpy as np
import pytest
from keras import tree

from csdl_keras import CAE, layers
from tests.layers import caffe_loops, image_loops
from tests.support.testing import JIT_COMPILE, MIXED_POLICIES, TestCase, dtype_policy

RNG = np.random.default_rng(0)
MATRIX = np.array([[0.0, 1.0, 4.0, 0.75], [9.0, 0.0, 2.0, 0.75], [0.5, 7.0, 0.0, 0.75]])
P = RNG.dirichlet(np.ones(3), 5).astype("float32")
ONE = RNG.uniform(size=(5, 1)).astype("float32")
X = RNG.normal(size=(5, 4)).astype("float32")
IMAGES = RNG.normal(size=(5, 7, 6, 2)).astype("float32")
TABLE = np.where(np.arange(4) == 2, np.arange(200)[:, None] % 3, RNG.normal(size=(200, 4)))
TABLE[::9, 3] = np.nan
BIAS = np.array([0.5, -1.0, 2.0])
SCALING = np.array([[1.0, 0.2, 0.0], [-0.3, 0.5, 0.0], [0.0, 0.1, 2.0]])
KERNEL = RNG.normal(size=(2, 2, 2, 2)).astype("float32")
COSTS = RNG.uniform(0, 9, size=(5, 3, 4)).astype("float32")


def normalized(powers):
    return powers / powers.sum(axis=-1, keepdims=True)


class Case(NamedTuple):
    """A layer, its inputs, and its outputs by NumPy; or their shapes, if they are random."""

    make: Callable[[], keras.layers.Layer]
    inputs: np.ndarray
    expected: Any
    second: tuple[np.ndarray, ...] = ()

    @property
    def arrays(self) -> list[np.ndarray]:
        return [self.inputs, *self.second]


CASES = {
    "BayesDecision": Case(lambda: layers.BayesDecision(MATRIX), P, P @ MATRIX),
    "BayesDecision, costs": Case(
        lambda: layers.BayesDecision(num_classes=3, num_decisions=4),
        P,
        np.array([[sum(P[n] * COSTS[n, :, k]) for k in range(4)] for n in range(5)]),
        (COSTS,),
    ),
    "BiasCorrected": Case(
        lambda: layers.BiasCorrectedTemperatureScaling(0.25, BIAS),
        P,
        normalized(P.astype("float64") ** 4 * np.exp(BIAS)),
    ),
    "MatrixScaling": Case(
        lambda: layers.MatrixScaling(SCALING, BIAS, floor=0.1),
        P,
        normalized(np.exp(np.log(np.maximum(P.astype("float64"), 0.1)) @ SCALING + BIAS)),
    ),
    "MatrixScaling, nothing given": Case(layers.MatrixScaling, P, P),
    "TemperatureScaling": Case(
        lambda: layers.TemperatureScaling(3.0), P, normalized(P.astype("float64") ** (1 / 3))
    ),
    "CAE": Case(lambda: CAE(6, 3), X, {"reconstruction": (5, 4), "cost": (5, 3)}),
    "CAE, tied": Case(lambda: CAE(6, 3, tied=True), X, {"reconstruction": (5, 4), "cost": (5, 3)}),
    "CaffePooling2D, max": Case(
        lambda: layers.CaffePooling2D("max"), IMAGES, caffe_loops.pool(IMAGES, "max")
    ),
    "CaffePooling2D, average": Case(
        lambda: layers.CaffePooling2D("average", 4, 3),
        IMAGES,
        caffe_loops.pool(IMAGES, "average", 4, 3),
    ),
    "ClassCosts": Case(lambda: layers.ClassCosts(MATRIX), X, (5, 3, 4)),
    "ClassCosts, rank": Case(lambda: layers.ClassCosts(MATRIX, rank=2), X, (5, 3, 4)),
    "ClassProbabilities": Case(layers.ClassProbabilities, P, P),
    "ClassProbabilities, one": Case(layers.ClassProbabilities, ONE, np.hstack([1 - ONE, ONE])),
    "ClassProbabilities, logits": Case(
        lambda: layers.ClassProbabilities(from_logits=True), X, normalized(np.exp(X))
    ),
    "CostOutput": Case(lambda: layers.CostOutput(3), X, (5, 3)),
    "Decision": Case(layers.Decision, X, X.argmin(axis=1)),
    "Decision, probability": Case(lambda: layers.Decision("probability"), P, P.argmax(axis=1)),
    "InverseLink, log": Case(lambda: layers.InverseLink("log", 0.25), X, 4 * np.exp(X)),
    "InverseLink, logit": Case(lambda: layers.InverseLink("logit"), X, 1 / (1 + np.exp(-X))),
    "MaskingNoise": Case(lambda: layers.MaskingNoise(0.5, seed=1), X, X),
    "MemberMean": Case(layers.MemberMean, IMAGES, IMAGES.mean(axis=1)),
    "MemberScaling": Case(lambda: layers.MemberScaling(6, seed=1), X, (5, 6, 4)),
    "PriorAdjustment": Case(
        lambda: layers.PriorAdjustment([1, 2, 5], [0.3, 0.0, 0.7]),
        P,
        normalized(P.astype("float64") * np.array([0.3 / 1, 0.0, 0.7 / 5])),
    ),
    "ImageViews": Case(lambda: layers.ImageViews(1, flip=True), IMAGES, image_loops.views(IMAGES)),
    "RandomAffine": Case(lambda: layers.RandomAffine(0.2, 30, 0.2, True), IMAGES, IMAGES),
    "StandardizedConv2D": Case(
        lambda: layers.StandardizedConv2D(
            2, 2, activation="relu", kernel_initializer=keras.initializers.Constant(KERNEL.tolist())
        ),
        IMAGES,
        image_loops.standardized_convolution(IMAGES, KERNEL),
    ),
    "ViewMean": Case(lambda: layers.ViewMean(5), IMAGES, IMAGES.mean(axis=0, keepdims=True)),
    "RandomShift": Case(lambda: layers.RandomShift(0.2, 0.2, seed=0), IMAGES, IMAGES),
    "TableEncoding": Case(lambda: layers.TableEncoding.adapted(TABLE, [0, 0, 3, 0], 5), X, (5, 22)),
    "WithinChannelLRN": Case(
        lambda: layers.WithinChannelLRN(5, 1.0),
        IMAGES,
        caffe_loops.within_channel_lrn(IMAGES, 5, 1.0),
    ),
}
# Those of rows on pixels, each of which is an example.
ROWS = (
    *("BayesDecision", "BiasCorrected", "MatrixScaling", "PriorAdjustment", "Decision"),
    *("ClassProbabilities, one", "ClassProbabilities, logits", "CostOutput", "InverseLink, log"),
)
PLACES = RNG.integers(5, size=(5, 2, 3))
for name in ROWS:
    case = CASES[name]
    random = not isinstance(case.expected, np.ndarray)
    expected = (5, 2, 3, *case.expected[1:]) if random else case.expected[PLACES]
    CASES[f"{name}, pixels"] = Case(case.make, case.inputs[PLACES], expected)


def shapes(outputs: Any) -> Any:
    return tree.map_structure(lambda tensor: tuple(tensor.shape), outputs)


def dtypes(outputs: Any) -> Any:
    return tree.map_structure(lambda t: keras.backend.standardize_dtype(t.dtype), outputs)


class TestContract(TestCase):
    @pytest.mark.parametrize("case", CASES.values(), ids=CASES)
    def test_layer(self, case):
        layer = case.make()
        outputs = layer(*case.arrays)
        self.assertFinite(outputs)
        if isinstance(case.expected, np.ndarray):
            self.assertAllClose(outputs, case.expected)
        else:
            assert shapes(outputs) == case.expected
        symbolic = case.make()(*(keras.Input(batch_shape=it.shape) for it in case.arrays))
        assert (shapes(symbolic), dtypes(symbolic)) == (shapes(outputs), dtypes(outputs))

        twin = self.run_config_round_trip(layer)
        twin(*case.arrays)
        twin.set_weights(layer.get_weights())
        self.assertAllClose(twin(*case.arrays), outputs)
        for policy in MIXED_POLICIES:
            with dtype_policy(policy):
                mixed = case.make()(*case.arrays)
            assert shapes(mixed) == shapes(outputs)
            self.assertFinite(mixed)

    def test_predict_of_all(self):
        """One model of all layers, compiled, and with batches of another size."""
        # Views of an image are next to each other in none of the batches.
        cases = {name: it for name, it in CASES.items() if name not in ("ImageViews", "ViewMean")}
        made = {name: case.make() for name, case in cases.items()}
        inputs = {
            f"input_{index}_{place}": array
            for index, case in enumerate(cases.values())
            for place, array in enumerate(case.arrays)
        }
        ends = {name: keras.Input(array.shape[1:], name=name) for name, array in inputs.items()}
        outputs = {
            name: made[name](*(ends[f"input_{index}_{place}"] for place in range(len(case.arrays))))
            for index, (name, case) in enumerate(cases.items())
        }
        model = keras.Model(ends, outputs)
        model.compile(jit_compile=JIT_COMPILE)
        found = model.predict(inputs, batch_size=2, verbose=0)
        for name, case in cases.items():
            self.assertAllClose(found[name], made[name](*case.arrays))


@pytest.mark.parametrize(
    "make",
    [
        lambda: layers.BayesDecision([[0.0, 70000.0], [1001.0, 0.0]]),
        lambda: layers.ClassProbabilities(),
        lambda: layers.CostOutput(3, bias_initializer="ones"),
        lambda: layers.InverseLink(),
        lambda: layers.PriorAdjustment([1.0, 1e-3], [1.0, 1.0]),
        lambda: layers.MatrixScaling([[0.5, 1.001], [0.0, 0.5]]),
        lambda: layers.TemperatureScaling(2.0),
    ],
)
@pytest.mark.parametrize("policy", ["mixed_bfloat16", "float16"])
def test_heads_compute_in_float32_under_16_bit_policies(make, policy):
    """70000 overflows float16, and 1001 needs more digits than bfloat16 has."""
    inputs = np.array([[0.1001, 0.8999], [1.0, 0.0]], "float32")
    expected = make()
    found = expected(inputs)
    with dtype_policy(policy):
        layer = make()
        layer(inputs)
        layer.set_weights(expected.get_weights())
        outputs = layer(inputs)
    assert layer.variable_dtype == dtypes(outputs) == "float32"
    TestContract().assertAllClose(outputs, found, atol=1e-6)
    assert make().from_config({**layer.get_config(), "dtype": "float64"}).dtype == "float64"
