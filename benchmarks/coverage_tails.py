"""Simulates intervals of averages of heavy-tailed amounts, by the package's method and by others.

    python benchmarks/coverage_tails.py --out benchmarks/results/coverage

Each example has an amount, which a wrong decision costs. `cost`: the average cost of decisions of
which a share is wrong. `alike`: two models that are wrong equally often, each in its own way.
`fee`: a model compared with a rule that always pays a fee, as much as the model costs on average.
Writes `tails.csv`, from which it goes on, and `tails.md`. Random numbers of a row follow from its
case and size alone; two of five draws are also for the other methods.
"""

from collections.abc import Callable, Sequence

import coverage_rivals as rivals
import numpy as np
from coverage_cases import generator
from coverage_table import FIELDS, grid
from formats import markdown_table
from results_table import ResultsTable, parser

from csdl_keras.evaluation.bounded_mean import BoundedMean
from csdl_keras.evaluation.cost_bounds import CostBounds

SIZES = (30, 200, 1000, 10_000)
SHARES = (0.02, 0.5, 1.0)
PARTS = ("cost", "alike", "fee")
OURS = "csdl_keras"
#: Methods whose values are shown for each case.
SHOWN = (OURS, f"{OURS}, bound: largest seen", "bootstrap-t", "m-out-of-n bootstrap-t")


def lognormal(scale: float) -> tuple[Callable, float]:
    """Returns what draws log-normal amounts, and their mean."""
    return lambda rng, size: rng.lognormal(0.0, scale, size), float(np.exp(scale**2 / 2))


def pareto(index: float) -> tuple[Callable, float]:
    """Returns what draws amounts of at least 1 with a Pareto tail, and their mean."""
    return lambda rng, size: 1.0 + rng.pareto(index, size), index / (index - 1.0)


TAILS = {f"log-normal, σ = {scale:g}": lognormal(scale) for scale in (1.0, 2.0, 2.5)}
TAILS |= {f"Pareto, α = {index:g}": pareto(index) for index in (1.2, 2.0)}


def draw(part: str, tail: str, share: float, rng: np.random.Generator, size: int) -> tuple:
    """Draws costs or differences `(N,)` and cost vectors `(N, D)`; returns them and the truth."""
    generate, mean = TAILS[tail]
    amount, fee, wrong = generate(rng, size), share * mean, rng.uniform(size=(2, size)) < share
    vectors = np.stack([np.zeros(size), amount, np.full(size, fee)], axis=1)
    if part == "fee":
        return amount * wrong[0] - fee, vectors, 0.0
    if part == "alike":
        return amount * wrong[0] - amount * wrong[1], vectors[:, :2], 0.0
    return amount * wrong[0], vectors[:, :2], fee


def others(values: np.ndarray, rng: np.random.Generator, part: str) -> dict[str, rivals.Interval]:
    """Computes the intervals of all other methods; without a width where all values are equal."""
    if not np.ptp(values):
        names = others(np.arange(8.0), np.random.default_rng(0), part)
        return dict.fromkeys(names, (values[0], values[0]))
    found = {"Student's t": rivals.student(values), **rivals.skew_corrected(values)}
    found |= rivals.bootstraps(values, rng) | rivals.robust(values, rng)
    found["empirical likelihood"] = rivals.empirical_likelihood(values)
    return found | (rivals.of_lognormal(values, rng) if part == "cost" else {})


