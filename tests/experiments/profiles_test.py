"""The sizes that a grid comes in."""

import pytest

import csdl_keras as csdl
from csdl_keras.experiments.profiles import PROFILES


def test_profiles():
    assert list(PROFILES) == ["tiny", "small", "paper"]
    for profile in PROFILES.values():
        assert profile.algorithms == csdl.PAPER_ALGORITHMS
        for search in profile.searches:
            for value in search.values:
                profile.settings.replace(search.choices(value))
    assert set(PROFILES["tiny"].datasets) <= set(csdl.datasets.EMBEDDED)  # no download


def test_the_paper():
    paper = PROFILES["paper"]
    assert paper.settings.mlp.hidden_units == (3000, 3000, 3000)
    (betas,) = [it.values for it in paper.searches if it.field == "pretraining.beta"]
    assert betas == (0.0, 0.05, 0.1, 0.25, 0.4, 0.75, 1.0)
    assert len(paper.datasets) == 10 and paper.train_size is None and paper.cost_seeds >= 3
    assert paper.settings_on("mnist_imb").mlp.hidden_units == (3000, 3000, 3000)
    assert paper.settings_on("cifar10_imb").mlp.hidden_units == (1000, 1000, 1000)


@pytest.mark.parametrize("body", ["mlp", "cnn"])
@pytest.mark.parametrize("name", ["small", "paper"])
def test_every_network_of_a_kind_has_the_same_search_of_rates(name, body):
    names = [it for it in csdl.PAPER_ALGORITHMS if csdl.ALGORITHMS[it].body == body]
    rounds = [PROFILES[name].rounds(csdl.ALGORITHMS[it])[0] for it in names]
    assert all(it == rounds[0] for it in rounds)
    optimizers = [search.given[f"{body}.optimizer_name"] for search in rounds[0]]
    assert optimizers == ["sgd", "adam"] and all(search.widens for search in rounds[0])
