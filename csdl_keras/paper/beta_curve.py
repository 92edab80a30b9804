"""Test cost by beta, the weight of the cost-aware loss in pre-training."""

import pathlib
from collections.abc import Iterable

import numpy as np
import pandas

from csdl_keras.paper.differences import Difference, paired_difference
from csdl_keras.paper.results import Decisions, beta_name, read_table
from csdl_keras.paper.table2 import data_order, variant_title


class BetaCurve:
    """Test cost by beta for one cost matrix of a data set; diverged trainings are left out."""

    def __init__(self, rows: pandas.DataFrame, decisions: Decisions, collapsed: Iterable[float]):
        self.label, self.title = decisions.label, variant_title(decisions.label)
        rows = rows[np.isfinite(rows["test_cost"])].sort_values("beta")
        columns = "beta test_cost standard_error validation_cost".split()
        self.betas, self.costs, self.standard_errors, self.validation = rows[columns].to_numpy().T
        found, self._priced = {*collapsed}, {}
        for beta, seed, algorithm in rows[["beta", "cost_seed", "algorithm"]].to_numpy().tolist():
            name = beta_name(algorithm, seed, beta)
            self._priced[beta] = {(seed, 0): decisions.priced(name, seed)}
            self._largest = {seed: float(decisions.matrix(seed).max())}
            if decisions.collapsed(name, seed, algorithm):
                found.add(beta)
        self.collapsed = sorted(found)

    @property
    def chosen(self) -> int | None:
        """Index of the beta inside (0, 1) with the lowest validation cost."""
        inside = np.flatnonzero((self.betas > 0) & (self.betas < 1))
        return int(min(inside, key=lambda i: self.validation[i])) if len(inside) else None

    def compare(self, end: float) -> Difference | None:
        """Returns the test cost of the chosen beta minus that of `end`, or `None` if unknown."""
        if self.chosen is None or end not in self.betas:
            return None
        own, other = self._priced[self.betas[self.chosen]], self._priced[end]
        return paired_difference(own, other, self._largest)


def read_beta_curves(folder: pathlib.Path) -> list[BetaCurve]:
    """Returns a curve for each data set in `beta_curve.csv`, if there is such a file."""
    choices = read_table(folder, "choices.csv")
    choices = choices[(choices["parameter"] == "beta") & choices["collapsed"].astype(bool)]
    curves = []
    for label, rows in read_table(folder, "beta_curve.csv").groupby("label"):
        own = choices["label"].eq(label) & choices["algorithm"].isin(rows["algorithm"])
        collapsed = choices["value"][own].astype(float)
        curves.append(BetaCurve(rows, Decisions(folder, str(label)), collapsed))
    curves.sort(key=lambda curve: data_order(curve.label))
    return [curve for curve in curves if len(curve.betas)]
