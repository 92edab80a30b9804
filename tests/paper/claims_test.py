import dataclasses

import pytest

from csdl_keras.paper.beta_curve import read_beta_curves
from csdl_keras.paper.claims import Claim, ComparedPair, claims
from csdl_keras.paper.differences import Difference
from tests.paper.made_up_folder import read_table, write_folder

CHEAPER = Difference(-1, -2, -0.5, 0.5, 3)
OPEN = Difference(0.1, -1, 1, 1.0, 3)
COSTLIER = Difference(1, 0.5, 2, 2.0, 3)


def claim_of(cheaper, tied, costlier, **options):
    differences = [CHEAPER] * cheaper + [OPEN] * tied + [COSTLIER] * costlier
    pairs = tuple(ComparedPair("d", "a", "b", each, 0.9) for each in differences)
    return Claim("?", "…", pairs, **options)


class TestClaim:
    @pytest.mark.parametrize(
        "counts, verdict",
        [
            ((0, 0, 0), "no figures"),
            ((1, 0, 0), "supported"),
            ((5, 2, 1), "supported"),
            ((4, 4, 0), "mixed"),
            ((6, 0, 2), "mixed"),
            ((2, 6, 0), "mixed"),
            ((1, 7, 0), "not supported"),
            ((0, 0, 8), "not supported"),
        ],
    )
    def test_verdicts(self, counts, verdict):
        claim = claim_of(*counts)
        assert (claim.counts, claim.verdict) == (counts, verdict)

    def test_ties_may_support(self):
        assert claim_of(0, 8, 0, ties_support=True).verdict == "supported"
        assert claim_of(8, 0, 0, ties_support=True).verdict == "supported"
        assert claim_of(0, 4, 4, ties_support=True).verdict == "mixed"

    def test_ratios_are_geometric_means(self):
        claim = claim_of(1, 0, 2)
        seeds = "each with one training seed"
        assert (
            claim.summary == f"1 of 3 for, 2 against, {seeds}; cost ratio 1.26, in the paper 0.90"
        )

    def test_a_verdict_that_rests_on_collapsed_networks_says_so(self):
        sound = ComparedPair("d", "a", "b", CHEAPER)
        collapsed = ComparedPair("d", "a", "b", COSTLIER, collapsed=True)
        summary = Claim("?", "…", (sound, collapsed)).summary
        assert "1 with a collapsed network (without: 1 of 1 for, supported);" in summary
        alone = Claim("?", "…", (collapsed,)).summary
        assert "1 with a collapsed network;" in alone

    def test_single_matrices_are_named(self):
        single = ComparedPair("d", "a", "b", dataclasses.replace(CHEAPER, matrices=1))
        several = ComparedPair("d", "a", "b", COSTLIER)
        claim = Claim("?", "…", (single,) * 2)
        assert "2 of 2 for, each on one matrix and one training alone;" in claim.summary
        mixed = Claim("?", "…", (single, several)).summary
        assert mixed.startswith("1 of 2 for, 1 against, 1 of them on one matrix and one training")
        seeds = dataclasses.replace(single.difference, seeds=3)
        trained = Claim("?", "…", (dataclasses.replace(single, difference=seeds),))
        assert "1 of 1 for, each on one matrix alone;" in trained.summary

    def test_single_training_seeds_are_counted(self):
        several = dataclasses.replace(CHEAPER, seeds=3)
        pairs = [ComparedPair("d", "a", "b", each) for each in (several, OPEN)]
        assert (
            "1 of 2 for, 1 open, 1 of them with one training seed;"
            in Claim("?", "…", tuple(pairs)).summary
        )
        assert "seed" not in Claim("?", "…", (pairs[0],)).summary

    def test_comparisons_with_the_same_pretraining_are_counted(self):
        """β = 0 is the pre-training of SDAE, so such a pair says little of costs in it."""
        pairs = [ComparedPair("d", "a", "b", CHEAPER, same_pretraining=it) for it in (True, False)]
        pairs[1] = dataclasses.replace(pairs[1], difference=OPEN)
        summary = Claim("?", "…", tuple(pairs)).summary
        same = "1 with the same pre-training, since β = 0 (without: 0 of 1 for, not supported);"
        assert same in summary

    def test_other_counts_by_intervals_of_ratios_are_told(self):
        known = dataclasses.replace(OPEN, ratio_low=0.5, ratio_high=0.9)
        pairs = [ComparedPair("d", "a", "b", each) for each in (CHEAPER, known)]
        summary = Claim("?", "…", tuple(pairs)).summary
        assert "1 open, each with one training seed; by intervals of ratios 2 for, 0 against:" in (
            summary
        )
        assert ": supported; cost ratio" in summary
        same = dataclasses.replace(OPEN, ratio_low=0.5, ratio_high=1.1)
        pairs[1] = ComparedPair("d", "a", "b", same)
        assert "by intervals" not in Claim("?", "…", tuple(pairs)).summary
        assert pairs[1].line[3] == "1.00 [0.50, 1.10]"

    def test_differences_from_the_paper_are_counted(self):
        differs = [("fewer examples", "other layers"), ("fewer examples",), ()]
        pairs = tuple(ComparedPair("d", "a", "b", OPEN, differs=it) for it in differs)
        told = "not the paper's: fewer examples in 2 of 3, other layers in 1 of 3"
        assert Claim("?", "…", pairs).line[-1] == told
        assert Claim("?", "…", pairs[2:]).line[-1] == "the paper's"
        assert claim_of(0, 0, 0).line[-1] == "–"


