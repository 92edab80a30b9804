"""The sizes that a grid comes in."""

import csdl_keras as csdl
from csdl_keras.experiments.profiles import PROFILES


def test_profiles():
    assert list(PROFILES) == ["tiny", "small", "paper"]
    for profile in PROFILES.values():
        assert profile.algorithms == csdl.PAPER_ALGORITHMS
        for field, values in profile.grids.items():
            for value in values:
                profile.settings.replace({field: value})
    assert set(PROFILES["tiny"].datasets) <= set(csdl.datasets.EMBEDDED)  # no download


def test_the_paper():
    paper = PROFILES["paper"]
    assert paper.settings.mlp.hidden_units == (3000, 3000, 3000)
    assert paper.grids["pretraining.beta"] == (0.0, 0.05, 0.1, 0.25, 0.4, 0.75, 1.0)
    assert len(paper.datasets) == 8 and paper.train_size is None
