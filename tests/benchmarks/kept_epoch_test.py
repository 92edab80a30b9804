"""The epochs that early stopping may keep, and what Bayes decisions cost by their weights."""

import numpy as np
import pytest

import csdl_keras as csdl


class Network:
    """Outputs the probabilities of one epoch after the other."""

    def __init__(self, first_class):
        self.first_class, self.epoch = first_class, 0

    def predict(self, x, **_):
        found = np.array(self.first_class[self.epoch])
        return np.stack([found, 1 - found], axis=1)

    def get_weights(self):
        return [np.array(self.epoch)]


@pytest.fixture
def module(program):
    return program("kept_epoch")


def test_each_rule_keeps_its_epoch(module):
    """Calling the second class the first one costs ten times as much as the reverse."""
    x, y = np.zeros((4, 1, 1, 1), "float32"), np.array([0, 0, 0, 1])
    data = csdl.datasets.DataSet("made", 2, x, y, x, y, x, y)
    watch = module.KeptEpochs(data, {seed: np.array([[0, 1], [10, 0]]) for seed in (1000, 1001)})
    right, likely, cheap = [0.6, 0.6, 0.6, 0.49], [0.9, 1.0, 1.0, 0.6], [0.95, 0.95, 0.95, 0.9]
    network = Network([right, likely, cheap])
    watch.set_model(network)
    watch.on_epoch_end(0, {"loss": 1.0})  # of a pre-training
    assert not watch.best
    for epoch in range(3):
        network.epoch = epoch
        watch.on_epoch_end(epoch, {"val_average_cost": 1.0})
    kept = {rule: (epoch, int(weights[0])) for rule, (_, epoch, weights) in watch.best.items()}
    assert kept == {
        "fewest errors": (1, 0),
        "likeliest": (2, 1),
        1000: (3, 2),
        1001: (3, 2),
    }
    costs = [row[1:3] for row in watch.curve]
    np.testing.assert_allclose(costs, [(0.75, 0.75), (0.25, 0.25), (0, 0)])
    assert [row[3] for row in watch.curve] == [0, 0.25, 0.25]


def test_the_table_has_paired_ratios(module):
    rows = []
    for seed, cost in ((0, 1.0), (1, 3.0)):
        for rule, factor, epoch in zip(module.RULES, (1.0, 2.0, 0.5), (10, 20, 30), strict=True):
            for cost_seed in module.COST_SEEDS:
                values = ("mnist", "dnn_bayes", seed, cost_seed, rule, epoch, cost * factor, 0, 0)
                rows.append(dict(zip(module.FIELDS, map(str, values), strict=True)))
    text = module.table(rows)
    assert "| mnist, dnn_bayes | 2 | 10 | 20 | 30 | 2.000 | 2.00 (2.00–2.00) | 0.50 (0.50" in text
    curves = [
        dict(
            zip(module.CURVE_FIELDS, ("mnist", "dnn_bayes", "0", str(epoch), *"0000"), strict=True)
        )
        for epoch in range(1, 31)
    ]
    axes = module.plot(rows, curves).axes
    assert [line.get_xdata()[0] for line in axes[0].lines[2:]] == [10, 20, 30]
