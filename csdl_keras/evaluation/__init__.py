"""Scores, confidence intervals and comparisons of any classifier's decisions, in NumPy."""

from csdl_keras.evaluation.calibration_error import Reliability, calibration_error, reliability
from csdl_keras.evaluation.cost_report import CostReport, cost_report
from csdl_keras.evaluation.curves import (
    CostCurve,
    DecisionCurve,
    cost_curve,
    decision_curve,
    net_benefit,
)
from csdl_keras.evaluation.estimate_priors import PriorEstimate, estimate_priors
from csdl_keras.evaluation.intervals import CostDifference, compare_costs, cost_interval
from csdl_keras.evaluation.risk_coverage import risk_coverage_area, risk_coverage_curve
from csdl_keras.evaluation.scores import (
    average_cost,
    cost_per_class,
    decision_costs,
    error_rate,
    normalized_cost,
    savings,
)

__all__ = [
    "CostCurve",
    "CostDifference",
    "CostReport",
    "DecisionCurve",
    "PriorEstimate",
    "Reliability",
    "average_cost",
    "calibration_error",
    "compare_costs",
    "cost_curve",
    "cost_interval",
    "cost_per_class",
    "cost_report",
    "decision_costs",
    "decision_curve",
    "error_rate",
    "estimate_priors",
    "net_benefit",
    "normalized_cost",
    "reliability",
    "risk_coverage_area",
    "risk_coverage_curve",
    "savings",
]
