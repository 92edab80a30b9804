import numpy as np
import pytest
from tests.guide_claims.figures import (
    FOLDERS,
    Figure,
    best_constant,
    costs,
    ratios,
    read,
    results,
    rows_of,
    says,
)

from csdl_keras.paper.report import read_contents

RARE = "bg_img_rot_synthetic_imb"
NUMBERS = {5: "five", 7: "seven", 10: "ten"}


def geometric(values):
    return float(np.exp(np.mean(np.log(list(values)))))


def test_larger_costs():
    means = {key: it.mean() for key, it in costs("sosr_scale", "dataset", "scale").items()}
    rows = [row for row in read("sosr_scale") if row["scale"] not in ("", "1")]
    wrong = sum(float(row["error_rate"]) > 0.8 for row in rows)
    assert len(rows) == 12
    says(
        "paper",
        f"{NUMBERS[wrong]} of the twelve networks with larger costs err on more than eight of ten",
    )
    bayes = means["cifar10_imb", ""]
    larger, plain = (means["cifar10_imb", scale] / bayes for scale in ("64", "1"))
    says("paper", f"{larger:.1f} times as much as DNN Bayes instead of {plain:.1f} times")
    percent = 100 * (1 - means["cifar10_imb", "64"] / best_constant("fair", "cifar10_imb"))
    assert min(means[RARE, it] for it in ("4", "16", "64")) > best_constant("fair", RARE)
    says(
        "paper",
        f"On CIFAR-10 they cost {percent:.0f} % less than the best single decision for all images, "
        "in the mean over three matrices, on bg-img-rot more than that with every larger scale",
    )


def test_trials_of_larger_costs():
    def collapsed(data, scale):
        rows = read("choices", "sosr_scale")
        own = [it for it in rows if (it["dataset"], it["scale"]) == (data, scale)]
        return np.mean([it["collapsed"] == "True" for it in own])

    for data, scale in (("cifar10_imb", "64"), (RARE, "16"), (RARE, "64")):
        assert collapsed(data, scale) < collapsed(data, "1")
    assert collapsed(RARE, "4") == 1
    says("paper", "Costs 16 or 64 times as large make fewer trials collapse")


def test_which_epoch_is_kept():
    found = costs("kept_epoch", "dataset", "algorithm", "seed", "kept")
    keys = sorted({key[:3] for key in found})
    cheap, likely = (
        Figure.of(*([found[*key, it].mean() for key in keys] for it in (kept, "fewest errors")))
        for kept in ("lowest cost", "likeliest")
    )
    assert cheap.open and likely.open
    says(
        "paper",
        f"Bayes decisions cost {cheap} times as much on average, with the likeliest epoch {likely} "
        "times; both may be chance",
    )


def test_converged_networks():
    def sosr(skip=()):
        pairs = [("dnn_sosr", "dnn_bayes"), ("sdae_sosr", "sdae_bayes")]
        skipped = [(), skip]
        found = zip(pairs, skipped, strict=True)
        return geometric(it for pair, one in found for it in ratios("fair", *pair, one).values())

    def sdae(skip=()):
        return geometric(ratios("fair", "sdae_bayes", "dnn_bayes", skip).values())

    says(
        "paper",
        f"Without that pair SOSR costs {sosr(('mnist',)):.2f} times as much as the Bayes decision "
        f"instead of {sosr():.2f} times, and SDAE Bayes {sdae(('mnist',)):.2f} times as much as "
        f"DNN Bayes instead of {sdae():.2f} times",
    )
    thirds = ratios("fair", "dnn_bayes", "dnn_blind")
    assert all(abs(thirds[it] - 1 / 3) < 0.005 for it in (RARE, "cifar10_imb"))
    says("paper", "DNN Bayes costs a third of DNN blind on both imbalanced sets")


