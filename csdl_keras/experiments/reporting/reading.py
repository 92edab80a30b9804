"""Reads the files of a results folder: rows of its CSV files, and prices of its decisions."""

import dataclasses
import math
import pathlib
from collections.abc import Iterable

import numpy as np

from csdl_keras._utils.array_file import read_npz
from csdl_keras.evaluation import compare_costs
from csdl_keras.experiments.decision_files import beta_name, decisions_name, is_collapsed
from csdl_keras.experiments.reporting.comparison import Run
from csdl_keras.experiments.results import CellRow
from csdl_keras.experiments.saving import Saving
from csdl_keras.training.algorithms import get_algorithm


@dataclasses.dataclass(frozen=True)
class ResultRow(Saving, CellRow):
    """The columns of `results.csv` that the report needs, see `Result`.

    `average_cost` is infinite if training diverged; `validation_cost` is NaN if unknown, `beta`
    if pre-training does not look at costs. The last columns are not in every folder.
    """

    average_cost: float
    validation_cost: float
    train_size: int
    seed: int = 0
    collapsed: bool = False
    tried_again: int = 0
    hidden_units: str = ""
    beta: float = math.nan

    def __post_init__(self) -> None:
        if not self.average_cost >= 0:  # This form rejects NaN as well.
            raise ValueError(
                f"Expected `average_cost` to be a number of at least 0; received "
                f"{self.average_cost}."
            )


@dataclasses.dataclass(frozen=True)
class BetaRow(CellRow):
    """A row of `beta_curve.csv`: the cost after pre-training with one `beta`.

    Args:
        beta: share of the cost-aware loss in pre-training, in [0, 1].
        test_cost: average cost of a test example; infinite if training diverged.
        standard_error: standard error of `test_cost` over test examples; ignored, as is
            `validation_cost`, if training diverged.
        validation_cost: average cost of a validation example.
    """

    beta: float
    test_cost: float
    standard_error: float
    validation_cost: float

    def __post_init__(self) -> None:
        if not 0 <= self.beta <= 1:
            raise ValueError(f"Expected `beta` in [0, 1]; received {self.beta}.")
        if self.test_cost == math.inf:
            return
        for name in ("test_cost", "standard_error", "validation_cost"):
            value = getattr(self, name)
            if not 0 <= value < math.inf:
                raise ValueError(
                    f"Expected `{name}` to be a finite number of at least 0; received {value}."
                )


@dataclasses.dataclass(frozen=True)
class PricedDecisions:
    """The decisions of algorithms on one data set, each priced with its cost matrix.

    Args:
        costs: `{algorithm: {(cost_seed, seed): costs (N,)}}`.
        largest: the largest cost of each matrix.
        collapsed: `(algorithm, cost_seed, seed)` of those that cost no less than the best single
            decision for all examples, or are a single decision; the cost-blind series is
            measured in errors.
        savings: what each of them saves.
    """

    costs: dict[str, dict[Run, np.ndarray]]
    largest: dict[int, float]
    collapsed: set[tuple[str, int, int]]
    savings: dict[tuple[str, int, int], Saving] = dataclasses.field(default_factory=dict)

    def saving(self, row: ResultRow) -> Saving:
        """Returns what the result of a row saves, by its columns if there are no decisions."""
        return self.savings.get((row.algorithm, row.cost_seed, row.seed), row)


def read_decision_costs(
    path: pathlib.Path, rows: Iterable[ResultRow], ending: str = ""
) -> PricedDecisions:
    """Reads the decisions of algorithms and prices each one with its cost matrix.

    Args:
        path: an npz file with `labels`, `matrix_SEED` and arrays named by `decisions_name`.
        rows: the rows of `results.csv` on this data set.
        ending: ending of the names of arrays. Defaults to none.

    Returns:
        The decisions; rows without decisions are left out, so there are none if the file
        does not exist.

    Raises:
        ValueError: if arrays do not fit together, or do not cost `average_cost`.
    """
    arrays = _DecisionArrays(path)
    costs: dict[str, dict[Run, np.ndarray]] = {}
    collapsed, savings = set(), {}
    for row in rows:
        name = decisions_name(row.algorithm, row.cost_seed, row.seed) + ending
        priced = arrays.price(name, row.cost_seed)
        if priced is None:
            continue
        # Figures and decisions of different runs must not be mixed.
        if not np.isclose(priced.mean(), row.average_cost, rtol=1e-3, atol=1e-6):
            raise ValueError(
                f"Expected {name} in {path} to cost what results.csv says, {row.average_cost}; "
                f"received decisions that cost {priced.mean()}."
            )
        costs.setdefault(row.algorithm, {})[row.cost_seed, row.seed] = priced
        savings[row.algorithm, row.cost_seed, row.seed] = arrays.saving(name, row.cost_seed)
        in_errors = get_algorithm(row.algorithm).series == "blind"
        if arrays.is_collapsed(name, row.cost_seed, in_errors):
            collapsed.add((row.algorithm, row.cost_seed, row.seed))
    return PricedDecisions(costs, arrays.largest, collapsed, savings)


