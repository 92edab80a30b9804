"""What would otherwise be silently wrong is refused, with a message that says what to do.

Two or three refusals of each public function; those of layers, losses, metrics and pre-training
are with their other tests.
"""

import datetime
import functools

import keras
import numpy as np
import pandas as pd
import pytest

import csdl_keras as csdl
from csdl_keras import costs, evaluation, models
from csdl_keras.datasets import DataSet

MATRIX = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [9.0, 3.0, 0.0]])
WIDE = np.hstack([MATRIX, np.full((3, 1), 0.5)])
NEGATIVE = MATRIX - 5 * np.eye(3)[[1, 0, 2]]
PAID = MATRIX + np.eye(3)
Y = np.array([0, 1, 2, 1, 0])
DECISIONS = np.array([0, 1, 1, 3, 0])
P = np.eye(3)[Y] * 0.7 + 0.1
X = np.arange(15.0).reshape(5, 3) / 16
ONE_HOT = np.eye(3)[Y]
KNOWN = np.arange(1.0, 46.0).reshape(5, 3, 3)
NAN = np.full((5, 3), np.nan)
TIMES = pd.DataFrame({"a": [datetime.time(9)]})
DAYS = pd.DataFrame({"age": [pd.Timedelta(1)] * 5})

on_costs = [
    (costs.check_cost_matrix, {"cost_matrix": NEGATIVE}, "at least 0"),
    (costs.check_cost_matrix, {"cost_matrix": PAID}, "diagonal of a cost matrix is 0"),
    (costs.check_cost_matrix, {"cost_matrix": MATRIX * 1e39}, "in absolute value"),
    (costs.check_cost_vectors, {"costs": -ONE_HOT}, "at least 0"),
    (costs.check_mean_costs, {"mean_costs": [[0, 1]]}, "at least 2 classes"),
    (costs.check_labels, {"labels": [0, 1, -1]}, "`labels` to be at least 0"),
    (costs.randomized_proportional, {"labels": Y, "scale": 0}, "`scale`"),
    (costs.class_means, {"costs": WIDE[Y], "labels": [0, 1]}, "a row for each of 2 labels"),
    (costs.with_abstain, {"cost_matrix": MATRIX, "price": -1.0}, "at least 0"),
    (costs.with_abstain, {"cost_matrix": MATRIX, "price": [1.0, 2.0]}, "each of 3 classes"),
    (costs.convert, {"costs": MATRIX, "orientation": "rows"}, "`orientation` to be one of"),
]
decided = {"y_true": Y, "decisions": DECISIONS, "cost_matrix": WIDE}
estimated = {"y_true": Y, "expected_costs": WIDE[Y], "cost_matrix": WIDE}
predicted = {"y_true": Y, "probabilities": P}
reported = {"y_true": Y, "decisions": {"a": DECISIONS}, "cost_matrix": WIDE}
on_evaluation = [
    (getattr(evaluation, name), {**decided, **changes}, message)
    for name in ("average_cost", "error_rate", "cost_per_class", "cost_interval")
    for changes, message in (
        ({"y_true": Y + 1}, "below 3"),
        ({"decisions": DECISIONS[:3]}, "an integer for each label"),
        ({"decisions": DECISIONS + 1}, "below 4"),
        ({"cost_matrix": WIDE + 1}, "diagonal of a cost matrix is 0"),
    )
]
on_evaluation += [
    (evaluation.savings, {**decided, "cost_matrix": WIDE * 0}, "deciding 0 costs nothing"),
    (evaluation.cost_interval, {**decided, "confidence": 2}, "`confidence`"),
    (evaluation.cost_report, {**reported, "class_names": ["a"]}, "`class_names` to be 3 names"),
    (evaluation.cost_report, {**reported, "baseline": [0, 1]}, r"`baseline` of shape \(5,\)"),
    (evaluation.reliability, {**predicted, "probabilities": P * 2}, "must sum to 1"),
    (evaluation.calibration_error, {**predicted, "y_true": [0]}, "a row for each of 1 labels"),
    (evaluation.estimate_priors, {"probabilities": P, "from_priors": [1, 0, 1]}, "above 0"),
    (evaluation.risk_coverage_curve, {**estimated, "expected_costs": P}, "a column for each"),
]
classifier = functools.cache(lambda: models.mlp((3,), 3, (4,), seed=0))
regressor = functools.cache(lambda: models.mlp((3,), 3, (4,), output="cost", seed=0))
body = functools.cache(lambda: models.mlp((3,), 3, (4,), seed=0))


def of_classifier(function, **arguments):
    return lambda **changes: function(**({"model": classifier(), **arguments} | changes))


