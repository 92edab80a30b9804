"""Test cost by beta, the share of the cost-aware loss in pre-training."""

import pathlib

import numpy as np
import pandas

from csdl_keras.paper.decisions import Decisions, beta_name
from csdl_keras.paper.differences import Difference, PairedDifferences
from csdl_keras.paper.results import read_choices, read_frame
from csdl_keras.paper.titles import data_order, variant_title

_COLUMNS = {"dataset": str, "imbalanced": bool, "algorithm": str, "cost_seed": int}
_COLUMNS |= dict.fromkeys(("beta", "test_cost", "standard_error", "validation_cost"), float)


class BetaCurve:
    """Mean test cost for each beta on one data set.

    Means are over the cost matrices that have the most betas, so that all points
    of the curve are over the same matrices. Betas for which training diverged are
    left out.

    Args:
        rows: the rows of `beta_curve.csv` on this data set.
        decisions: the test decisions on it, as far as there are any.
        collapsed: betas whose network collapsed on validation. Defaults to none.
    """

    def __init__(
        self,
        rows: pandas.DataFrame,
        decisions: Decisions,
        collapsed: frozenset[float] = frozenset(),
    ):
        first = rows.iloc[0]
        self.dataset, self.imbalanced = first["dataset"], bool(first["imbalanced"])
        self.title = variant_title(self.dataset, self.imbalanced)
        found = {*collapsed}
        self._priced: dict[float, dict[tuple[int, int], np.ndarray]] = {}
        self._largest = {}
        for row in rows.to_dict("records"):
            seed, beta = row["cost_seed"], row["beta"]
            name = beta_name(row["algorithm"], seed, beta)
            priced = decisions.priced(name, seed)
            if priced is not None:
                self._priced.setdefault(beta, {})[seed, 0] = priced
                self._largest[seed] = float(decisions.matrix(seed).max())
                if decisions.collapsed(name, seed):
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
        self._by_matrix = costs[full].loc[:, np.isfinite(costs[full]).all()]
        self.betas = self._by_matrix.columns.to_numpy()
        self.costs = self._by_matrix.mean().to_numpy()
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
        """Returns the test cost of the chosen beta less that of `beta = end`, 0.0 or 1.0.

        It is `None` if one of them was not run, or test decisions are missing.
        """
        if self.chosen is None or end not in self.betas:
            return None
        pair = {}
        for beta in (self.betas[self.chosen], end):
            priced = self._priced.get(beta, {})
            pair[str(beta)] = {run: it for run, it in priced.items() if run[0] in self._seeds}
        if all(len(costs) == self.matrices for costs in pair.values()):
            return PairedDifferences(pair, self._largest).compare(*pair)
        return None


def read_beta_curves(folder: pathlib.Path) -> list[BetaCurve]:
    """Returns a curve for each data set of `beta_curve.csv`; none if there is no such file."""
    path = folder / "beta_curve.csv"
    if not path.exists():
        return []
    frame, choices = read_frame(path, _COLUMNS), read_choices(folder)
    finite = frame[["test_cost", "standard_error", "validation_cost"]].ge(0).all(axis=1)
    wrong = ~frame["beta"].between(0, 1) | ~(finite | np.isinf(frame["test_cost"]))
    if wrong.any():
        raise ValueError(
            f"Expected betas in [0, 1] with costs of at least 0 in {path}; received "
            f"{frame[wrong].iloc[0].to_dict()}."
        )
    choices = choices[(choices["parameter"] == "beta") & choices["collapsed"]]
    curves = []
    groups = dict(list(frame.groupby(["dataset", "imbalanced"])))
    for name, imbalanced in sorted(groups, key=lambda key: data_order(*key)):
        rows = groups[name, imbalanced]
        own = choices[(choices["dataset"] == name) & (choices["imbalanced"] == imbalanced)]
        own = own[own["algorithm"].isin(rows["algorithm"])]
        decisions = Decisions(folder, name + "_imb" * imbalanced)
        curves.append(BetaCurve(rows, decisions, frozenset(own["value"].astype(float))))
    return [curve for curve in curves if len(curve.betas)]
