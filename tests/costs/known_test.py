"""Costs that are known when deciding, against loops, and what is refused."""

import numpy as np
import pytest

from csdl_keras.costs.known import AffineCosts, check_known_costs, expected_costs, vectors_of_labels

RNG = np.random.default_rng(0)
FIXED, PER_UNIT = np.array([[0, 5.0], [0, 5.0]]), np.array([[0, 0], [1.0, -0.1]])
AMOUNT = np.array([3.0, 50.0, 0.0, 12.0])
EXPANDED = np.array([FIXED + one * PER_UNIT for one in AMOUNT])
PROBABILITIES = RNG.dirichlet(np.ones(2), size=4)
FORMS = {
    "matrix": np.array([[0, 4.0, 1], [9, 0, 1]]),
    "array": RNG.uniform(size=(4, 2, 3)),
    "float32": RNG.uniform(size=(4, 2, 3)).astype("float32"),
    "affine": AffineCosts(AMOUNT, PER_UNIT, FIXED),
}


def expanded(form):
    if form == "affine":
        return EXPANDED
    return np.broadcast_to(FORMS[form], (4, *FORMS[form].shape[-2:]))


@pytest.mark.parametrize("form", FORMS)
def test_forms(form):
    costs, full = check_known_costs(FORMS[form], 4, 2), expanded(form)
    pairs = zip(PROBABILITIES, full, strict=True)
    means = [[p @ c[:, k] for k in range(c.shape[1])] for p, c in pairs]
    np.testing.assert_allclose(expected_costs(PROBABILITIES, costs), means, rtol=1e-7)
    labels = np.array([0, 1, 1, 0])
    rows = [full[n, y] for n, y in enumerate(labels)]
    np.testing.assert_allclose(vectors_of_labels(labels, costs), rows, rtol=1e-7)


def test_affine_costs_select_examples():
    some = FORMS["affine"][np.array([2, 0])]
    assert (len(some), some.shape) == (2, (2, 2, 2))
    np.testing.assert_array_equal(some.amount, [0.0, 3.0])


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (np.zeros(3), r"\(K, D\) or \(N, K, D\)"),
        (np.ones((3, 2, 2)), "a matrix for each of 4 examples"),
        (np.ones((4, 3, 2)), "one row for each of 2 classes"),
        (-np.ones((4, 2, 2)), r"at least 0; received -1.0 at \(0, 0, 0\)"),
    ],
)
def test_wrong_costs(costs, message):
    with pytest.raises(ValueError, match=message):
        check_known_costs(costs, 4, 2)


def test_affine_costs_are_never_expanded():
    with pytest.raises(TypeError, match="not expanded"):
        np.asarray(FORMS["affine"])
