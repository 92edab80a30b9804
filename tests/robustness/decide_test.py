"""`decide` and `decisions` with right and wrong arguments of every kind."""

import keras
import numpy as np
import pytest

from csdl_keras.prediction.decide import decide, decisions
from tests.robustness.containers import CONTAINERS, contained
from tests.robustness.costs_cases import amounts
from tests.robustness.documented import array_of_numbers, is_flags
from tests.robustness.outcome import Case
from tests.robustness.properties import container_tests, robustness_tests

WIDTH = 3
# A list of arrays is a list of inputs.
HELD = set(CONTAINERS) - {"list of rows"}


def lowest(rows):
    """The first index that no later one beats, one comparison at a time."""
    chosen = []
    for row in rows:
        best = 0
        for k in range(1, len(row)):
            best = k if row[k] < row[best] else best
        chosen.append(best)
    return np.array(chosen)


def is_table(x):
    """`(N, D)` without NaN."""
    array = array_of_numbers(x)
    return array is not None and array.ndim == 2 and array.size > 0 and not np.isnan(array).any()


def highest(rows):
    rows = np.asarray(rows).tolist()
    if len(rows[0]) == 1:
        return np.array([int(row[0] > 0.5) for row in rows])
    return lowest([[-cost for cost in row] for row in rows])


class Direct(keras.Model):
    """A model that predicts at once: what Keras does in between takes most of the time."""

    def predict(self, x, **_):
        with np.errstate(over="ignore"):  # inputs that float32 does not hold become infinite
            x = np.asarray(x, "float32")
        return keras.ops.convert_to_numpy(self(x))


def identity(model=keras.Model, width=WIDTH):
    """A model that outputs its inputs, so that the inputs say what the outputs are."""
    x = keras.Input((width,))
    return model(x, keras.layers.Identity()(x))


DIRECT = identity(Direct)


def inputs(x):
    """The `(N, 3)` that Keras makes of `x`, or `None`: it drops a last axis of one element."""
    array = np.asarray(x) if is_flags(x) else array_of_numbers(x)
    if array is None:
        return None
    if array.ndim == 3 and array.shape[-1] == 1:
        array = array[..., 0]
    right = array.ndim == 2 and array.shape[1] == WIDTH and len(array) and not np.isnan(array).any()
    return array if right else None


CASES = {
    "cost": Case(
        lambda x: decisions(x, "cost"),
        lambda rng, k: (amounts(rng, 5, k),),
        lambda x: is_table(x),
        lambda x: lowest(np.asarray(x).tolist()),
    ),
    "probability": Case(
        lambda x: decisions(x, "probability"),
        lambda rng, k: (amounts(rng, 5, k - 1),),
        lambda x: is_table(x),
        highest,
    ),
    "kind": Case(
        decisions,
        lambda rng, k: (amounts(rng, 5, k), "cost"),
        lambda x, kind: is_table(x) and str(kind) == "cost",
        lambda x, kind: lowest(np.asarray(x).tolist()),
    ),
    "decide": Case(
        lambda x, output: decide(DIRECT, x, output),
        lambda rng, k: (amounts(rng, 5, WIDTH), "cost"),
        lambda x, output: inputs(x) is not None and str(output) == "cost",
        lambda x, output: lowest(np.asarray(inputs(x)).astype("f4")),
    ),
}


TestRobustness = robustness_tests(CASES)
test_containers = container_tests(CASES, containers=HELD)


class TestModels:
    @pytest.mark.parametrize("model", [None, "model", 3, np.zeros(3)])
    def test_no_model(self, model):
        with pytest.raises(ValueError, match="^Expected `model` to be a keras.Model or a CSOSR"):
            decide(model, np.zeros((2, WIDTH)))

    def test_what_keras_takes(self, run_eagerly):
        model, rows = identity(), amounts(np.random.default_rng(0), 4, WIDTH)
        tensor = keras.ops.convert_to_tensor(rows, "float32")
        for x in (tensor, [rows], [tensor], *(contained(rows, kind) for kind in sorted(HELD))):
            np.testing.assert_array_equal(decide(model, x, "cost"), lowest(rows))

    def test_last_axis_of_one_element(self):
        """A last axis of one element may be there or not."""
        model, rows = identity(width=1), np.array([[0.25], [0.75]])
        for x in (rows, rows[:, 0], rows[..., None]):
            assert decide(model, x, "probability").tolist() == [0, 1]

    def test_more_examples_than_a_batch(self):
        x = keras.Input(batch_shape=(2, WIDTH))
        model, rows = keras.Model(x, keras.layers.Identity()(x)), np.eye(WIDTH)[[0, 1, 2, 0]]
        decided = decide(model, rows, "probability", batch_size=2)
        assert decided.tolist() == [0, 1, 2, 0]

    @pytest.mark.parametrize("shape", [(4, 2), (4, 3, 2), (3,), (0, 3)])
    def test_other_shapes(self, shape):
        with pytest.raises(ValueError, match=r"^Expected `x` of .*received shape"):
            decide(DIRECT, np.zeros(shape), "cost")

    def test_the_kernel_machine(self):
        svm = pytest.importorskip("csdl_keras.baselines").CSOSR()
        rng = np.random.default_rng(0)
        x, costs = rng.normal(size=(20, 4)), rng.uniform(size=(20, 3))
        svm.fit(x, costs)
        decided = decide(svm, x.reshape(20, 2, 2))
        np.testing.assert_array_equal(decided, svm.predict(x))
        np.testing.assert_array_equal(decide(svm, x.tolist()), decided)
        for wrong in (
            None,
            [[1], [1, 2]],
            x[:0],
            x.astype(str),
            x[:, :2],
            np.where(x > 1, np.nan, x),
        ):
            with pytest.raises(ValueError, match="^Expected"):
                decide(svm, wrong)
