"""Finds when to ask a person, so that the expected cost of decisions stays below a budget."""

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

import keras
import numpy as np

from csdl_keras._utils.arrays import check_rows
from csdl_keras._utils.checks import check_choice, check_number
from csdl_keras._utils.labels import class_labels, positions
from csdl_keras._utils.types import ArrayLike, Verbose
from csdl_keras.costs.checks import check_cost_matrix
from csdl_keras.costs.conversions import with_abstain
from csdl_keras.evaluation.as_numbers import as_numbers
from csdl_keras.evaluation.bounded_mean import BoundedMean
from csdl_keras.prediction.bayes_classifier import BayesModel, bayes_classifier, probability_model
from csdl_keras.prediction.bayes_decisions import expected_by

# The tested prices of asking as shares of the highest expected cost, dense near 0 and near 1. They
# must not depend on the examples.
_SHARES = np.append(1 / (1 + np.exp(-np.linspace(-20, 8, 281))), 1.0)


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Guarantee:
    """A rule that decides or asks, with its promise; `csdl_keras.guarantee` returns it.

    Args:
        attained: whether the promise can be made. If not, the rule asks in every case.
        upper: upper confidence bound of the expected cost; a dict for a dict of budgets. If the
            promise cannot be made, the lowest budget that could have been promised.
        upper_asked: upper confidence bound of the share of cases in which the rule asks.
        coverage: share of the held-out cases that the rule decides by itself.
        price: the rule asks if the lowest expected cost is above it; `-inf` always asks.
        costs: `(K, D + 1)`, costs of decisions and, in the last column, of asking.
        budget, confidence, per, max_asked: as in `csdl_keras.guarantee`.
        classes: labels of the classes, or `None`.
        model: a Keras model of expected costs that decides by the rule, to save, export and
            serve; `None` if the rule was made from probabilities.
    """

    attained: bool
    upper: Any
    upper_asked: float
    coverage: float
    price: float
    costs: np.ndarray
    budget: Any
    confidence: float
    per: str
    max_asked: float
    classes: np.ndarray | None = None
    model: BayesModel | None = None

    def decide(self, probabilities: ArrayLike) -> np.ndarray:
        """Returns decisions `(N,)` by probabilities `(N, K)`; the last index, `D`, means to ask."""
        expected = expected_by(probabilities, self.costs[:, :-1], self.classes)[0]
        asked = expected.min(axis=1) > self.price
        return np.where(asked, expected.shape[1], expected.argmin(axis=1))

    def outcome(self, y_true: ArrayLike, decisions: ArrayLike) -> Any:
        """Returns the true average cost of decisions of the rule, counted as promised.

        `y_true` are labels `(N,)`. With a dict of budgets this is a dict; NaN if no case counts.
        """
        true, _, chosen = as_numbers(y_true, self.costs, self.classes, decisions=decisions)
        counted = chosen < self.costs.shape[1] - 1 if self.per == "decided" else chosen >= 0
        groups = {group.label: counted & group.of(true) for group in _groups(self)}
        paid = self.costs[true, chosen]
        return _single({k: paid[of].mean() if of.any() else np.nan for k, of in groups.items()})

    def outcome_sentence(self, y_true: ArrayLike, decisions: ArrayLike) -> str:
        """Returns a sentence with `outcome`."""
        return f"Here they cost {_words(self.outcome(y_true, decisions))}."

    @property
    def sentence(self) -> str:
        """The promise, in a sentence."""
        each = "case" if self.per == "case" else "case that it decides"
        if not self.attained:
            both = self.max_asked < 1
            limit = f" with questions in at most {self.max_asked:.1%} of the cases" if both else ""
            other = f" with questions in at most {self.upper_asked:.1%}" if both else ""
            return (
                f"A cost of {_words(self.budget)} per {each}{limit} cannot be promised, so the "
                f"rule asks in every case; {_words(self.upper)}{other} could be promised."
            )
        return (
            f"The rule decides {self.coverage:.1%} of the cases, asks in at most "
            f"{self.upper_asked:.1%}, and costs at most {_words(self.upper)} per {each}, with "
            f"{self.confidence:.4g} confidence; the budget is {_words(self.budget)}."
        )

    def __repr__(self) -> str:
        return f"Guarantee({self.sentence})"


