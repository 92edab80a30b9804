"""Compares the costs of several models' decisions in tables."""

import dataclasses
import textwrap
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from csdl_keras._utils.arrays import as_array, shown
from csdl_keras._utils.streams import as_stream, stream_labels
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.between import CostRange
from csdl_keras.costs.checks import amounts as check_amounts
from csdl_keras.costs.known import AffineCosts, CostsLike
from csdl_keras.evaluation import _report_text
from csdl_keras.evaluation.as_numbers import as_numbers, known_classes, names_of
from csdl_keras.evaluation.bounded_mean import BoundedMean
from csdl_keras.evaluation.intervals import CostBounds, CostDifference, paired_difference
from csdl_keras.evaluation.scores import chosen_costs, cost_per_class, error_rate, example_costs
from csdl_keras_cli.optional import optional_module

if TYPE_CHECKING:
    import pandas


@dataclasses.dataclass(frozen=True)
class CostRow:
    """Costs of one model's decisions, of today's rule or of the best constant decision.

    `normalized_cost` is NaN unless the best constant decision's cost is above 0. `per_class` is
    empty without labels. A comparison with itself, or with a row that does not exist, is `None`.
    """

    name: str
    average_cost: float
    low: float
    high: float
    normalized_cost: float
    error_rate: float
    abstained: float
    per_class: tuple[float, ...]
    against_best: CostDifference | None
    total_cost: float
    against_constant: CostDifference | None
    against_baseline: CostDifference | None

    @property
    def savings(self) -> float:
        """Share of the best constant decision's cost that is saved."""
        return 1.0 - self.normalized_cost


@dataclasses.dataclass(frozen=True, repr=False)
class CostReport:
    """Tables of models' costs, cheapest first, to print or to display in a notebook.

    Further tables show the savings of each model relative to today's rule and to the best constant
    decision and, with labels, the average cost of each true class, or of the twelve that cost the
    cheapest model most. `sentence` comes last. Lines have at most 100 characters.
    `report.to_frame()` returns the numbers for pandas, `dataclasses.asdict(report)` all of them.

    Args:
        rows: a `CostRow` for each model.
        size: number of test examples.
        constant, constant_decision, constant_name: the best constant decision's row, index, name.
        baseline: row of today's rule, or `None`.
        unit: unit of costs, or `None`.
        class_names: names of the classes; empty without labels.
        largest_seen, ten_largest: the largest amount seen, and the share of the ten largest in the
            sum of all; `None` unless intervals rest on it.
        right_is_free: whether each example's cheapest decision costs nothing.
        has_gains: whether some decision of some example gains money.
        remarks: sentences on promises and on ranges of costs, if there are any.
    """

    rows: tuple[CostRow, ...]
    size: int
    constant: CostRow
    constant_decision: int
    constant_name: str
    baseline: CostRow | None
    unit: str | None
    class_names: tuple[str, ...]
    largest_seen: float | None
    ten_largest: float | None
    right_is_free: bool
    has_gains: bool
    remarks: tuple[str, ...] = ()

    @property
    def all_rows(self) -> tuple[CostRow, ...]:
        """The rows of models, of today's rule and of the best constant decision."""
        return (*self.rows, *([] if self.baseline is None else [self.baseline]), self.constant)

    @property
    def sentence(self) -> str:
        """The savings of the cheapest model, and how certain they are, in a sentence."""
        return _report_text.sentence(self)

    def to_frame(self) -> "pandas.DataFrame":
        """Returns a data frame with a row for each model, today's rule and the constant decision.

        Savings per decision relative to the best constant decision, and to today's rule (the
        baseline) if there is one, have 95 % intervals and p-values. The column `p_value` is
        relative to the cheapest model. A row compared with itself is NaN.

        Returns:
            A `pandas.DataFrame`, whose index is the names of the rows.

        Example:

        >>> report = cost_report({"The model": [0, 1, 1]}, [0, 1, 1], [[0, 6], [100, 0]])
        >>> report.to_frame()[["average_cost", "total_cost", "saved_against_constant"]]
                   average_cost  total_cost  saved_against_constant
        model
        The model           0.0         0.0                     2.0
        always 1            2.0         6.0                     NaN
        """
        pandas = optional_module("pandas", "compare")
        own = "name average_cost low high total_cost normalized_cost savings error_rate abstained"
        rivals, rows = ["constant", "baseline"][: 1 if self.baseline is None else 2], []
        for row in self.all_rows:
            cells = {name: getattr(row, name) for name in own.split()}
            cells["p_value"] = row.against_best.p_value if row.against_best else np.nan
            for rival in rivals:
                pair = getattr(row, f"against_{rival}")
                saved, low, high, p_value = [np.nan] * 4
                if pair is not None:  # The negative of 0 would be -0.
                    saved, low, high = (0.0 - it for it in (pair.difference, pair.high, pair.low))
                    p_value = pair.p_value
                cells |= {
                    f"saved_against_{rival}": saved,
                    f"saved_against_{rival}_low": low,
                    f"saved_against_{rival}_high": high,
                    f"p_value_against_{rival}": p_value,
                }
            rows.append(cells)
        return pandas.DataFrame(rows).set_index("name").rename_axis("model")

    def __repr__(self) -> str:
        tables = map(_report_text.as_text, _report_text.tables(self))
        texts = (
            textwrap.fill(text, _report_text.WIDTH, break_on_hyphens=False)
            for text in (_report_text.note(self), *self.remarks, self.sentence)
        )
        return "\n\n".join([*tables, *texts])


