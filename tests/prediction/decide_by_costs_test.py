"""Decisions by costs that are known for each example, of every kind of model."""

import gc
import weakref

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import layers

import csdl_keras as csdl
from csdl_keras import bayes_classifier, decide
from csdl_keras.costs import AffineCosts
from csdl_keras.layers import CostOutput
from csdl_keras.models import ensemble, expected_cost_model
from csdl_keras.prediction.probability_model import probability_model
from tests.prediction.known_costs import AFFINE, COSTS, MATRIX, PRICES, X, softmax
from tests.support.small_models import BUILDERS, Subclassed, Twice, functional, nested
from tests.support.testing import dtype_policy

pytestmark = pytest.mark.usefixtures("run_module_eagerly")
KINDS = {"matrix": PRICES, "each": COSTS, "float32": COSTS.astype("float32"), "affine": AFFINE}


def by_loop(probabilities: np.ndarray, costs) -> np.ndarray:
    """The decisions, one sum after another."""
    found = []
    for n, row in enumerate(probabilities.astype("float64")):
        if isinstance(costs, AffineCosts):
            matrix = costs.fixed + costs.amount[n] * costs.per_unit
        else:
            matrix = costs if np.ndim(costs) == 2 else costs[n]
        expected = [
            sum(row[y] * float(matrix[y][k]) for y in range(len(row)))
            for k in range(len(matrix[0]))
        ]
        found.append(expected.index(min(expected)))
    assert len(set(found)) > 1, "a test that every constant would pass"
    return np.array(found)


def two_columns(p):
    return np.hstack([1 - p, p])


def careful(model=None, matrix=MATRIX):
    return bayes_classifier(functional([softmax()]) if model is None else model, matrix)


def cost_model():
    body = functional([layers.Dense(5, "tanh")])
    return expected_cost_model(body, MATRIX, seed=1).cost_model()


