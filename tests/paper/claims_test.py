import numpy as np
import pandas
import pytest
import scipy.stats

from csdl_keras.paper.beta_curve import read_beta_curves
from csdl_keras.paper.claims import Claim, claims, compared
from csdl_keras.paper.differences import Difference
from tests.paper.made_up_folder import DATA, ERRORS, columns_of, write_folder

CHEAPER = Difference(-1, -2, -0.5, 0.5, 3)
OPEN = Difference(0.1, -1, 1, 1.0, 3)
COSTLIER = Difference(1, 0.5, 2, 2.0, 3)
ONE_MATRIX = Difference(-1, -2, -0.5, 0.5, 1)
BY_RATIO = Difference(0.1, -1, 1, 1.0, 3, 1, 0.5, 0.9)


def pair(difference, **more):
    return compared("d", "a", "b", difference, **more)


def claim_of(*rows, **options):
    rows = [it if isinstance(it, dict) else pair(it) for it in rows]
    return Claim("?", pandas.DataFrame(rows, columns=list(pair(OPEN))), **options)


def counted(cheaper, tied, costlier, **options):
    found = [CHEAPER] * cheaper + [OPEN] * tied + [COSTLIER] * costlier
    return claim_of(*(pair(it, paper_ratio=0.9) for it in found), **options)


class TestClaim:
    @pytest.mark.parametrize(
        "counts, verdict",
        [
            ((0, 0, 0), "no figures"),
            ((5, 2, 1), "supported"),
            ((4, 4, 0), "mixed"),
            ((6, 0, 2), "mixed"),
            ((2, 6, 0), "mixed"),
            ((1, 7, 0), "not supported"),
        ],
    )
    def test_verdicts(self, counts, verdict):
        claim = counted(*counts)
        assert (claim.counts, claim.verdict) == (counts, verdict)

    def test_ties_may_support(self):
        assert counted(0, 8, 0, ties_support=True).verdict == "supported"
        assert counted(8, 0, 0, ties_support=True).verdict == "supported"
        assert counted(0, 4, 4, ties_support=True).verdict == "mixed"

    @pytest.mark.parametrize(
        "rows, told",
        [
            (
                [CHEAPER, pair(COSTLIER, collapsed=True)],
                ", 1 with a collapsed network (without: 1 of 1 for, supported)",
            ),
            (  # β = 0 is the pre-training of SDAE, so such a pair says little of costs in it.
                [pair(CHEAPER, same_pretraining=True), OPEN],
                "1 with the same pre-training, since β = 0 (without: 0 of 1 for, not supported)",
            ),
            ([ONE_MATRIX, COSTLIER], ", 1 against, 1 of them on one matrix and one training"),
            (
                [CHEAPER, BY_RATIO],
                "1 open, each with one training seed; by intervals of ratios 2 for, 0 against: "
                "supported",
            ),
        ],
    )
    def test_summaries(self, rows, told):
        assert told in claim_of(*rows).summary

    def test_ratios_are_geometric_means(self):
        assert counted(1, 0, 2).ratios == ["1.26", "0.90"]  # One data set has no interval.
        assert claim_of(BY_RATIO).ratios == ["1.00 [0.50, 0.90]", "–"]
        assert counted(0, 0, 0).ratios == ["–", "–"]

    def test_data_sets_are_clusters(self):
        """With one comparison in each, the interval is Student's of the logarithms."""
        claim = claim_of(*(pair(it) | {"data": it.ratio} for it in (CHEAPER, OPEN, COSTLIER)))
        logs = np.log(claim.comparisons["ratio"])
        low, high = np.exp(scipy.stats.t.interval(0.95, 2, logs.mean(), scipy.stats.sem(logs)))
        assert claim.ratios[0] == f"1.00 [{low:.2f}, {high:.2f}]"
        twice = Claim("?", pandas.concat([claim.comparisons] * 2))
        assert twice.ratios == claim.ratios

    def test_rows(self):
        claim = claim_of(CHEAPER, pair(OPEN, differ=("fewer examples",)))
        assert claim.table["difference [95 %]"][0] == "−1.000 [−2.000, −0.500]"
        assert claim.row["differences"] == "−1.000 to +0.100; 1 of 2 intervals exclude 0"
        assert claim.row["setting"] == "not the paper's: fewer examples in 1 of 2"


@pytest.fixture(scope="module")
def starting(tmp_path_factory):
    """A function from the first words of a claim to the claim."""
    folder = tmp_path_factory.mktemp("results")
    errors = {"dnn_bayes": 0.4, "sdae_bayes": 0.3, "scae_bayes": 0.2}
    write_folder(folder, DATA[:2], {**ERRORS, **errors}, seeds=range(1000, 1005))
    found = claims(columns_of(folder), read_beta_curves(folder))

    def starting(words):
        (claim,) = [claim for claim in found if claim.statement.startswith(words)]
        return claim

    return starting


def pairs(claim):
    return list(zip(claim.comparisons["first"], claim.comparisons["second"], strict=True))


class TestClaims:
    def test_costs_are_necessary(self, starting):
        claim = starting("the best cost-sensitive algorithm costs less")
        assert claim.verdict == "supported"
        assert list(claim.comparisons["data"]) == ["MNIST", "MNIST, imbalanced"]
        # The row that the paper does not have is not among the best, though it is cheap.
        assert pairs(claim) == [("CNN Bayes", "CNN blind")] * 2
        ratios = list(claim.comparisons["paper_ratio"])
        assert ratios == pytest.approx([0.09 / 0.1, 0.18 / 0.19])
        # Convolutional networks have no layers that could be compared.
        assert list(claim.comparisons["differ"]) == [("fewer examples",)] * 2
        shallow = starting("algorithms of the SOSR series").comparisons["differ"][0]
        assert shallow == ("fewer examples", "other layers")

    def test_sosr_against_bayes(self, starting):
        claim = starting("algorithms of the SOSR series")
        names = [("DNN SOSR", "DNN Bayes"), ("CSDNN", "SCAE Bayes"), ("CNN SOSR", "CNN Bayes")]
        assert pairs(claim) == names * 2
        assert claim.verdict == "not supported"
        assert pairs(starting("so they do especially on imbalanced")) == names

    def test_the_other_claims(self, starting):
        shallow = starting("CSOSR and MIN often cost less")
        assert shallow.verdict == "mixed"  # below DNN blind, above CNN blind
        claim = starting("CSDNN is competitive")
        assert claim.counts == (0, 0, 2) and claim.verdict == "not supported"
        assert starting("SDAE SOSR costs less").summary == "nothing to compare yet"
        for end in (0, 1):
            claim = starting(f"some β between 0 and 1 costs less than β = {end}")
            assert claim.verdict == "supported"
            assert pairs(claim) == [("β = 0.4", f"β = {end}")] * 2