def guarantee(
    probabilities: ArrayLike | keras.Model,
    y: Any,
    costs: ArrayLike,
    *,
    budget: float | Mapping[Any, float],
    confidence: float = 0.95,
    abstain_cost: float | None = None,
    per: str = "case",
    max_asked: float = 1.0,
    classes: Any = None,
    batch_size: int | None = None,
    verbose: Verbose = 0,
) -> Guarantee:
    """Finds the rule that decides most cases by itself and keeps a budget with high confidence.

    The rule makes the decision of lowest expected cost, or asks a person if that cost is above a
    price. The price is the highest for which the held-out examples show that the expected cost per
    case is at most the budget. This is valid even if the probabilities are wrong: of rules found on
    many samples, at most 5 % would cost more than the budget at a confidence of 0.95. New cases
    have to come from the same distribution as the held-out examples. Prices are tested in ascending
    order, by Gaffke's test for means of bounded values, and the level of a successful test is
    passed on to the next price, as in Learn then Test.

    Args:
        probabilities: `(N, K)`, or `(N,)` of class 1, of examples on which the classifier was
            neither trained nor calibrated; or a Keras model with class probabilities.
        y: their labels `(N,)`; with a model, `(x, y)`.
        costs: a cost matrix `(K, D)`, `C[true, decision]`. With `K + 1` columns and without
            `abstain_cost`, the last column is the cost of asking.
        budget: highest expected cost per case, or a dict of budgets for cases of some classes.
        confidence: confidence of the promise. Defaults to 0.95.
        abstain_cost: cost of asking. `None` (default) is 0, or the last column of `costs`.
        per: `"case"` (default) for the expected cost per case, including those in which the rule
            asks, or `"decided"` for the expected cost per case that the rule decides.
        max_asked: largest share of questions, also promised if it is below 1. Defaults to 1.
        classes: as in `csdl_keras.bayes_decisions`; those of the model if there is one.
        batch_size, verbose: as in `keras.Model.predict`.

    Returns:
        A `Guarantee`, with `decide(probabilities)` and, for a model, the deciding `model`.

    Raises:
        ValueError: if an argument is invalid.

    References:
        - [Angelopoulos, Bates, Candès, Jordan, Lei: Learn then Test: calibrating predictive
          algorithms to achieve risk control, 2021](https://arxiv.org/abs/2110.01052)
        - [Bates, Angelopoulos, Lei, Malik, Jordan: Distribution-free, risk-controlling prediction
          sets, 2021](https://arxiv.org/abs/2101.02703)

    Example:

    >>> random = np.random.default_rng(0)
    >>> risks = random.uniform(size=2000)
    >>> labels = (random.uniform(size=2000) < risks).astype(int)
    >>> rule = guarantee(risks, labels, [[0, 1], [5, 0]], budget=0.2)
    >>> rule.attained, rule.decide([0.01, 0.3, 0.95])
    (True, array([0, 2, 1]))
    """
    model = None
    if isinstance(probabilities, keras.Model):
        classes, model = probabilities, probability_model(probabilities)
        if model is None or not isinstance(y, tuple) or len(y) != 2:
            raise ValueError(
                f"The model {probabilities.name!r} needs class probabilities and a tuple (x, y) "
                f"as `y`; received {type(y).__name__}."
            )
        x, y = y
        probabilities = model.predict(x, batch_size=batch_size, verbose=verbose)
    labels = class_labels(classes)
    matrix = check_cost_matrix(costs, square=False, classes=classes)
    if abstain_cost is not None or matrix.shape[1] != len(matrix) + 1:
        price = 0.0 if abstain_cost is None else check_number("abstain_cost", abstain_cost, 0)
        matrix = with_abstain(matrix, price)
    (true, _), own = as_numbers(y, matrix[:, :-1], labels), matrix[:, :-1]
    expected = expected_by(probabilities, own, classes)[0]
    check_rows("probabilities", expected, len(true))
    check_number("confidence", confidence, 0, 1, exclude_low=True)
    check_choice("per", per, choices=("case", "decided"))
    check_number("max_asked", max_asked, 0, 1)
    if isinstance(budget, Mapping):
        budget = {k: check_number(f"budget[{k!r}]", one) for k, one in budget.items()}
    else:
        budget = check_number("budget", budget)
    rule = Guarantee(
        False, None, 1.0, 0.0, -np.inf, matrix, budget, float(confidence), per, max_asked, labels
    )

    lowest, paid = expected.min(axis=1), own[true, expected.argmin(axis=1)]
    groups = _groups(rule)

    def means(price: float) -> list[BoundedMean | None]:
        """Returns the costs of each group under the rule with that price; `None` without cases."""
        decided = lowest <= price
        values = np.where(decided, paid, matrix[true, -1])
        counted = decided if per == "decided" else np.ones(len(true), bool)
        of = [values[counted & group.of(true)] for group in groups]
        return [
            BoundedMean(one, 0.0, group.highest) if len(one) else None
            for one, group in zip(of, groups, strict=True)
        ]

    def p_value(price: float) -> float:
        """Returns the p-value of the hypothesis that some group costs more than its budget."""
        return max(
            0.0
            if group.budget >= group.highest
            else (1.0 if mean is None else mean.p_value_below(group.budget))
            for mean, group in zip(means(price), groups, strict=True)
        )

    def bounds(price: float, level: float) -> list[float]:
        """Returns upper bounds of the expected cost of each group."""
        found = zip(means(price), groups, strict=True)
        return [g.highest if mean is None else mean.upper(1 - level) for mean, g in found]

    # Two promises share the permitted error.
    level = (1.0 - confidence) / (2 if max_asked < 1 else 1)
    prices = min(own.max(axis=0)) * _SHARES
    starts = _starts(prices, matrix, per)
    price, passed, left, tested, p = -np.inf, 0.0, 0.0, -1, 1.0
    for place, tried in enumerate(prices):
        left += level * starts.get(place, 0.0)
        if left == 0.0:
            continue
        number = int(np.count_nonzero(lowest <= tried))
        if number != tested:
            tested, p = number, p_value(tried)
        if p <= left:
            price, passed = tried, left
        else:
            left = 0.0
    attained = price >= 0
    options = [(price, bounds(price, passed))] if attained else []
    if not attained and per == "case":
        # The cost of asking in every case is known without a test.
        options = [(price, [group.asking for group in groups])]
        attained = all(group.asking <= group.budget for group in groups)
    if not attained:
        tests = [(prices[place], level * share) for place, share in starts.items()]
        options += [(tried, bounds(tried, share)) for tried, share in tests]
    budgets = [group.budget for group in groups]
    price, upper = min(options, key=lambda option: max(np.subtract(option[1], budgets)))
    asked = 1.0
    if price >= 0:
        asked = BoundedMean((lowest > price).astype(float), 0.0, 1.0).upper(1 - level)
    attained = attained and asked <= max_asked
    price = float(price) if attained else -np.inf
    deciding = None
    if model is not None:
        # A rule that always asks does so even where another decision would cost nothing.
        always = np.append(own + 1.0, np.zeros((len(own), 1)), axis=1)
        decisive = with_abstain(own, price) if price >= 0 else always
        deciding = bayes_classifier(model, decisive, mean_costs=price < 0)
    return dataclasses.replace(
        rule,
        attained=attained,
        upper=_single({g.label: float(one) for g, one in zip(groups, upper, strict=True)}),
        upper_asked=asked,
        coverage=float(np.mean(lowest <= price)),
        price=price,
        model=deciding,
    )