class TestDecide:
    @pytest.mark.parametrize("costs", KINDS.values(), ids=KINDS)
    @pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
    def test_a_classifier(self, build, costs):
        model = build([softmax()])
        found = decide(model, X, costs=costs)
        np.testing.assert_array_equal(found, by_loop(model.predict(X, verbose=0), costs))
        assert (found.shape, found.dtype) == ((30,), np.int64)

    @pytest.mark.parametrize("costs", KINDS.values(), ids=KINDS)
    def test_instead_of_a_matrix_inside(self, costs):
        model = functional([softmax()])
        expected = by_loop(model.predict(X, verbose=0), costs)
        ends = keras.Input((3,))
        inner = keras.Model(ends, careful(model)(ends))
        for ending in (careful(model), inner, keras.Sequential([keras.Input((3,)), inner])):
            before = decide(ending, X)
            np.testing.assert_array_equal(decide(ending, X, costs=costs), expected)
            np.testing.assert_array_equal(decide(ending, X), before)

    def test_one_unit(self):
        binary = COSTS[:, :2, :2]
        for model in (
            functional([layers.Dense(1, "sigmoid")]),
            careful(functional([layers.Dense(1, "sigmoid")]), [[0, 1], [5, 0]]),
        ):
            p = functional([layers.Dense(1, "sigmoid")]).predict(X, verbose=0)
            np.testing.assert_array_equal(
                decide(model, X, costs=binary), by_loop(two_columns(p), binary)
            )

    def test_members_and_calibration(self, tmp_path):
        members = [functional([layers.Dense(4, "tanh"), softmax()]) for _ in range(2)]
        labels = np.where(np.arange(30) % 4, decide(members[0], X), 0)
        calibrated = csdl.calibrate(ensemble(members), X, labels)
        expected = by_loop(calibrated.predict(X, verbose=0), COSTS)
        model = careful(calibrated)
        model.save(tmp_path / "model.keras")
        for one in (calibrated, model, keras.saving.load_model(tmp_path / "model.keras")):
            np.testing.assert_array_equal(decide(one, X, costs=COSTS), expected)

    def test_a_mean_of_expected_costs(self):
        members = [functional([layers.Dense(4, "tanh"), softmax()]) for _ in range(2)]
        members[1].set_weights([-weight for weight in members[1].get_weights()])
        p = np.mean([member.predict(X, verbose=0) for member in members], axis=0)
        mean = ensemble([careful(member) for member in members])
        np.testing.assert_array_equal(decide(mean, X, costs=COSTS), by_loop(p, COSTS))
        mixed = ensemble([careful(members[0]), functional([CostOutput(3)])])
        with pytest.raises(ValueError, match="class probabilities for `costs`"):
            decide(mixed, X, costs=COSTS)

    def test_instead_of_estimated_costs(self):
        model = cost_model()
        p = probability_model(model).predict(X, verbose=0)
        np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-5)
        np.testing.assert_array_equal(decide(model, X, costs=COSTS), by_loop(p, COSTS))

    def test_trained(self):
        settings = csdl.Settings().limit_epochs(1)
        model = csdl.train("dnn_bayes", X, np.arange(30) % 3, MATRIX, settings=settings, seed=0)
        p = probability_model(model).predict(X, verbose=0)
        np.testing.assert_array_equal(decide(model, X, costs=COSTS), by_loop(p, COSTS))

    @pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16", "float64"])
    def test_policies(self, policy):
        with dtype_policy(policy):
            model = functional([softmax()])
            for one in (model, careful(model)):
                p = probability_model(one).predict(X, verbose=0)
                np.testing.assert_array_equal(decide(one, X, costs=COSTS), by_loop(p, COSTS))

    def test_what_keras_takes(self):
        model, subclassed = functional([softmax()]), Subclassed(3, "softmax")
        expected = decide(model, X, costs=COSTS)
        assert decide(model, X.tolist(), costs=COSTS.tolist()).tolist() == expected.tolist()
        assert decide(model, X, costs=COSTS, batch_size=7).tolist() == expected.tolist()
        p = subclassed.predict(X, verbose=0)
        found = decide(subclassed, X, "probability", costs=COSTS)
        np.testing.assert_array_equal(found, by_loop(p, COSTS))

    @settings(max_examples=30)
    @given(st.integers(0, 2**31), st.integers(2, 4), st.integers(2, 5))
    def test_ties_go_to_the_lowest_index(self, seed, classes, decisions):
        """The model outputs its inputs; costs are whole numbers, and probabilities eighths."""
        rng = np.random.default_rng(seed)
        p = rng.multinomial(8, np.ones(classes) / classes, size=20) / 8
        costs = rng.integers(0, 3, size=(20, classes, decisions))
        ends = keras.Input((classes,))
        model = keras.Model(ends, layers.Identity()(ends))
        expected = (p[:, None] @ costs)[:, 0].argmin(axis=1)
        found = decide(model, p, "probability", costs=costs)
        np.testing.assert_array_equal(found, expected)

    def test_parts_are_kept_as_long_as_their_model(self):
        model = careful()
        part = probability_model(model)
        assert probability_model(model) is part
        gone = weakref.ref(model)
        del model, part
        gc.collect()
        assert gone() is None

    @pytest.mark.parametrize(
        ("model", "costs", "message"),
        [
            (lambda: functional([CostOutput(3)]), COSTS, "probabilities for `costs`.*CostOutput"),
            (lambda: nested([CostOutput(3)]), PRICES, "probabilities for `costs`.*CostOutput"),
            (lambda: functional([softmax(), Twice()]), COSTS, "output='probability'"),
            (lambda: functional([layers.Dense(3)]), COSTS, "output='probability'"),
            (lambda: functional([softmax()]), COSTS[:29], "each of 30 examples.*29"),
            (lambda: functional([softmax()]), COSTS[:, :2], "each of 3 classes"),
            (lambda: functional([softmax()]), COSTS[:, 0], "received shape"),
            (lambda: functional([softmax()]), -COSTS, "at least 0"),
            (lambda: functional([softmax()]), np.where(COSTS > 8, np.nan, COSTS), "finite"),
            (lambda: functional([softmax()]), AFFINE[:7], "each of 30 examples.*7"),
            (careful, COSTS[:, :2], "each of 3 classes"),
        ],
    )
    def test_errors_before_anything_is_computed(self, model, costs, message, monkeypatch):
        model = model()

        def fail(*args, **kwargs):
            raise AssertionError("computed")

        monkeypatch.setattr(keras.Model, "predict", fail)
        with pytest.raises(ValueError, match=message):
            decide(model, X, costs=costs)

    def test_a_kernel_machine(self):
        baselines = pytest.importorskip("csdl_keras.baselines")
        machine = baselines.CSOSR(cost_matrix=MATRIX).fit(X, np.arange(30) % 3)
        with pytest.raises(ValueError, match="probabilities for `costs`.*received CSOSR"):
            decide(machine, X, costs=COSTS)

    def test_rows_that_are_no_probabilities(self):
        model = functional([softmax(), Twice()])
        with pytest.raises(ValueError, match="sum to 1"):
            decide(model, X, "probability", costs=COSTS)
        x = np.where(np.arange(30)[:, None] == 4, np.nan, X)
        with pytest.raises(ValueError, match="finite"):
            decide(careful(), x, costs=COSTS)