def read_beta_costs(
    path: pathlib.Path, rows: Iterable[BetaRow]
) -> tuple[dict[float, dict[int, np.ndarray]], dict[int, float], set[float]]:
    """Reads the decisions of a beta curve and prices each one with its cost matrix.

    Args:
        path: an npz file, see `read_decision_costs`, with `ALGORITHM_SEED_beta_BETA`.
        rows: the rows of `beta_curve.csv` on this data set.

    Returns:
        costs: `{beta: {cost_seed: costs (N,)}}`; points without decisions are left out.
        largest: the largest cost of each matrix.
        collapsed: betas that, for a matrix at least, cost no less than the best single decision
            for all examples.

    Raises:
        ValueError: if arrays do not fit together.
    """
    arrays = _DecisionArrays(path)
    costs: dict[float, dict[int, np.ndarray]] = {}
    collapsed = set()
    for row in rows:
        name = beta_name(row.algorithm, row.cost_seed, row.beta)
        priced = arrays.price(name, row.cost_seed)
        if priced is not None:
            costs.setdefault(row.beta, {})[row.cost_seed] = priced
            if arrays.is_collapsed(name, row.cost_seed):
                collapsed.add(row.beta)
    return costs, arrays.largest, collapsed


class _DecisionArrays:
    """The arrays of a file of test decisions; no arrays if the file does not exist.

    Args:
        path: the npz file.
    """

    def __init__(self, path: pathlib.Path):
        self.path = path
        self.largest: dict[int, float] = {}
        self._arrays = read_npz(path) if path.is_file() else {}

    def price(self, name: str, cost_seed: int) -> np.ndarray | None:
        """Returns the costs `(N,)` of the decisions `name`, `None` if they are not in the file."""
        if name not in self._arrays:
            return None
        labels, decisions = self._get("labels"), self._arrays[name]
        matrix = self._get(f"matrix_{cost_seed}")
        square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1]
        fits = square and labels.ndim == 1 and labels.size > 0 and labels.shape == decisions.shape
        if not fits or max(labels.max(), decisions.max()) >= len(matrix):
            raise ValueError(
                f"Expected labels and {name} in {self.path} to be (N,) classes of a (K, K) matrix; "
                f"received the shapes {labels.shape}, {decisions.shape} and {matrix.shape}."
            )
        self.largest[cost_seed] = float(matrix.max())
        return matrix.astype("float64")[labels, decisions]

    def saving(self, name: str, cost_seed: int) -> Saving:
        """Returns what decisions, which are in the file, save; see `is_collapsed`."""
        labels, matrix = self._get("labels"), self._get(f"matrix_{cost_seed}").astype("float64")
        means = matrix[labels].mean(axis=0)
        always = np.full(len(labels), means.argmin())
        pair = compare_costs(labels, self._arrays[name], always, matrix)
        return Saving.by(pair, str(means.argmin()), float(means.min()))

    def is_collapsed(self, name: str, cost_seed: int, in_errors: bool = False) -> bool:
        """Tells whether decisions, which are in the file, are no better than a single one for all.

        Args:
            name: name of the array.
            cost_seed: seed of the cost matrix.
            in_errors: whether to count errors in place of costs. Defaults to False.
        """
        labels, matrix = self._get("labels"), self._get(f"matrix_{cost_seed}")
        return is_collapsed(self._arrays[name], labels, matrix, in_errors)

    def _get(self, name: str) -> np.ndarray:
        if name not in self._arrays:
            raise ValueError(
                f"Expected an array {name!r} in {self.path}; "
                f"received {', '.join(list(self._arrays)[:8])}, …"
            )
        return self._arrays[name]