bayes = of_classifier(csdl.bayes_classifier, cost_matrix=MATRIX)
calibrate = of_classifier(csdl.calibrate, x_val=X, y_val=Y)
decide = of_classifier(csdl.decide, x=X)
adjust = functools.partial(csdl.adjust_priors, from_priors=[1, 1, 1], to_priors=[1, 1, 2])
on_models = [
    (bayes, {"model": "regressor"}, "outputs costs"),
    (bayes, {"from_logits": True}, "outputs probabilities"),
    (bayes, {"cost_matrix": PAID}, "diagonal of a cost matrix is 0"),
    (models.expected_cost_model, {"body": "classifier", "mean_costs": -MATRIX}, "at least 0"),
    (models.cost_estimator, {"model": "regressor", "cost_scale": 0.0}, "`cost_scale`"),
    (models.view_average, {"model": "classifier"}, "Expected images"),
    (models.mlp, {"input_shape": (4,), "num_classes": 3, "output": "logits"}, "`output`"),
    (models.tabular, {"x": [[0.0, np.inf]], "num_classes": 3}, "finite"),
    (models.tabular, {"x": TIMES, "num_classes": 3}, "times as numbers, such as hours"),
    (models.labelled_costs, {"labels": Y, "costs": ONE_HOT}, "All 5 rows of `costs` are one-hot"),
    (csdl.output_kind, {"model": "classifier", "output": "cost"}, "contradicts"),
    (calibrate, {"sample_weight": np.zeros(5)}, "`sample_weight` is 0"),
    (adjust, {"model_or_probabilities": P * 2}, "must sum to 1"),
    (adjust, {"model_or_probabilities": P, "from_priors": [1, 0, 1]}, "above 0"),
    (decide, {"x": NAN}, "are NaN in 5 of 5 rows"),
    (decide, {"costs": KNOWN[:4]}, "each of 5 examples"),
    (decide, {"model": "regressor", "costs": KNOWN}, "`costs` cannot be combined"),
]
IMAGES = np.zeros((5, 2, 2, 1), "float32")
toy = {"x_train": IMAGES, "y_train": Y, "x_val": IMAGES, "y_val": Y, "x_test": IMAGES, "y_test": Y}
data_set = functools.partial(DataSet, name="toy", num_classes=3, **toy)
on_data = [
    (data_set, {"y_val": Y + 1}, "below 3"),
    (data_set, {"x_test": IMAGES[:4]}, "for each of"),
    (csdl.datasets.load, {"name": "mnits"}, "'mnits' is not in"),
]
REFUSALS = [*on_costs, *on_evaluation, *on_models, *on_data]


@pytest.mark.parametrize("case", range(len(REFUSALS)))
def test_what_would_be_silently_wrong_is_refused(case):
    function, arguments, message = REFUSALS[case]
    made = {"classifier": classifier, "regressor": regressor}
    arguments = {
        name: made[value]() if isinstance(value, str) and value in made else value
        for name, value in arguments.items()
    }
    with pytest.raises(ValueError, match=message):
        function(**arguments)


class TestTrain:
    """Before anything is trained."""

    @pytest.fixture(autouse=True)
    def nothing_trains(self, monkeypatch):
        def begins(*args, **kwargs):
            raise AssertionError("a training begins")

        monkeypatch.setattr(keras.Model, "fit", begins)

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"x": X[:4]}, "a row for each of 5 labels"),
            ({"x": NAN}, "finite, also as float32"),
            ({"x": DAYS}, "'age' .*times as numbers, such as hours"),
            ({"y": Y.astype(float)}, "integer dtype"),
            ({"cost_matrix": PAID}, "diagonal of a cost matrix is 0"),
            ({"cost_matrix": MATRIX * 0}, "All costs are 0"),
            ({"cost_matrix": WIDE}, "does not support decisions other than classes"),
            ({"validation_data": (X, Y[:4])}, "a row for each of 4 labels"),
        ],
    )
    def test_data_and_costs(self, changes, message):
        given = {"x": X, "y": Y, "cost_matrix": MATRIX, "validation_data": (X, Y), "seed": 0}
        with pytest.raises(ValueError, match=message):
            csdl.train(algorithm="dnn_sosr", **given | changes)

    def test_choices(self):
        with pytest.raises(ValueError, match="received 'dnn'"):
            csdl.train(X, Y, MATRIX, "dnn")
        for name, wrong in {"mlp.hidden_units": (0,), "mlp.learning_rate": np.inf}.items():
            with pytest.raises(ValueError, match=name.rpartition(".")[2]):
                csdl.Settings().replace({name: wrong})
