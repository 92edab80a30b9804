"""The sizes that a grid comes in."""

import pytest

import csdl_keras as csdl
from csdl_keras.experiments.profiles import PROFILES
from tests.support.changes import setting_names


class TestProfiles:
    def test_names(self):
        assert list(PROFILES) == ["tiny", "small", "paper"]
        for profile in PROFILES.values():
            assert profile.algorithms == csdl.PAPER_ALGORITHMS
            assert set(profile.grids) <= setting_names(csdl.Settings()).keys()

    def test_the_paper(self):
        paper = PROFILES["paper"]
        assert paper.settings.mlp.hidden_units == (3000, 3000, 3000)
        assert paper.grids["pretraining.beta"] == (0.0, 0.05, 0.1, 0.25, 0.4, 0.75, 1.0)
        assert len(paper.datasets) == 8 and paper.train_size is None

    def test_tiny_needs_no_download(self):
        names = {name.removesuffix("_imb") for name in PROFILES["tiny"].datasets}
        assert names <= set(csdl.datasets.EMBEDDED)

    @pytest.mark.parametrize("profile", PROFILES)
    def test_every_value_can_be_set(self, profile):
        for field, values in PROFILES[profile].grids.items():
            for value in values:
                PROFILES[profile].settings.replace({field: value})
