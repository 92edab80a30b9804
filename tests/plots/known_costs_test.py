"""Plots with costs of each example, and the unit of costs on axes."""

from functools import partial

import numpy as np
import pytest

from csdl_keras import plots
from csdl_keras.costs import AffineCosts
from csdl_keras.plots.cost_against_threshold import threshold_table
from csdl_keras.plots.heatmap import confusion_table
from tests.plots.drawn import legend_of, line_of

RNG = np.random.default_rng(0)
SIZE = 80
AMOUNT = RNG.uniform(10, 100, size=SIZE)
AFFINE = AffineCosts(AMOUNT, per_unit=[[0, 0], [1, 0]], fixed=[[0, 5], [0, 5]])
MATRICES = np.array([[[0, 5], [amount, 5]] for amount in AMOUNT])
LABELS = (RNG.uniform(size=SIZE) < 0.2).astype(int)
SCORES = np.clip(RNG.integers(9, size=SIZE) / 16 + 0.4 * LABELS, 0, 1)
ROWS = np.stack([1 - SCORES, SCORES], axis=1)
DECISIONS = (AMOUNT > 70).astype(int)
MATRIX = [[0, 1], [9, 0]]


def test_confusion():
    counts, shares = confusion_table(LABELS, DECISIONS, AFFINE)
    expected = np.zeros((2, 2))
    for n, cell in enumerate(zip(LABELS, DECISIONS, strict=True)):
        expected[cell] += MATRICES[n][cell] / SIZE
    np.testing.assert_allclose(shares, expected)
    axes = plots.cost_confusion(LABELS, DECISIONS, MATRICES, unit="€")
    assert axes.get_title().startswith(f"average cost {expected.sum():.3g} €, error rate")
    # A right decision may cost something.
    assert f"{counts[1, 1]}\n{expected[1, 1]:.3g}" in [text.get_text() for text in axes.texts]


def test_threshold():
    thresholds, found = threshold_table(LABELS, SCORES, MATRICES)
    for t, cost in zip(thresholds, found, strict=True):
        paid = [MATRICES[n][y][int(SCORES[n] >= t)] for n, y in enumerate(LABELS)]
        assert cost == pytest.approx(np.mean(paid))
    bayes = []
    for n, y in enumerate(LABELS):
        expected = [sum(ROWS[n][true] * MATRICES[n][true][k] for true in (0, 1)) for k in (0, 1)]
        bayes.append(MATRICES[n][y][int(expected[1] < expected[0])])
    axes = plots.cost_against_threshold(LABELS, SCORES, AFFINE, label="model")
    _, height = line_of(axes, f"Bayes decision: {np.mean(bayes):.3g}")
    assert height == pytest.approx([np.mean(bayes)] * 2)
    assert legend_of(axes)[1] == "model"


def test_the_unit_is_on_the_axis_of_costs():
    bar = {
        "cost": partial(plots.cost_matrix_heatmap, MATRIX),
        "cost per example of the whole set": partial(plots.cost_confusion, [0, 1], [0, 0], MATRIX),
    }
    vertical = {
        "average cost": partial(plots.beta_curve, [0, 1], [[1.0, 2.0]]),
        "cost": partial(plots.cost_against, [1, 2], [3, 4], "depth"),
        "average cost of those decided": partial(plots.risk_coverage, [0, 1], ROWS[:2], MATRIX),
    }
    threshold = partial(plots.cost_against_threshold, [0, 1], [0.2, 0.7], MATRIX)
    for unit, end in (("€", ", €"), (None, "")):
        for words, draw in bar.items():
            assert draw(unit=unit).figure.axes[1].get_ylabel() == words + end
        for words, draw in [*vertical.items(), ("average cost", threshold)]:
            assert draw(unit=unit).get_ylabel() == words + end
    relative = plots.beta_curve([0, 1], [[1.0, 2.0]], relative=True, unit="€")
    assert relative.get_ylabel() == "average cost relative to β = 0"
