import pytest

from tests.guide_claims.figures import says, speed, tuned, words_of
from tests.guides_test import ROOT

BY_HAND = "throughput beside a loop by hand"


def test_tuned_networks_beside_the_default():
    found = tuned()
    own = found["Calibrated Bayes, default"]
    others = [found["CSDNN, tuned"], found["DNN Bayes, tuned"]]
    says(
        "tuning",
        "In the one comparison that was made, on 540 digits, `calibrated_bayes` costs "
        f"{own:3}, a tuned CSDNN {others[0]:3} and a network tuned for the Bayes decision "
        f"{others[1]:3}",
    )
    assert all(own.value < it.value / 3 and own.high > it.low for it in others)
    says("4_tuning", "costs less than a third of both. All three intervals overlap")


def test_training_beside_a_loop_by_hand():
    wide = "3x3000, batch 128, as the package trains"
    kept = speed("jax", f"{wide}, memory kept", BY_HAND)
    assert speed("tensorflow", wide, BY_HAND).open and speed("jax", wide, BY_HAND).more
    assert abs(kept.value - 1) < 0.02
    for backend in ("tensorflow", "jax"):
        for size in (1, 20):
            assert speed(backend, f"2x50, batch {size}, as the package trains", BY_HAND).more
    says(
        "speed",
        "Wide networks train as fast as a loop written by hand on TensorFlow, and on JAX, where "
        "arrays stay where they are between steps, faster than one without memory kept and as fast "
        "as one with it; small ones faster than it on both",
    )


def test_losses_and_decisions_among_ten_classes():
    for loss in ("SOSR", "MIN", "Poisson", "one-sided"):
        step = speed("tensorflow", f"{loss}, K = 10", "step time beside softmax cross-entropy")
        assert step.value < 1.05
    for backend in ("tensorflow", "jax", "torch"):
        case = "3x3000, K = 10, batch 256"
        assert speed(backend, case, "seconds beside the network alone").value < 1.01
    says(
        "speed",
        "the losses next to no time of a step at 10 classes on TensorFlow, the decision among 10 "
        "classes next to none of a prediction",
    )


@pytest.mark.parametrize(
    "gone",
    [
        "all but one of the networks",
        "cheapest by far",
        "by more than chance each time",
        "saves beyond chance for five networks alone",
        "far cheaper than the best probabilities",
        "is the cheapest on average",
        "beyond doubt",
        "cost less than every tuned network",
        "needs far fewer images",
    ],
)
def test_what_the_files_do_not_hold_is_gone(gone):
    documents = [*(ROOT / "docs" / "guides").glob("*.md"), *(ROOT / "notebooks").glob("*.ipynb")]
    assert [it.name for it in documents if " ".join(gone.split()) in words_of(it.stem)] == []
