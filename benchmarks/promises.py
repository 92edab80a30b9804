"""How often rules of `csdl_keras.guarantee` break their promise, and those of MAPIE.

python benchmarks/promises.py 200 benchmarks/results/promises
"""

import csv
import itertools
import sys
from pathlib import Path

import numpy as np

from csdl_keras import guarantee

COSTS = {
    2: np.array([[0.0, 1.0], [100.0, 0.0]]),
    3: np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [30.0, 5.0, 0.0]]),
    10: 1.0 - np.eye(10),
}
#: Budgets and prices of asking, for each number of classes, per case and per decided case.
BUDGETS = {2: ((0.3, 0.25), (2.0, 0.0)), 3: ((0.6, 0.5), (1.0, 0.0)), 10: ((0.3, 0.25), (0.3, 0.0))}
KINDS = ("right", "overconfident", "random")


def draw(random, size, num_classes, kind):
    """Draws probabilities and labels of a world that is the same for all samples."""
    right = np.exp(2.5 * random.normal(size=(size, num_classes)))
    right /= right.sum(axis=1, keepdims=True)
    labels = (right.cumsum(axis=1) > random.uniform(size=(size, 1))).argmax(axis=1)
    given = {"right": right, "overconfident": right**3, "random": random.permutation(right)}[kind]
    return given / given.sum(axis=1, keepdims=True), labels


class World:
    """What rules cost in a large sample, whatever their price."""

    def __init__(self, num_classes, kind, costs, size=400_000):
        rows, labels = draw(np.random.default_rng(10**6), size, num_classes, kind)
        expected = rows @ costs
        paid = costs[labels, expected.argmin(axis=1)]
        order = np.argsort(expected.min(axis=1))
        self.lowest = expected.min(axis=1)[order]
        self.sums = np.concatenate([[0.0], np.cumsum(paid[order])])

    def outcome(self, price, asking, per):
        """Returns the expected cost and the share that is decided."""
        number = np.searchsorted(self.lowest, price, side="right")
        decided = number / len(self.lowest)
        if per == "decided":
            return (self.sums[number] / number if number else np.nan), decided
        return self.sums[number] / len(self.lowest) + (1 - decided) * asking, decided


def violations(samples, writer):
    """Writes how often the expected cost exceeds the budget."""
    for num_classes, kind, per in itertools.product(COSTS, KINDS, ("case", "decided")):
        costs = COSTS[num_classes]
        budget, asking = BUDGETS[num_classes][per == "decided"]
        world = World(num_classes, kind, costs)
        for size in (100, 500, 5000):
            rows = []
            for seed in range(samples):
                given = draw(np.random.default_rng(seed), size, num_classes, kind)
                rule = guarantee(*given, costs, budget=budget, abstain_cost=asking, per=per)
                outcome, decided = world.outcome(rule.price, asking, per)
                rows.append((rule.attained, rule.attained and outcome > budget, outcome, decided))
            write(writer, "guarantee", num_classes, kind, per, size, budget, asking, rows)


def slack(samples, writer):
    """Writes ours and MAPIE's rules for two classes; mistakes cost 1, questions nothing."""
    from mapie.risk_control import BinaryClassificationController, BinaryRisk

    def decided(x, price):
        row = np.ravel(x)
        made = (row >= 0.5).astype(float)
        return np.where(np.minimum(row, 1 - row) <= price, made, np.nan)

    def wrong(true, made):
        return ~np.isnan(made) & (made != true)

    risks = {
        "case": BinaryRisk(wrong, lambda true, made: np.ones(len(true), bool), False),
        "decided": BinaryRisk(wrong, lambda true, made: ~np.isnan(made), False),
    }
    asked = BinaryRisk(
        lambda true, made: np.isnan(made), lambda true, made: np.ones(len(true), bool), False
    )
    costs, budget = 1.0 - np.eye(2), 0.1
    for kind, per in itertools.product(KINDS, risks):
        world = World(2, kind, costs)
        found = {}
        for seed in range(samples):
            rows, labels = draw(np.random.default_rng(seed), 500, 2, kind)
            rule = guarantee(rows, labels, costs, budget=budget, per=per)
            found.setdefault("guarantee", []).append((rule.attained, rule.price))
            # Fixed sequences are not for rules that abstain.
            for method in ("bonferroni", "bonferroni_holm"):
                controller = BinaryClassificationController(
                    decided,
                    risks[per],
                    budget,
                    confidence_level=0.95,
                    best_predict_param_choice=asked,
                    list_predict_params=np.linspace(0.005, 0.5, 100)[:, None],
                    fwer_method=method,
                )
                controller.calibrate(rows[:, 1:], labels)
                price = controller.best_predict_param
                price = None if price is None else float(np.ravel(price)[0])
                known = (price is not None, -np.inf if price is None else price)
                found.setdefault(f"MAPIE {method}", []).append(known)
        for method, prices in found.items():
            rows = []
            for attained, price in prices:
                outcome, share = world.outcome(price, 0.0, per)
                rows.append((attained, attained and outcome > budget, outcome, share))
            write(writer, method, 2, kind, per, 500, budget, 0.0, rows)


def write(writer, method, num_classes, kind, per, size, budget, asking, rows):
    """Writes one line of a case."""
    attained, broken, outcome, decided = np.array(rows, float).T
    slack = np.where(attained > 0, budget - outcome, np.nan)
    mean = np.nanmean(slack) if attained.any() else np.nan
    line = (method, num_classes, kind, per, size, budget, asking, len(rows))
    line += (int(attained.sum()), int(broken.sum()), f"{mean:.4f}", f"{decided.mean():.4f}")
    writer.writerow(line)
    print(*line, flush=True)


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    number, folder = int(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    HEAD = "method classes probabilities per examples budget asking samples attained broken"
    with open(folder / "promises.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*HEAD.split(), "mean_slack", "mean_coverage"])
        slack(number, writer)
        violations(number, writer)
