import pytest

from tests.guide_claims.figures import Figure, chart, costs, over_splits, says

PRIOR = ("temperature, prior 1.0", "bias-corrected, prior 1.0", "vector, prior 1.0")


def calibrations(method, against="none", members=("1", "5")):
    """The ratio of two calibrations for data sets and numbers of networks."""
    found = costs("calibration", "dataset", "members", "method")
    return {
        (data, number): Figure.of(found[data, number, method], found[data, number, against])
        for data in ("digits", "digits_imb")
        for number in members
    }


def test_a_temperature_for_an_average_of_networks():
    found = calibrations(PRIOR[0], members=("5",))
    assert all(it.less for it in found.values())
    says("deciding", "a temperature with the prior lowers its cost on both sets")


def test_a_temperature_for_one_network():
    found = calibrations(PRIOR[0], members=("1",))
    assert all(it.open for it in found.values())
    says("deciding", "gains nothing by it that can be told from chance here: the intervals hold 1")


def test_biases():
    found = calibrations(PRIOR[1], PRIOR[0])
    one = found.pop(("digits_imb", "1"))
    assert one.less and all(it.open for it in found.values())
    says(
        "deciding",
        f"Biases for each class cost {one} times as much as the temperature for one network on "
        "`digits_imb`, and differ from it by no more than chance in the other three columns",
    )


def test_vector_scaling():
    found = calibrations(PRIOR[2])
    five, beside = found.pop(("digits", "5")), calibrations(PRIOR[0])["digits", "5"]
    assert five.less and all(it.open for it in found.values())
    says(
        "deciding",
        f"saves beyond chance in one column: {five} for five networks on `digits`, where the "
        f"temperature has {beside}",
    )
    rare, beside = found["digits_imb", "5"], calibrations(PRIOR[2], PRIOR[0])["digits_imb", "5"]
    assert beside.more
    says(
        "deciding",
        f"its interval holds 1, though just ({rare.low:.3f} to {rare.high:.4f}), and it costs "
        f"{beside} times as much as the temperature",
    )


def test_without_the_prior():
    ways = ("temperature", "bias-corrected", "vector")
    found = [it for way in ways for it in calibrations(f"{way}, no prior").values()]
    assert sum(it.more for it in found) == 1 and not any(it.less for it in found)
    says("deciding", "*Without the prior* nothing is certain but a loss")


def test_one_network_and_one_split():
    found = costs("peers", "dataset", "method", folder="ensembles")
    names = ("csdl_keras calibrated_bayes", "csdl_keras one network, Bayes")
    photographs, digits = (
        Figure.of(*(found[data, name] for name in names)) for data in ("cifar10_imb", "mnist_imb")
    )
    assert {split for _, split in costs("peers", "dataset", "split", folder="ensembles")} == {"0"}
    says(
        "deciding",
        f"here it costs {photographs} times as much on imbalanced CIFAR-10 and {digits} times as "
        "much on imbalanced MNIST. That is one network and one split of each set, and intervals "
        "are over five cost matrices alone",
    )


def test_networks_that_are_too_sure():
    condition = "costs differ and confidence exceeds accuracy by .2 or more"
    found = chart(condition, "calibrated Bayes / Bayes")
    assert found.less
    says("deciding", f"confidence exceeds accuracy by .2 or more it costs {found} times as much")
    last = costs("known_costs", "table", "model", "epoch", "calibration")
    ways = ("temperature", "none")
    found = Figure.of(*(last["credit", "network", "last", way] for way in ways))
    assert found.more
    says("deciding", f"though {found} times as much on the table `credit` after the last epoch")


def test_bayes_decisions_on_a_forest():
    found = over_splits("peers", "digits", "forest, Bayes", "forest, argmax")
    assert found.more
    says(
        "deciding",
        "the Bayes decision on them costs *more*, over five splits of these digits "
        f"{found} times as much ({found.low:.2f} to {found.high:.2f})",
    )


@pytest.mark.parametrize("data", ["digits", "digits_imb", "mnist_5k", "mnist_5k_imb"])
def test_one_temperature_is_safer(data):
    """It lowers each mean, and isotonic regression raises that of logistic regression."""
    found = costs("peers", "dataset", "method")
    for name in ("logistic", "forest", "boosting", "mlp"):
        plain = found[data, f"{name}, Bayes"].mean()
        assert found[data, f"{name}, temperature, Bayes"].mean() < plain
    isotonic, plain = (found["digits", f"logistic, {it}Bayes"].mean() for it in ("isotonic, ", ""))
    assert isotonic > plain
    says("deciding", "for a few hundred, one temperature is safer")


def test_calibration_by_what_is_at_stake():
    found = costs("known_costs", "model", "epoch", "calibration")
    kinds = [key for key in found if key[2].endswith(", by stakes")]
    every = [Figure.of(found[it], found[*it[:2], it[2].partition(",")[0]]) for it in kinds]
    assert len(every) > 8 and not any(it.less for it in every)
    says("deciding", "**Measured, and not worth it:** weighting calibration by what is at stake")
