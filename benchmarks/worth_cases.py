"""The conditions that `worth.py` varies, and the measurement of one of them."""

import dataclasses
from collections.abc import Iterator

from worth_comparisons import BASE, BY_LIKELIHOOD
from worth_methods import Learner, by_costs, columns
from worth_pretraining import pretraining_results
from worth_probabilities import trained_probabilities
from worth_sets import Conditions, Problem

BY_PROBABILITIES = ("argmax", "Bayes", BASE, BY_LIKELIHOOD)
SETS = ("mnist", "cifar10", "diamonds", "upsell")
FIELDS = ("part", "set", "labels", "hidden", "noise", "kept", "seed")
#: The columns that identify a case and its seed, which is measured as a whole.
KEYS = len(FIELDS)
FIELDS += ("costs", "matrix", "pretraining", "method", "beyond", "average_cost", "clean_cost")
FIELDS += ("constant_cost", "error_rate", "collapsed", "learning_rate", "cost_scale", "on_edge")
FIELDS += ("updates", "at_limit", "trials", "overconfidence", "temperature", "seconds")


@dataclasses.dataclass(frozen=True)
class Case:
    """One condition of a part of the map.

    Args:
        part: name of the part.
        conditions: conditions of the problem.
        costs: kinds of costs, see `Problem.matrix`.
        beyond: whether networks are also trained beyond their best snapshot.
        pretraining: whether pre-trainings are compared, and not decisions.
    """

    part: str
    conditions: Conditions
    costs: tuple[str, ...] = ("uniform",)
    beyond: bool = False
    pretraining: bool = False

    def numbers(self, costs: str, count: int) -> range:
        """Returns the numbers of its matrices; pre-trainings, which take longer, have one."""
        # All matrices of equal costs are the same.
        return range(1 if costs == "1" or self.pretraining else count)

    def rows(self, seed: int, count: int) -> set[tuple[str, ...]]:
        """Returns the columns that identify its rows, `KEYS` and those of the matrix."""
        return {
            (*self.key(seed), costs, str(number))
            for costs in self.costs
            for number in self.numbers(costs, count)
        }

    def key(self, seed: int) -> tuple[str, ...]:
        """Returns the columns that identify it."""
        it = self.conditions
        hidden = "x".join(map(str, it.hidden_units)) or "linear"
        return self.part, it.set, str(it.labels), hidden, str(it.noise), str(it.kept), str(seed)


def cases() -> Iterator[Case]:
    """Yields all cases, those that matter most first."""
    for name in SETS:
        for hidden in ((), (4,), (16,), (256,)):
            yield Case("model", Conditions(name, 5_000, hidden))
    for noise in (0.0, 0.4, 0.2, 0.1):
        for name in SETS:
            yield Case("confidence", Conditions(name, 1_250, (64,), noise), beyond=True)
    for hidden in ((16,), (256,)):
        for name in SETS:
            yield Case("confidence", Conditions(name, 1_250, hidden, 0.2), beyond=True)
    for labels in (50, 10_000, 250, 1_250):
        for name in SETS:
            yield Case("labels", Conditions(name, labels, (64, 64)), pretraining=True)
    for labels in (250, 1_250):
        for name in ("mnist", "cifar10"):
            yield Case("labels", Conditions(name, labels, (500, 500)), pretraining=True)
    for name in SETS:
        yield Case("ratio", Conditions(name, 2_500), ("1", "10", "100", "1000"))
    for kept in (0.04, 1.0, 0.2):
        for name in SETS:
            yield Case("rare", Conditions(name, 2_500, kept=kept), ("proportional",))
    for name in ("mnist", "cifar10", "diamonds"):
        for count in (2, 10, 100):
            # Digits and photographs are of ten classes.
            number = "" if count == 10 and name != "diamonds" else f" in {count} classes"
            yield Case("classes", Conditions(f"{name}{number}", 5_000))


def quick_cases() -> Iterator[Case]:
    """Yields a small case of each kind, to try the program."""
    yield Case("model", Conditions("digits", 100, ()))
    yield Case("confidence", Conditions("digits", 100, (4,), 0.2), beyond=True)
    yield Case("labels", Conditions("digits", 50, (8,)), pretraining=True)
    yield Case("ratio", Conditions("digits", 100, (4,)), ("1", "100"))


def measure(case: Case, seed: int, count: int) -> list[dict[str, object]]:
    """Measures the rows of a case.

    Args:
        case: the case.
        seed: seed of examples, costs and weights.
        count: number of cost matrices.
    """
    problem, rows = Problem(case.conditions, seed), []
    for costs in case.costs:
        matrices = [problem.matrix(number, costs) for number in case.numbers(costs, count)]
        if case.pretraining:
            found = [(0, it) for it in pretraining_results(problem, matrices[0])]
        else:
            probabilities = trained_probabilities(case.conditions, seed)
            found = [*probabilities.results(matrices, BY_PROBABILITIES, case.beyond)]
            for objective, name in (("sosr", "SOSR"), ("poisson", "Poisson")):
                learners = [Learner(problem, objective)] * len(matrices)
                found += by_costs(learners, name, matrices, case.beyond)
        for number, result in found:
            key = (*case.key(seed), costs, number)
            row = dict(zip((*FIELDS[:KEYS], "costs", "matrix"), key, strict=True))
            rows.append(row | columns(result, problem, matrices[number]))
    return rows
