"""Test cost by beta, the share of the cost-aware loss in pre-training."""

import pathlib
from collections.abc import Iterable

import numpy as np
import pandas

from csdl_keras.paper.differences import Difference, Run, paired_difference
from csdl_keras.paper.results import Decisions, beta_name, read_choices, read_points
from csdl_keras.paper.table2 import data_order, variant_title


class BetaCurve:
    """Mean test cost for each beta on one data set, from its rows of `beta_curve.csv`.

    Means are over the cost matrices that have the most betas, so that all points are over the same
    matrices. Betas for which training diverged are left out. `collapsed` are those whose network
    collapsed on validation.
    """

    def __init__(
        self, rows: pandas.DataFrame, decisions: Decisions, collapsed: Iterable[float] = ()
    ):
        self.label, self.title = decisions.label, variant_title(decisions.label)
        found = {*collapsed}
        self._priced: dict[float, dict[Run, np.ndarray]] = {}
        self._largest = {}
        for row in rows.to_dict("records"):
            seed, beta = row["cost_seed"], row["beta"]
            name = beta_name(row["algorithm"], seed, beta)
            priced = decisions.priced(name, seed)
            if priced is not None:
                self._priced.setdefault(beta, {})[seed, 0] = priced
                self._largest[seed] = float(decisions.matrix(seed).max())
                if decisions.collapsed(name, seed, row["algorithm"]):
                    found.add(beta)
        self.collapsed = sorted(found)
        costs, errors, validation = (
            rows.pivot(index="cost_seed", columns="beta", values=name)
            for name in ("test_cost", "standard_error", "validation_cost")
        )
        longest = costs.notna().loc[costs.notna().sum(axis=1).idxmax()]
        full = costs.notna().eq(longest).all(axis=1)
        self._seeds = list(costs.index[full])
        self.matrices = len(self._seeds)
        # A beta whose training diverged for a matrix has no mean.
        by_matrix = costs[full].loc[:, np.isfinite(costs[full]).all()]
        self.betas = by_matrix.columns.to_numpy()
        self.costs = by_matrix.mean().to_numpy()
        # The matrices are taken as fixed, so only the errors over test examples add up.
        squares = (errors.loc[full, self.betas] ** 2).sum()
        self.standard_errors = np.sqrt(squares.to_numpy()) / self.matrices
        self.validation = validation.loc[full, self.betas].mean().to_numpy()

    @property
    def chosen(self) -> int | None:
        """Index of the beta inside (0, 1) with the lowest validation cost."""
        inside = np.flatnonzero((self.betas > 0) & (self.betas < 1))
        return int(min(inside, key=lambda i: self.validation[i])) if len(inside) else None

    def compare(self, end: float) -> Difference | None:
        """Returns the test cost of the chosen beta less that of `end`, `None` if unknown."""
        if self.chosen is None or end not in self.betas:
            return None
        own, other = (
            {run: it for run, it in self._priced.get(beta, {}).items() if run[0] in self._seeds}
            for beta in (self.betas[self.chosen], end)
        )
        if len(own) == len(other) == self.matrices:
            return paired_difference(own, other, self._largest)
        return None


def read_beta_curves(folder: pathlib.Path) -> list[BetaCurve]:
    """Returns a curve for each data set of `beta_curve.csv`; none if there is no such file."""
    choices = read_choices(folder)
    choices = choices[(choices["parameter"] == "beta") & choices["collapsed"].astype(bool)]
    curves = []
    for label, rows in read_points(folder).groupby("label"):
        own = choices["label"].eq(label) & choices["algorithm"].isin(rows["algorithm"])
        collapsed = choices["value"][own].astype(float)
        curves.append(BetaCurve(rows, Decisions(folder, str(label)), collapsed))
    curves.sort(key=lambda curve: data_order(curve.label))
    return [curve for curve in curves if len(curve.betas)]