def _single(values: dict[Any, float]) -> Any:
    """Returns the value of all cases, or the dict of values by class."""
    return values[None] if None in values else values


def _by_group(values: Any) -> dict[Any, float]:
    """Returns the dict of values by class; the key is `None` for all cases."""
    return values if isinstance(values, dict) else {None: values}


def _words(values: Any) -> str:
    return ", ".join(
        f"{value:.4g}" if label is None else f"{value:.4g} for {label}"
        for label, value in _by_group(values).items()
    )


class _Group(NamedTuple):
    """The cases that have a budget: all of them, or those of a class."""

    label: Any
    row: int | None
    budget: float
    highest: float
    asking: float

    def of(self, true: np.ndarray) -> np.ndarray:
        return np.ones(len(true), bool) if self.row is None else true == self.row


def _groups(rule: Guarantee) -> list[_Group]:
    matrix = rule.costs if rule.per == "case" else rule.costs[:, :-1]
    asking = rule.costs[:, -1]
    if not isinstance(rule.budget, dict):
        return [_Group(None, None, rule.budget, matrix.max(), asking.max())]
    known = np.arange(len(matrix)) if rule.classes is None else rule.classes
    rows = positions("budget", list(rule.budget), known)
    return [
        _Group(label, row, own, matrix[row].max(), asking[row])
        for row, (label, own) in zip(rows, rule.budget.items(), strict=True)
    ]


def _starts(prices: np.ndarray, matrix: np.ndarray, per: str) -> dict[int, float]:
    """Returns the places of prices at which tests begin, with their shares of the level.

    Under right probabilities, the cost per case falls with the price up to the cost of asking, and
    rises beyond it; overconfident or underconfident probabilities move that place. The cost per
    decided case rises, but few cases prove little.
    """
    asking, highest = matrix[:, -1].mean(), prices[-1]
    if per == "decided":
        first = highest / 4.0 ** np.arange(5)
    else:
        first = np.array([asking / 10, asking, (asking * highest) ** 0.5, highest])
        first = first if asking else first[:1]
    places = np.abs(prices[:, None] - first).argmin(axis=0)
    return {place: float(np.mean(places == place)) for place in places.tolist()}
