"""Networks trained on larger costs, beside those of the committed results."""

import numpy as np
import pytest


@pytest.fixture
def module(program):
    return program("sosr_scale")


def test_costs_are_as_many_times_as_large(module):
    matrix = np.array([[0.0, 2.0], [8.0, 0.0]])
    algorithm = module.scaled(16)
    assert algorithm.name == "dnn_sosr_16"
    assert algorithm.objective.unit_of(matrix) == 0.5
    assert algorithm.objective.loss is module.csdl.ALGORITHMS["dnn_sosr"].objective.loss


def test_the_table_has_ratios_to_the_bayes_decision(module):
    row = dict.fromkeys(module.FIELDS, "0") | {"collapsed": "False", "imbalanced": "True"}
    row |= {"dataset": "mnist", "learning_rate": "0.01", "optimizer_name": "sgd"}
    made = [
        {**row, "algorithm": name, "cost_seed": str(seed), "average_cost": cost, **more}
        for name, cost, more in (
            ("dnn_bayes", "1.0", {"error_rate": "0.5"}),
            ("dnn_sosr", "3.0", {"collapsed": "True"}),
            ("dnn_sosr_4", "2.0", {}),
            ("csdnn", "9.0", {}),
        )
        for seed in (1000, 1001)
    ]
    # Of other training seeds there is nothing to compare.
    made.append({**row, "algorithm": "dnn_sosr", "seed": "1", "average_cost": "99.0"})
    results = module.only(module.of_grid(made, (4,)), module.FIELDS)
    assert {it["dataset"] for it in results} == {"mnist_imb"} and len(results) == 6
    tried = [dict.fromkeys(module.TRIED, "True") | {"dataset": "mnist_imb", "scale": "4"}] * 3
    lines = module.table(results, tried).splitlines()
    assert lines[2] == "| mnist_imb | Bayes |  | 0 | 0 | sgd 0.01 | 1.000 | 0 of 2 | 1.00 | 50.0% |"
    assert "| SOSR | 1 | 0 | 0 | sgd 0.01 | 3.000 | 2 of 2 | 3.00 |" in lines[3]
    assert "| SOSR | 4 | 3 | 3 | sgd 0.01 | 2.000 | 0 of 2 | 2.00 |" in lines[4]
