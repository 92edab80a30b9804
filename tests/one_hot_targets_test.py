"""One-hot rows that are given as cost vectors are refused, and cost vectors of 0 and 1 are not."""

import keras
import ml_dtypes
import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB

import csdl_keras as csdl
from csdl_keras import baselines, costs, evaluation, losses, metrics, sklearn
from csdl_keras.costs.checks import one_hot_counts
from tests.support.testing import TestCase, to_numpy

RNG = np.random.default_rng(0)
K, NUM = 4, 60
X = RNG.uniform(size=(NUM, 3)).astype("float32")
Y = np.concatenate([np.arange(K), RNG.integers(K, size=NUM - K)])
ONE_HOT = np.eye(K, dtype="float32")[Y]
SMOOTHED = 0.85 * ONE_HOT + 0.15 / K
FIX = r"argmax\(axis=1\).*`cost_matrix=`.*binary_costs=True"

#: The same rows, as data comes.
FORMS = {
    "bool": ONE_HOT.astype(bool),
    "uint8": ONE_HOT.astype("uint8"),
    "get_dummies": pandas.get_dummies(pandas.Series([*"abcd"])[Y].reset_index(drop=True)),
    "smoothed": SMOOTHED,
    "smoothed, bfloat16": SMOOTHED.astype(ml_dtypes.bfloat16),
}


def with_one(row):
    """One-hot rows but one."""
    rows = ONE_HOT.copy()
    rows[-1] = row
    return rows


#: Costs, some of them of 0 and 1 alone.
COSTS = {
    "errors": 1 - ONE_HOT,
    "another unit": 2 * ONE_HOT,
    "one row of two costs": with_one([1, 1, 0, 0]),
    "one row without costs": with_one([0, 0, 0, 0]),
    "of two decisions": np.eye(K)[Y % 2],
    "shares": RNG.dirichlet(np.ones(K), size=NUM),
}

METRICS = {
    "AverageCost": metrics.AverageCost,
    "DecisionAccuracy": metrics.DecisionAccuracy,
    "NormalizedCost": lambda **own: metrics.NormalizedCost(num_decisions=K, **own),
    "Savings": lambda **own: metrics.Savings(num_decisions=K, **own),
}
LOSSES = {
    "SOSRLoss": losses.SOSRLoss,
    "OneSidedLoss": losses.OneSidedLoss,
    "PoissonCostLoss": losses.PoissonCostLoss,
    "LogisticCostLoss": losses.LogisticCostLoss,
    "MINLoss": losses.MINLoss,
}


def compiled(*scores, loss=None, end=None, shape=(3,), **choices):
    model = keras.Sequential([keras.Input(shape), end or csdl.layers.CostOutput(K)])
    model.compile("sgd", loss or csdl.SOSRLoss(), metrics=[*scores], **choices)
    return model


def fitted(targets, *scores, x=X, batch_size=16, data=(), model=None, **choices):
    model = compiled(*scores, **choices) if model is None else model
    return model.fit(x, targets, batch_size=batch_size, shuffle=False, verbose=0, **dict(data))


def slowly(rows):
    """Tells on Python's numbers whether rows are one-hot and mark classes of each remainder."""
    marked = set()
    for row in rows:
        *rest, top = sorted(row)
        if abs(sum(row) - 1) > 0.002 or max(rest) - min(rest) > 1e-6 or top - rest[0] < 0.5:
            return False
        marked.add(list(row).index(top) % 3)
    return len(marked) == 3


@st.composite
def some_rows(draw):
    width, number = draw(st.sampled_from([1, 2, 3, 5])), draw(st.sampled_from([3, 6]))
    hot = st.integers(0, width - 1).map(lambda place: np.eye(width)[place].tolist())
    share = draw(st.sampled_from([0.0, 0.1]))
    soft = hot.map(lambda row: [(1 - share) * one + share / width for one in row])
    other = st.lists(st.sampled_from([0.0, 0.0, 0.25, 1.0, 3.0]), min_size=width, max_size=width)
    kind = draw(st.sampled_from([soft, soft, st.one_of(soft, other)]))
    return draw(st.lists(kind, min_size=number, max_size=number))


class TestRecognised:
    @given(some_rows())
    def test_as_by_a_loop(self, rows):
        expected = slowly(rows) if len(rows[0]) > 1 else False
        array = np.array(rows)
        for given_as in (array, keras.ops.convert_to_tensor(array.astype("float32"))):
            counts = to_numpy(one_hot_counts(given_as))
            assert (counts[0] == 0 and counts[1:].all()) == expected
        halves = one_hot_counts(array[:2]) + one_hot_counts(array[2:])
        np.testing.assert_array_equal(halves, one_hot_counts(array))

    @pytest.mark.parametrize("rows", FORMS.values(), ids=FORMS)
    def test_in_every_form(self, rows):
        with pytest.raises(ValueError, match=f"60 rows of .* one-hot.*{FIX}"):
            costs.check_cost_vectors(rows)

    @pytest.mark.parametrize("rows", COSTS.values(), ids=COSTS)
    def test_costs_are_not(self, rows):
        np.testing.assert_array_equal(costs.check_cost_vectors(rows), rows)