def rows_of_case(part: str, tail: str, share: float, size: int, runs: int) -> list[dict]:
    """Measures how often intervals hold the truth, and their width beside the package's."""
    rng = generator("tails", part, tail, share, size)
    holds: dict[str, list] = {}
    widths: dict[str, list] = {}
    for run in range(runs):
        values, vectors, truth = draw(part, tail, share, rng, size)
        bounds, seen = CostBounds(vectors, None, None), vectors.max()
        found = others(values, rng, part) if run < runs * 2 // 5 else {}
        own = bounds.of_costs(values)[1] if part == "cost" else bounds.of_differences(values)
        limits = {
            OURS: own,
            f"{OURS}, bound: largest seen": seen,
            f"{OURS}, bound: 8 times the largest": 8 * seen,
        }
        for name, (low, high) in found.items():
            holds.setdefault(name, []).append(low <= truth <= high)
        for name, high in limits.items():
            mean = BoundedMean(values, 0.0 if part == "cost" else -high, high)
            # The interval contains what its test does not reject; the test takes less time.
            holds.setdefault(name, []).append(mean.p_value(truth) >= 0.05)
            if run < runs // 10:
                found[name] = mean.interval()
        if part != "cost":
            holds.setdefault("sign flips", []).append(rivals.sign_flips(values, rng) >= 0.05)
        if run < runs // 10:
            for name, ends in found.items():
                width = np.diff(ends)[0] / np.diff(found[OURS])[0]
                widths.setdefault(name, []).append(width)
    return [
        {"method": name, "measure": measure, "value": f"{value:.6g}", "runs": len(values)}
        for measure, of, function in (("holds", holds, np.mean), ("width", widths, np.median))
        for name, values in of.items()
        for value in [float(function(values))]
    ]


def summary(rows: Sequence[dict]) -> list[str]:
    """Formats the lowest and mean share of intervals that hold, and the mean relative width."""

    found: dict[tuple[str, ...], list[float]] = {}
    for row in rows:
        key = (row["method"], row["part"], row["measure"])
        found.setdefault(key, []).append(float(row["value"]))
    body = []
    for method in dict.fromkeys(row["method"] for row in rows):
        cells = [method]
        for part in PARTS:
            held = found.get((method, part, "holds"))
            cells += [f"{min(held):.3f}", f"{np.mean(held):.3f}"] if held else ["–", "–"]
        width = found.get((method, "cost", "width"))
        body.append([*cells, f"{np.median(width):.2f}" if width else "–"])
    body.sort(key=lambda cells: (cells[2] != "–", cells[2]), reverse=True)
    head = ["", "cost: lowest", "mean", "two alike: lowest", "mean", "model and fee: lowest"]
    return markdown_table([*head, "mean", "width"], body)


def table(rows: Sequence[dict]) -> str:
    """Formats all tables."""
    titles = {
        "cost": "`cost_interval`: how often it holds the expected cost",
        "alike": "`compare_costs`, two models that are wrong equally often: how often it holds 0",
        "fee": "`compare_costs`, a model and a fee of the same expected cost: how often it holds 0",
    }
    shown = [row for row in rows if row["method"] in SHOWN]
    parts = [
        "## Heavy-tailed amounts: how often 95 % intervals hold the truth",
        f"Over {', '.join(TAILS)}; {', '.join(f'{share:.0%}' for share in SHARES)} wrong; "
        f"{', '.join(f'{size:,}' for size in SIZES)} examples. Width: the median over the cases of "
        "`cost`, relative to that of csdl_keras. Random numbers of a row follow from its case and "
        "size alone.",
        "\n".join(summary(rows)),
    ]
    for part, title in titles.items():
        parts += [f"## {title}", "\n".join(grid(shown, part, "holds", "N", True))]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Runs the program."""
    options = parser(__doc__)
    options.add_argument("--runs", type=int, default=500, help="of a case; 3 in 10 of the largest")
    options.add_argument("--parts", default=",".join(PARTS))
    arguments = options.parse_args()
    results = ResultsTable(arguments.out, "tails", FIELDS)
    cases = [(tail, share, size) for size in SIZES for tail in TAILS for share in SHARES]
    for part in arguments.parts.split(","):
        for tail, share, size in cases:
            case = f"{tail}, {share:.0%} wrong"
            if (part, case, str(size)) not in results.done(3):
                runs = arguments.runs * 3 // 10 if size == max(SIZES) else arguments.runs
                key = {"part": part, "case": case, "size": size}
                found = rows_of_case(part, tail, share, size, runs)
                results.append([key | row for row in found])
    results.report(table(results.rows()))


if __name__ == "__main__":
    main()
