"""Values of a choice, and those beyond them."""

import pytest

from csdl_keras.experiments.search import MOST_ADDED, Search

RATES = Search("mlp.learning_rate", (0.01, 0.04), True, {"mlp.optimizer_name": "adam"})


def test_the_next_value_goes_on_by_the_factor_of_its_neighbours():
    assert RATES.next_value([0.01, 0.04], best=0.04) == 0.16
    assert RATES.next_value([0.01, 0.04], best=0.01) == 0.0025
    assert RATES.next_value([0.01, 0.04, 0.0025], best=0.01) is None
    assert RATES.choices(0.1) == {"mlp.optimizer_name": "adam", "mlp.learning_rate": 0.1}


def test_a_search_ends_though_the_best_value_stays_at_the_edge():
    tried = list(RATES.values)
    while (value := RATES.next_value(tried, best=max(tried))) is not None:
        tried.append(value)
    assert len(tried) == 2 + MOST_ADDED
    assert tried[-1] == pytest.approx(0.01 * 4 ** (1 + MOST_ADDED), rel=1e-4)
    assert RATES.edge(tried, max(tried)) == "high" and RATES.edge(tried, min(tried)) == "low"
    assert RATES.edge(tried, 0.04) == ""


def test_natural_ends_are_no_edges():
    betas = Search("pretraining.beta", (0.0, 0.5, 1.0))
    assert betas.edge(betas.values, 1.0) == "" and betas.next_value(betas.values, 1.0) is None