class TestMetrics(TestCase):
    @pytest.mark.parametrize("make", METRICS.values(), ids=METRICS)
    def test_fit(self, make, run_eagerly):
        """The error comes at the end of the first epoch, and the model can be fitted afterwards."""
        model = compiled(make())
        with pytest.raises(ValueError, match=f"60 rows of .* one-hot.*{FIX}"):
            fitted(ONE_HOT, model=model)
        # Some batches hold one-hot rows alone.
        history = fitted(COSTS["one row without costs"], model=model, data={"epochs": 2}).history
        self.assertFinite([*history.values(), model.get_weights()])
        metric = self.run_config_round_trip(make(binary_costs=True))
        assert len(fitted(ONE_HOT, metric, data={"epochs": 2}).epoch) == 2

    def test_fit_as_compiled(self):
        steps = 1 if keras.backend.backend() == "torch" else 3
        fitted(COSTS["one row of two costs"], csdl.AverageCost(), steps_per_execution=steps)
        with pytest.raises(ValueError, match=FIX):
            fitted(ONE_HOT, csdl.AverageCost(), steps_per_execution=steps)

    def test_validation_alone(self, run_eagerly):
        with pytest.raises(ValueError, match=FIX):
            fitted(COSTS["errors"], csdl.AverageCost(), data={"validation_data": (X, ONE_HOT)})

    def test_rows_of_weight_0_do_not_count(self, run_eagerly):
        unknown = np.r_[ONE_HOT, np.zeros((4, K))]
        weights = np.r_[np.full(NUM, 0.5), np.zeros(4)]
        model = compiled()
        model.compile("sgd", csdl.SOSRLoss(), weighted_metrics=[csdl.AverageCost()])
        with pytest.raises(ValueError, match="60 rows"):
            model.fit(np.r_[X, X[:4]], unknown, sample_weight=weights, verbose=0)

    def test_loop_of_ones_own(self):
        """A batch is no epoch where a result is asked for after each."""
        metric, outputs = csdl.AverageCost(), keras.ops.convert_to_tensor(np.float32(1 - ONE_HOT))
        for part in np.array_split(np.arange(NUM), 3):
            targets = keras.ops.convert_to_tensor(ONE_HOT[part])
            assert np.isfinite(float(metric(targets, outputs[part[0] : part[-1] + 1])))
        with pytest.raises(ValueError, match=FIX):
            metric.result()


@pytest.mark.parametrize("make", LOSSES.values(), ids=LOSSES)
class TestLosses(TestCase):
    def test_arrays(self, make):
        outputs = np.full((NUM, K), 0.25, "float32") + X[:, :1]
        for rows in (ONE_HOT, SMOOTHED):
            with pytest.raises(ValueError, match=f"60 rows of .* one-hot.*{FIX}"):
                make()(rows, outputs)
        loss = self.run_config_round_trip(make(binary_costs=True))
        self.assertFinite(loss(ONE_HOT, outputs))
        self.assertFinite(make()(COSTS["errors"], outputs))


DECISIONS = RNG.integers(K, size=NUM)
SETTINGS = csdl.Settings().replace({"mlp.hidden_units": (4,)}).limit_epochs(1)


def trained(algorithm, vectors=None, matrix=None, **others):
    return csdl.train(X, Y, matrix, algorithm, costs=vectors, settings=SETTINGS, seed=0, **others)


def pretrained(rows, as_dataset=False, **others):
    x, model = X, csdl.models.mlp((3,), K, (4,), output="cost")
    if as_dataset:
        tf = pytest.importorskip("tensorflow")
        x, rows = tf.data.Dataset.from_tensor_slices((X, rows)).batch(16), None
    return csdl.pretrain(model, x, rows, beta=0.5, epochs=1, verbose=0, **others)


WHOLE = {
    "check_cost_vectors": costs.check_cost_vectors,
    "average_cost": lambda rows: evaluation.average_cost(rows, DECISIONS),
    "cost_report": lambda rows: evaluation.cost_report({"a": DECISIONS}, rows),
    "train": lambda rows: trained("dnn_sosr", rows),
    "Trainer": lambda rows: csdl.Trainer(X, Y, costs=rows, settings=SETTINGS, seed=0),
    "CostSensitiveClassifier": lambda rows: sklearn.CostSensitiveClassifier(
        "dnn_sosr", settings=SETTINGS, random_state=0
    ).fit(X, np.array([*"abcd"])[Y], costs=rows),
    "average_cost_scorer": lambda rows: sklearn.average_cost_scorer()(
        GaussianNB().fit(X, Y), X, Y, costs=rows
    ),
    "CSOSR": lambda rows: baselines.CSOSR(max_iter=5000, tol=0.1).fit(X, rows),
    "pretrain": pretrained,
    "pretrain on a dataset": lambda rows: pretrained(rows, as_dataset=True),
}


@pytest.mark.parametrize("function", WHOLE.values(), ids=WHOLE)
def test_whole_arrays(function, run_eagerly):
    for rows in (ONE_HOT, SMOOTHED):
        with pytest.raises(ValueError, match=f"rows of .* one-hot.*{FIX}"):
            function(rows)
    function(2 * ONE_HOT)


@pytest.mark.parametrize("algorithm", ["dnn_sosr", "csosr"])
def test_what_becomes_one_hot_in_training(algorithm, run_eagerly):
    """Costs are divided by a unit; so are those of a matrix, of whatever form."""
    trained(algorithm, 2 * ONE_HOT)
    cycle = np.roll(np.eye(K), 1, axis=1)
    estimator = sklearn.CostSensitiveClassifier(
        algorithm, cycle, settings=SETTINGS, random_state=0
    ).fit(X, Y)
    assert estimator.score(X, Y) == -cycle[Y, estimator.predict(X)].mean()
