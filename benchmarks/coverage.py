"""Simulates how often the intervals, tests and verdicts of the package are right.

    python benchmarks/coverage.py --out benchmarks/results/coverage

Draws test sets from populations whose costs are known. `interval`: how often
`evaluation.cost_interval` holds the expected cost, and how wide it is, beside other
intervals. `comparison`: how often `compare_costs` calls two models different, and how
often its interval holds their difference. `report`: how often one of several equal models
is called worse than the best in a `cost_report`. `matrices`: the same of the intervals of
`csdl-keras report`, over few cost matrices. `verdicts`: how often an equal row is not bold,
and how claims are judged that are true, or not. `results`: what of `notebooks/results/small`
this rule and the bootstrap see otherwise. Writes `coverage.csv`, from which it goes
on, and `coverage.md`. `--quick` draws six
test sets of each seventh case.
"""

from collections.abc import Iterator

import coverage_rivals as rivals
import numpy as np
from coverage_cases import Case, generator, interval_cases, pair_cases
from coverage_matrices import SETTINGS, report_rows, verdict_rows
from coverage_results import results_rows
from coverage_table import FIELDS, averages, table
from results_table import ResultsTable, parser

from csdl_keras.evaluation import compare_costs, cost_interval, cost_report, decision_costs
from csdl_keras.evaluation.bounded_mean import BoundedMean
from csdl_keras.evaluation.cost_bounds import CostBounds

SIZES = (20, 50, 200, 1000, 5000, 20_000)
PAIR_SIZES = (50, 200, 1000, 5000)
MATRICES = (1, 2, 3, 5, 10, 30)
PARTS = ("interval", "comparison", "report", "matrices", "verdicts", "results")


def interval_row(case: Case, size: int, runs: int) -> Iterator[dict]:
    """Measures how often intervals contain the expected cost, and their mean width."""
    found: dict[tuple[str, str], list] = {}
    rng = generator("interval", case.name, size)
    for run in range(runs):
        y, decisions, matrix = case.draw(rng, size)
        paid = decision_costs(y, decisions, matrix)
        bounds = CostBounds(y, matrix, None).of_costs(paid)
        # The interval contains what its test does not reject; the test takes less time.
        mean = BoundedMean(paid, *bounds)
        found.setdefault(("csdl_keras", "covers"), []).append(mean.p_value(case.truth) >= 0.05)
        if run < runs // 3:
            intervals = {
                "csdl_keras": cost_interval(y, decisions, matrix),
                "percentile bootstrap": rivals.percentile(paid, rng),
                "BCa bootstrap": rivals.bias_corrected(paid, rng),
                "Student's t": rivals.student(paid),
                "empirical Bernstein": rivals.bernstein(paid, *bounds),
            }
            for method, (low, high) in intervals.items():
                found.setdefault((method, "width"), []).append(high - low)
                if method != "csdl_keras":
                    covers = low <= case.truth <= high
                    found.setdefault((method, "covers"), []).append(covers)
    yield from averages(found)


def comparison_row(case: Case, size: int, runs: int) -> Iterator[dict]:
    """Measures how often two models are called different and intervals contain the difference."""
    found: dict[tuple[str, str], list] = {}
    rng = generator("comparison", case.name, size)
    for run in range(runs):
        y, first, second, matrix = case.draw(rng, size)
        paid = [decision_costs(y, each, matrix) for each in (first, second)]
        differences = paid[0] - paid[1]
        bound = CostBounds(y, matrix, None).of_differences(differences)
        mean = BoundedMean(differences, -bound, bound)
        own = {
            ("csdl_keras", "called different"): mean.p_value(0.0) < 0.05,
            ("csdl_keras", "covers"): mean.p_value(case.truth) >= 0.05,
        }
        if run < runs // 3:
            pair = compare_costs(y, first, second, matrix)
            own["csdl_keras", "width"] = pair.high - pair.low
            own["csdl_keras", "contradicts itself"] = (pair.p_value < 0.05) != (
                pair.cheaper or pair.costlier
            )
            flips = rivals.sign_flips(differences, rng)
            low, high = rivals.percentile(differences, rng)
            bootstrap = "percentile bootstrap, sign flips"
            own[bootstrap, "called different"] = flips < 0.05
            own[bootstrap, "covers"] = low <= case.truth <= high
            own[bootstrap, "width"] = high - low
            own[bootstrap, "contradicts itself"] = (flips < 0.05) != (low > 0 or high < 0)
            low, high = rivals.student(differences)
            own["Student's t", "called different"] = low > 0 or high < 0
            own["Student's t", "covers"] = low <= case.truth <= high
            own["Student's t", "width"] = high - low
        for key, value in own.items():
            found.setdefault(key, []).append(value)
    yield from averages(found)


def cost_report_row(models: int, size: int, runs: int) -> Iterator[dict]:
    """Measures how often one of several equal models is called costlier than the best."""
    case, rng = interval_cases()[2], generator("report", models, size)
    found: dict[tuple[str, str], list] = {}
    for _ in range(runs):
        labels, _, matrix = case.draw(rng, size)
        drawn = [case.draw(rng, size) for _ in range(models)]
        # The mistakes of another draw, transferred to these labels.
        decisions = {str(i): (labels + d - y) % len(matrix) for i, (y, d, _) in enumerate(drawn)}
        rows = cost_report(decisions, labels, matrix).rows[1:]
        different = [row.against_best.p_value < 0.05 for row in rows if row.against_best]
        found.setdefault(("csdl_keras", "a row"), []).append(np.mean(different))
        found.setdefault(("csdl_keras", "any row"), []).append(any(different))
    yield from averages(found)


def jobs() -> Iterator[tuple[str, str, int, tuple]]:
    """Yields part, case, size and the function that makes their rows, with its arguments."""
    for case in interval_cases():
        for size in SIZES:
            yield "interval", case.name, size, (interval_row, case, size, 5)
    for case in pair_cases():
        for size in PAIR_SIZES:
            yield "comparison", case.name, size, (comparison_row, case, size, 3)
    for models in (2, 5, 15):
        yield "report", f"{models} equal models", 1000, (cost_report_row, models, 1000, 1)
    for setting in SETTINGS:
        for count in MATRICES:
            yield "matrices", setting, count, (report_rows, setting, count, 2)
    for setting in ("equal", "different"):
        for count in (3, 5, 10):
            yield "verdicts", setting, count, (verdict_rows, setting, count, 1)
    yield "results", "small", 0, (results_rows, "small", 0, 1)


def main() -> None:
    """Runs the program."""
    options = parser(__doc__)
    options.add_argument("--runs", type=int, default=200, help="of the slowest; others have more")
    options.add_argument("--parts", default=",".join(PARTS))
    options.add_argument("--quick", action="store_true", help="six draws of each seventh case")
    arguments = options.parse_args()
    results = ResultsTable(arguments.out, "coverage", FIELDS)
    todo = [job for job in jobs() if job[0] in arguments.parts.split(",")]
    # Every seventh job covers all parts but the last, which takes a minute in any case.
    for part, case, size, (make, first, second, factor) in todo[:: 7 if arguments.quick else 1]:
        if (part, case, str(size)) in results.done(3):
            continue
        runs = 6 if arguments.quick else arguments.runs * factor
        key = {"part": part, "case": case, "size": size}
        rows = [key | row for row in make(first, second, runs)]
        results.append([row | {"value": f"{row['value']:.6g}"} for row in rows])
    results.report(table(results.rows()))


if __name__ == "__main__":
    main()