def cost_report(
    decisions: Mapping[str, ArrayLike],
    y_true: Any,
    cost_matrix: CostsLike | None = None,
    baseline: ArrayLike | None = None,
    unit: str | None = None,
    amounts: CostsLike | None = None,
    class_names: Iterable[object] | None = None,
    decision_names: Iterable[object] | None = None,
    largest: float | None = None,
    classes: Any = None,
    promises: Mapping[str, Any] | None = None,
    probabilities: Mapping[str, ArrayLike] | None = None,
) -> CostReport:
    """Reports the costs of decisions of models, of today's rule and of a constant decision.

    The best constant decision is the one that costs least on these examples, which favours it.
    Intervals are those of `cost_interval`, paired intervals and p-values those of `compare_costs`.
    Each p-value is valid for one pair only: with 15 equal models, some row had one below
    .05 in 76 % of simulated reports, because the cheapest model was selected from many.

    Costs of `costs.regret` and `costs.from_binary` are relative to each example's cheapest
    decision. For averages and totals of the money actually paid or gained, pass it as `amounts`.

    Args:
        decisions: `{name: integers (N,)}`, as returned by `csdl_keras.decide`.
        y_true, cost_matrix, classes: as in `decision_costs`; names default to the labels. `y_true`
            may also be data with labels that `csdl_keras.decide` reads in parts.
        baseline: integers `(N,)`, decisions of today's rule to compare with, or `None` (default).
        unit: unit of costs, such as `"€"`; `None` (default) writes numbers alone.
        amounts: instead of `cost_matrix`, amounts `(K, D)` or `(N, K, D)` of any sign: gains are
            negative, and right decisions may cost something. Defaults to `None`.
        class_names, decision_names: `K` and `D` names; `None` (default) writes labels, and the
            index of each decision that is not a class.
        largest: as in `cost_interval`; with `None` (default) the report explains its intervals.
        promises: rules of `csdl_keras.guarantee` by the names of their decisions; the report then
            compares each promise with the costs of its decisions. Defaults to `None`.
        probabilities: `{name: (N, K)}`, by which models decided, if `cost_matrix` is a range of
            `csdl_keras.costs.between`; the report then counts the cases in which other costs of
            the range would change the decision. Defaults to `None`.

    Returns:
        A `CostReport`, cheapest model first.

    Example:

    >>> import numpy as np
    >>> labels = np.arange(1000) % 2
    >>> model, today = np.where(np.arange(1000) % 20, labels, 1), np.ones(1000, int)
    >>> report = cost_report(
    ...     {"The model": model}, labels, [[0, 6], [100, 0]], baseline=today, unit="€"
    ... )
    >>> print(report.sentence)
    The model costs 2.70 € less per decision than today's rule (95 % interval 2.28 to 3.10 €),
    2,700 € over these 1,000 decisions.
    """
    if not isinstance(decisions, Mapping) or not decisions:
        raise ValueError(
            "`decisions` must be a dict with at least one model, such as {'Bayes': decisions}; "
            f"received {shown(decisions)}. The labels are the second argument."
        )
    if (stream := as_stream(y_true)) is not None:
        y_true = stream_labels(stream)
    lowest = 0.0
    if amounts is not None:
        if cost_matrix is not None:
            raise ValueError("`cost_matrix` and `amounts` cannot be combined. Pass one of them.")
        size = len(as_array("y_true", y_true, "(N,)"))
        cost_matrix, lowest = _above_zero(amounts, size, known_classes(y_true, classes))
    rules = {f"decisions[{name!r}]": own for name, own in decisions.items()}
    rules |= {} if baseline is None else {"baseline": baseline}
    true, priced, *numbers = as_numbers(y_true, cost_matrix, classes, **rules)
    costs = example_costs(true, priced) + lowest
    bounds = CostBounds(true, priced, largest, lowest)
    constant = int(costs.mean(axis=0).argmin())
    shape = (0, costs.shape[1]) if priced is None else priced.shape[-2:]
    labels, options = names_of(shape, class_names, decision_names, classes)
    today = None if baseline is None else numbers.pop()
    chosen = dict(zip(map(str, decisions), numbers, strict=True))
    always = np.full(len(costs), constant)
    names = sorted(chosen, key=lambda name: chosen_costs(costs, chosen[name]).mean())

    def row(name: str, decisions: np.ndarray, best: np.ndarray | None = None) -> CostRow:
        """Returns the costs of decisions, compared with those of others."""
        paid = chosen_costs(costs, decisions)
        low, high = BoundedMean(paid, *bounds.of_costs(paid)).interval()
        per_class: tuple[float, ...] = ()
        if priced is not None:
            per_class = tuple((cost_per_class(true, decisions, priced) + lowest).tolist())

        def against(rival: np.ndarray | None) -> CostDifference | None:
            if rival is None or rival is decisions:
                return None
            return paired_difference(paid, chosen_costs(costs, rival), bounds)

        of_constant = costs[:, constant].mean()
        return CostRow(
            name=name,
            average_cost=float(paid.mean()),
            low=low,
            high=high,
            normalized_cost=float(paid.mean() / of_constant) if of_constant > 0 else float("nan"),
            error_rate=error_rate(true, decisions, priced),
            abstained=float(np.mean(decisions >= len(per_class))) if per_class else 0.0,
            per_class=per_class,
            against_best=against(best),
            total_cost=float(paid.mean()) * len(paid),
            against_constant=against(always),
            against_baseline=against(today),
        )

    remarks = [
        f"{name}: {rule.sentence} {rule.outcome_sentence(y_true, decisions[name])}"
        for name, rule in (promises or {}).items()
    ]
    for name, own in (probabilities or {}).items():
        if not isinstance(cost_matrix, CostRange):
            raise ValueError("`probabilities` need a `cost_matrix` from csdl_keras.costs.between.")
        regret = chosen_costs(cost_matrix.regrets(own), chosen[name])
        remarks.append(
            f"{name}: within the ranges, other costs would change {(regret > 0).mean():.1%} of the "
            f"decisions; at worst, these cost {_report_text.number(regret.mean())} more per "
            "decision than the best ones."
        )
    return CostReport(
        rows=tuple(row(name, chosen[name], chosen[names[0]]) for name in names),
        size=len(costs),
        constant=row(f"always {options[constant]}", always),
        constant_decision=constant,
        constant_name=options[constant],
        baseline=None if today is None else row("today's rule", today),
        unit=unit,
        class_names=tuple(labels),
        largest_seen=bounds.largest_seen,
        ten_largest=bounds.ten_largest,
        right_is_free=not costs.min(axis=1).any(),
        has_gains=bool((costs < 0).any()),
        remarks=tuple(remarks),
    )


def _above_zero(amounts: CostsLike, number: int, classes: Any) -> tuple[CostsLike, float]:
    """Returns amounts less the lowest one, so that none is negative, and the lowest one."""
    if isinstance(amounts, AffineCosts):
        return amounts, 0.0
    shape = "(K, D), or (N, K, D), a matrix for each example"
    ndim = 3 if as_array("amounts", amounts, shape).ndim == 3 else 2
    array = check_amounts("amounts", amounts, ndim, shape, classes=classes)
    lowest = float(array.min())
    array -= lowest
    if array.ndim == 3:
        return array, lowest
    # In a cost matrix, right decisions would have to cost nothing.
    return AffineCosts(np.zeros(number), np.zeros(array.shape), array), lowest
