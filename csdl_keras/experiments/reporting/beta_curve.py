"""Test cost by beta, the share of the cost-aware loss in pre-training."""

import collections
import pathlib
from collections.abc import Collection

import numpy as np

from csdl_keras.experiments.csv_files import read_csv
from csdl_keras.experiments.data_source import DataSource, results_path
from csdl_keras.experiments.reporting.comparison import (
    Difference,
    PairedDifferences,
    Run,
    over_groups,
)
from csdl_keras.experiments.reporting.paper import data_order, variant_title
from csdl_keras.experiments.reporting.reading import BetaRow, read_beta_costs
from csdl_keras.experiments.reporting.searches import collapsed_on_validation


class BetaCurve:
    """Mean test cost for each beta on one data set.

    Means are over the cost matrices that have the most betas, so that all points
    of the curve are over the same matrices. Betas for which training diverged are
    left out.

    Args:
        rows: the rows of `beta_curve.csv` on this data set.
        costs: `{beta: {cost_seed: costs of the test decisions (N,)}}`, as far
            as they are known; `None` (default) if none are.
        largest: `{cost_seed: the largest cost of the matrix}` of the matrices in
            `costs`; `None` (default) without `costs`.
        collapsed: betas whose network decides no better than one decision for all examples.
    """

    def __init__(
        self,
        rows: list[BetaRow],
        costs: dict[float, dict[int, np.ndarray]] | None = None,
        largest: dict[int, float] | None = None,
        collapsed: Collection[float] = (),
    ):
        self.dataset, self.imbalanced = rows[0].dataset, rows[0].imbalanced
        by_seed: dict[int, dict[float, BetaRow]] = collections.defaultdict(dict)
        for row in rows:
            by_seed[row.cost_seed][row.beta] = row
        longest = max(by_seed.values(), key=len)
        full = [points for points in by_seed.values() if points.keys() == longest.keys()]
        self.matrices = len(full)
        self.collapsed = [float(beta) for beta in sorted(collapsed)]
        self._examples, self._largest = costs or {}, largest or {}
        self._seeds = {line[min(line)].cost_seed for line in full}
        # A beta whose training diverged for a matrix has no mean.
        converged = [b for b in longest if all(np.isfinite(p[b].test_cost) for p in full)]
        self.betas = np.array(sorted(converged))
        grid = [[points[beta] for beta in self.betas] for points in full]
        self._by_matrix = np.array([[row.test_cost for row in line] for line in grid])
        self.costs = self._by_matrix.mean(axis=0)
        # The matrices are taken as fixed, so only the errors over test examples add up.
        squares = np.sum([[row.standard_error**2 for row in line] for line in grid], axis=0)
        self.standard_errors = np.sqrt(squares) / self.matrices
        self.validation = np.mean([[row.validation_cost for row in line] for line in grid], axis=0)

    @property
    def title(self) -> str:
        """Title of the data set, with its variant."""
        return variant_title(self.dataset, self.imbalanced)

    @property
    def chosen(self) -> int | None:
        """Index of the beta inside (0, 1) with the lowest validation cost."""
        inside = np.flatnonzero((self.betas > 0) & (self.betas < 1))
        return int(min(inside, key=lambda i: self.validation[i])) if len(inside) else None

    def compare(self, end: float) -> Difference | None:
        """Returns the test cost of the chosen beta less that of `beta = end`.

        The interval is that of `PairedDifferences`. Without the costs of each test
        example, the two averages are taken as independent, which makes it too wide.

        Args:
            end: 0.0 or 1.0.

        Returns:
            A `Difference`, or `None` if either beta was not run.
        """
        at = np.flatnonzero(self.betas == end)
        if self.chosen is None or not len(at):
            return None
        pair = {str(beta): self._costs_of(beta) for beta in (self.betas[self.chosen], end)}
        if all(len(costs) == self.matrices for costs in pair.values()):
            return PairedDifferences(pair, self._largest).compare(*pair)
        cost, other = self.costs[self.chosen], self.costs[at[0]]
        margin = 1.96 * np.hypot(self.standard_errors[self.chosen], self.standard_errors[at[0]])
        mean = float(cost - other)
        by_matrix = self._by_matrix[:, self.chosen] - self._by_matrix[:, at[0]]
        low, high = over_groups(by_matrix, mean - float(margin), mean + float(margin))
        ratio = float(cost / other) if other else float("nan")
        return Difference(mean, low, high, ratio, self.matrices)

    def _costs_of(self, beta: float) -> dict[Run, np.ndarray]:
        """Returns the known costs of the test examples by cost matrix; the training is one."""
        known = self._examples.get(beta, {})
        return {(seed, 0): costs for seed, costs in known.items() if seed in self._seeds}


def read_beta_curves(folder: pathlib.Path) -> list[BetaCurve]:
    """Reads `beta_curve.csv` of a results folder.

    Args:
        folder: results folder.

    Returns:
        A `BetaCurve` for each data set; an empty list if there is no such file.

    Raises:
        ValueError: if columns are missing or values do not fit.
    """
    path = folder / "beta_curve.csv"
    if not path.exists():
        return []
    groups: dict[tuple[str, bool], list[BetaRow]] = collections.defaultdict(list)
    for row in read_csv(path, BetaRow):
        groups[row.dataset, row.imbalanced].append(row)
    keys = sorted(groups, key=lambda key: (key[1], *data_order(key[0])))
    on_validation = collapsed_on_validation(folder)
    curves = []
    for key in keys:
        path = results_path(folder, DataSource(*key).label)
        costs, largest, collapsed = read_beta_costs(path, groups[key])
        for row in groups[key]:
            if row.beta in on_validation.get((*key, row.algorithm), ()):
                collapsed.add(row.beta)
        curves.append(BetaCurve(groups[key], costs, largest, collapsed))
    return [curve for curve in curves if len(curve.betas)]