def test_convolutions_at_the_papers_size():
    found, best = results("paper"), {}
    for (data, name), (cost, _) in found.items():
        if not name.startswith("cnn"):
            best[data] = min(cost, best.get(data, np.inf))
    beside = [best[data] / found[data, "cnn_bayes"][0] for data in best if data != "cifar10_imb"]
    csdnn = ratios("paper", "csdnn", "cnn_sosr").values()
    says(
        "paper",
        f"the best network without them costs {min(beside):.1f} to {max(beside):.1f} times as "
        f"much, and CSDNN, which the paper finds competitive to CNN SOSR, {min(csdnn):.1f} to "
        f"{max(csdnn):.1f} times as much as that",
    )
    ratio = ratios("paper", "cnn_sosr", "cnn_bayes")
    error = {key: 100 * it[1] for key, it in found.items()}
    assert 1.9 < ratio[RARE] < 2
    says(
        "paper",
        f"On imbalanced bg-img-rot it errs on {error[RARE, 'cnn_sosr']:.0f} % of the images, and "
        "costs almost twice as much as the Bayes decision of its kind, which errs on "
        f"{error[RARE, 'cnn_bayes']:.0f} %; on CIFAR-10 it costs {ratio['cifar10']:.1f} times as "
        "much, beyond chance counted by ratios alone, and errs on "
        f"{error['cifar10', 'cnn_sosr']:.0f} % to the other's "
        f"{error['cifar10', 'cnn_bayes']:.0f} %",
    )


def test_bayes_decisions_at_the_papers_size():
    found = results("paper")
    for data in {key[0] for key in found}:
        own = {name: cost for (of, name), (cost, _) in found.items() if of == data}
        assert min(own, key=own.get).endswith("_bayes")
        assert max(it for name, it in own.items() if name.endswith("_bayes")) < own["min"]
    says("paper", "The lowest mean of each set is that of a Bayes decision")
    says("paper", "where its second choice does not, and costs more than every Bayes decision")


def test_the_curve_of_beta():
    for data in ("mnist", "bg_img_rot_synthetic", RARE, "cifar10"):
        rows = [row for row in rows_of("paper", "beta_curve.csv") if row["data"] == data]
        assert max(rows, key=lambda row: float(row["test_cost"]))["beta"] == "1.0"
    says(
        "paper",
        "leaves out the reconstruction of inputs, costs more than any other β on MNIST, both "
        "bg-img-rot sets and CIFAR-10",
    )


def test_twice_the_epochs_of_convolutional_networks():
    place = ("data", "algorithm", "cost_seed", "seed")
    once = {tuple(row[it] for it in place): row for row in rows_of("paper", "results.csv")}
    changes = {
        tuple(row[it] for it in place): float(row["average_cost"])
        - float(once[tuple(row[it] for it in place)]["average_cost"])
        for row in rows_of("paper", "doubled.csv")
        if row["algorithm"].startswith("cnn")
    }
    less, more = (sum(sign * it > 0 for it in changes.values()) for sign in (-1, 1))
    bayes = [it > 0 for key, it in changes.items() if key[1] == "cnn_bayes"]
    assert less + more == 12 and bayes == [True] * 4
    says(
        "paper",
        f"{NUMBERS[less]} of the twelve cost less and {NUMBERS[more]} more, among them CNN Bayes "
        "on all four sets",
    )


@pytest.mark.slow  # Reads the decisions of the whole table.
def test_verdicts_at_the_papers_size():
    claims = read_contents(FOLDERS / "paper").claims
    (claim,) = (it for it in claims if it.statement.startswith("algorithms of the SOSR series"))
    pairs = [it.difference for it in claim.comparisons]
    assert all(it.mean > 0 for it in pairs)
    says(
        "paper",
        f"In {sum(it.costlier for it in pairs)} of {len(pairs)} pairs of the same kind of network "
        "and pre-training the Bayes decision costs less, beyond chance, and in "
        f"{sum(it.by_ratio().costlier for it in pairs)} counted by ratios; the others lie on the "
        "same side",
    )
    (claim,) = (it for it in claims if "SCAE also costs less" in it.statement)
    assert all(it.difference.tied for it in claim.comparisons) and len(claim.comparisons) == 5
    says("paper", "SCAE Bayes against SDAE Bayes is open on all five sets that have both")


def test_the_authors_choices():
    (ratio,) = ratios("authors", "sdae_bayes", "dnn_bayes").values()
    says(
        "paper",
        "That pre-training lowers the cost of the Bayes decision holds here, by "
        f"{100 * (1 - ratio):.0f} %",
    )