@pytest.fixture(scope="module")
def starting(tmp_path_factory):
    """A function from the first words of a claim to the claim."""
    folder = tmp_path_factory.mktemp("results")
    write_folder(folder, seeds=range(1000, 1008), skip=lambda d, i, n, s: n == "min" and i)
    found = claims(read_table(folder), read_beta_curves(folder))

    def starting(words):
        (claim,) = [claim for claim in found if claim.statement.startswith(words)]
        return claim

    return starting


def pairs(claim):
    return [(each.first, each.second) for each in claim.comparisons]


class TestClaims:
    def test_costs_are_necessary(self, starting):
        claim = starting("the best cost-sensitive algorithm costs less")
        assert claim.verdict == "supported"
        data = ["MNIST", "bg-img-rot, synthetic ‡", "MNIST, 5,000 images", "MNIST, imbalanced"]
        assert [each.data for each in claim.comparisons] == data
        # The row that the paper does not have is not among the best, though it is cheap.
        assert pairs(claim) == [("CNN Bayes", "CNN blind")] * 4
        ratios = [each.paper_ratio for each in claim.comparisons]
        assert ratios == pytest.approx([0.09 / 0.1, 2.40 / 3.05, None, 0.18 / 0.19])
        # Convolutional networks have no layers that could be compared.
        other = ("other data",)
        differs = [each.differs for each in claim.comparisons]
        assert differs == [("fewer examples",), other, other, ("fewer examples",)]
        shallow = starting("algorithms of the SOSR series").comparisons[0]
        assert shallow.differs == ("fewer examples", "other layers")

    def test_sosr_against_bayes(self, starting):
        claim = starting("algorithms of the SOSR series")
        assert pairs(claim) == [("DNN SOSR", "DNN Bayes"), ("CNN SOSR", "CNN Bayes")] * 4
        assert (claim.counts, claim.verdict) == ((0, 0, 8), "not supported")
        only = starting("so they do especially on imbalanced")
        assert only.comparisons == claim.comparisons[-2:]

    def test_depth(self, starting):
        claim = starting("the best cost-sensitive deep algorithm")
        assert claim.verdict == "supported"
        assert len(claim.comparisons) == 2 * 4 - 1
        assert {each.second for each in claim.comparisons} == {"CSOSR", "MIN"}
        shallow = starting("CSOSR and MIN often cost less")
        assert len(shallow.comparisons) == 2 * (2 * 4 - 1)
        assert shallow.verdict == "mixed"  # below DNN blind, above CNN blind

    def test_the_other_claims(self, starting):
        claim = starting("CSDNN is competitive")
        assert claim.counts == (0, 0, 4) and claim.verdict == "not supported"
        assert starting("CSDNN costs less than SEAE SOSR").verdict == "no figures"
        assert starting("SDAE SOSR costs less").summary == "nothing to compare yet"
        for end in (0, 1):
            claim = starting(f"some β between 0 and 1 costs less than β = {end}")
            assert claim.verdict == "supported"
            assert pairs(claim) == [("β = 0.4", f"β = {end}")] * 2

    def test_pretraining_before_the_bayes_decision(self, tmp_path):
        errors = {"dnn_bayes": 0.4, "sdae_bayes": 0.3, "scae_bayes": 0.2}
        write_folder(tmp_path, errors=errors, seeds=range(1000, 1008))
        found = claims(read_table(tmp_path), read_beta_curves(tmp_path))
        pretrained = [claim for claim in found if "with the Bayes decision" in claim.statement]
        first, second = (pairs(claim) for claim in pretrained)
        assert first == [("SDAE Bayes", "DNN Bayes")] * 4
        assert second == [("SCAE Bayes", "SDAE Bayes")] * 4
        assert [claim.verdict for claim in pretrained] == ["supported"] * 2
