"""Asks whether larger costs keep networks that are trained on costs from collapsing.

    KERAS_BACKEND=jax python benchmarks/sosr_scale.py --out benchmarks/results/sosr_scale

The SOSR loss is of costs divided by the largest one, as in the paper, and on imbalanced data all
of its fully-connected networks collapse. This trains DNN SOSR with costs several times as large,
with the search of optimizer and learning rate, the data, matrices and seed of DNN SOSR and DNN
Bayes in `notebooks/results/fair`, which are the scale 1 and the comparison. Writes `choices.csv`
and `sosr_scale.csv`, from a grid in the folder `--work` that a later call continues, and
`sosr_scale.md`; a call with other data sets or scales adds to them.
"""

import dataclasses
import pathlib
from collections.abc import Sequence

import numpy as np
from committed import NOTEBOOKS, rows_of
from formats import markdown_table
from results_table import ResultsTable, parser

import csdl_keras as csdl
from csdl_keras.experiments.cell_runner import CellRunner
from csdl_keras.experiments.data_source import DataSource
from csdl_keras.experiments.display import CellDisplay, make_console
from csdl_keras.experiments.grid import Grid
from csdl_keras.experiments.profiles import PROFILES
from csdl_keras.training import Algorithm, Objective

SCALES = (4, 16, 64)
FIELDS = ("dataset", "scale", "cost_seed", "algorithm", "optimizer_name", "learning_rate")
FIELDS += ("average_cost", "error_rate", "validation_cost", "epochs", "collapsed", "tried_again")
FIELDS += ("train_seconds",)
#: Columns of the values that were tried.
TRIED = ("dataset", "scale", "value", "given", "validation", "collapsed", "chosen", "edge")
TRIED += ("epochs", "train_seconds", "test_cost")


@dataclasses.dataclass(frozen=True)
class Scaled(Objective):
    """An objective whose largest cost is `scale` in place of 1."""

    scale: float = 1.0

    def unit_of(self, matrix: np.ndarray, largest: float | None = None) -> float:
        """Returns what costs are divided by."""
        return super().unit_of(matrix, largest) / self.scale


def scaled(scale: float) -> Algorithm:
    """Returns DNN SOSR with costs as many times as large."""
    algorithm = csdl.ALGORITHMS["dnn_sosr"]
    names = [field.name for field in dataclasses.fields(Objective)]
    own = {name: getattr(algorithm.objective, name) for name in names}
    objective = Scaled(**{**own, "name": f"sosr_{scale}"}, scale=scale)
    title = f"{algorithm.title}, costs times {scale}"
    return dataclasses.replace(
        algorithm, name=f"dnn_sosr_{scale}", title=title, training=objective, in_table2=False
    )


def of_grid(rows: Sequence[dict[str, str]], scales: Sequence[int]) -> list[dict[str, str]]:
    """Returns rows of a grid with the label of their data set and their scale."""
    by_name = {f"dnn_sosr_{scale}": str(scale) for scale in scales}
    by_name |= {"dnn_sosr": "1", "dnn_bayes": ""}
    return [
        {
            **row,
            "dataset": DataSource(row["dataset"], row["imbalanced"] == "True").label,
            "scale": by_name[row["algorithm"]],
        }
        for row in rows
        if row["algorithm"] in by_name and row.get("seed", "0") == "0"
    ]


def only(rows: Sequence[dict[str, str]], fields: Sequence[str]) -> list[dict[str, str]]:
    """Returns rows with these columns alone."""
    return [{field: row[field] for field in fields} for row in rows]


def table(results: Sequence[dict[str, str]], tried: Sequence[dict[str, str]]) -> str:
    """Formats what each scale costs beside the Bayes decision."""
    head = ["data set", "decides", "largest cost", "trials", "of these collapsed", "chosen"]
    head += ["cost", "collapsed", "cost / DNN Bayes", "errors"]
    body = []
    for dataset in dict.fromkeys(row["dataset"] for row in results):
        own = [row for row in results if row["dataset"] == dataset]
        base = np.mean([float(it["average_cost"]) for it in own if not it["scale"]])
        for scale in sorted({row["scale"] for row in own}, key=lambda it: float(it or 0)):
            rows = [row for row in own if row["scale"] == scale]
            trials = [it for it in tried if (it["dataset"], it["scale"]) == (dataset, scale)]
            cost = np.mean([float(row["average_cost"]) for row in rows])
            error = np.mean([float(row["error_rate"]) for row in rows])
            collapsed = sum(row["collapsed"] == "True" for row in rows)
            chosen = dict.fromkeys(
                f"{row['optimizer_name']} {float(row['learning_rate']):g}" for row in rows
            )
            numbers = [str(len(trials)), str(sum(it["collapsed"] == "True" for it in trials))]
            body.append(
                [
                    dataset,
                    "SOSR" if scale else "Bayes",
                    scale,
                    *numbers,
                    ", ".join(chosen),
                    f"{cost:.3f}",
                    f"{collapsed} of {len(rows)}",
                    f"{cost / base:.2f}",
                    f"{error:.1%}",
                ]
            )
    lines = markdown_table(head, body, left=2)
    lines += [
        "",
        "Means over cost matrices, of one training each. Optimizer and learning rate are chosen on "
        "validation examples with the first matrix; where a network collapses, the next best two "
        "are tried. Collapsed: no better than one decision for all, on validation or test.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Runs the program."""
    options = parser(__doc__)
    options.add_argument("--datasets", default="bg_img_rot_synthetic_imb,cifar10_imb")
    options.add_argument("--scales", default=",".join(map(str, SCALES)))
    options.add_argument("--work", type=pathlib.Path, default=pathlib.Path("csdl_runs/sosr_scale"))
    arguments = options.parse_args()
    datasets = arguments.datasets.split(",")
    scales = tuple(map(int, arguments.scales.split(",")))
    profile = dataclasses.replace(
        PROFILES["small"],
        datasets=tuple(datasets),
        algorithms=tuple(map(scaled, scales)),
        cost_seeds=3,
    )
    runner = CellRunner(csdl.StageCache(arguments.work / "stages"), 1)
    grid = Grid(profile, arguments.work, runner)
    with CellDisplay(make_console(), runner) as display:
        grid.run(display)
    runner.failures.tell()
    found = []
    for name, file, fields in (("sosr_scale", "results", FIELDS), ("choices", "choices", TRIED)):
        rows = [
            *rows_of(NOTEBOOKS / "fair" / f"{file}.csv"),
            *rows_of(arguments.work / f"{file}.csv"),
        ]
        kept = [row for row in of_grid(rows, scales) if row["dataset"] in datasets]
        own = ResultsTable(arguments.out, name, fields)
        # Rows of an earlier call with other data sets or scales stay.
        new = {(row["dataset"], row["scale"]) for row in kept}
        others = [row for row in own.rows() if (row["dataset"], row["scale"]) not in new]
        own.write([*others, *only(kept, fields)])
        found.append(own.rows())
    results = ResultsTable(arguments.out, "sosr_scale", FIELDS)
    results.report(table(*found))


if __name__ == "__main__":
    main()
