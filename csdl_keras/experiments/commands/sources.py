"""The data and costs that the arguments of a command name, and what it says of them."""

import argparse
import dataclasses
import pathlib
from typing import TYPE_CHECKING, Any

import numpy as np

from csdl_keras._utils.frames import Table
from csdl_keras.costs import class_means
from csdl_keras.experiments.cost_file import CostTable, read_cost_table
from csdl_keras.experiments.data_source import DataSource
from csdl_keras.experiments.own_data import OwnData, OwnSource

if TYPE_CHECKING:
    from rich.console import Console

#: Labels with their numbers of examples, and columns of categories, that are listed.
_LISTED = 8


def source_of(arguments: argparse.Namespace) -> tuple[DataSource, CostTable | None]:
    """Returns the data, with the costs of the user's if there are any, and the table of these."""
    choices: dict[str, Any] = {
        "train_size": arguments.train_size,
        "seed": arguments.seed,
        "costs_of_all": False,
    }
    if arguments.data is None:
        source = DataSource(arguments.dataset, arguments.imbalanced, **choices)
    else:
        source = OwnSource(
            arguments.data.stem,
            path=arguments.data,
            label_column=arguments.label,
            drop=tuple(arguments.drop),
            cost_columns=tuple(arguments.cost_columns),
            categories=tuple(arguments.categories),
            missing=tuple(arguments.missing),
            image_size=arguments.image_size,
            skip_broken=arguments.skip_broken,
            **choices,
        )
    data: Any = source.load()
    own = isinstance(data, OwnData)
    if own:  # The record of the run has the names of columns.
        vars(arguments).update(data.chosen)
    labels = [str(one) for one in (data.labels if own else range(data.num_classes))]
    if arguments.cost_matrix is not None:
        table = read_cost_table(arguments.cost_matrix, labels)
        rows = tuple(map(tuple, table.matrix.tolist()))
        return dataclasses.replace(source, costs=rows), table
    if own and data.costs is not None:
        means = class_means(data.y_train, data.costs["train"])
        return source, CostTable(means, tuple(labels), data.decisions)
    return source, None


def show_source(
    console: "Console", arguments: argparse.Namespace, data: Any, costs: CostTable | None
) -> None:
    """Prints what was read: examples, labels, inputs, and the costs of the user's."""
    from csdl_keras.experiments.cost_display import cost_table
    from csdl_keras.experiments.display import print_table

    if isinstance(data, OwnData):
        console.print(_described(data), soft_wrap=True)
    else:
        variant = ", imbalanced" if data.imbalanced else ""
        console.print(
            f"{data.name}{variant}: {len(data.y_train)} training, {len(data.y_val)} validation and "
            f"{len(data.y_test)} test images of {data.num_classes} classes",
            soft_wrap=True,
        )
    if costs is None:
        return
    if arguments.cost_matrix is not None:
        title = f"Costs of decisions (columns), read from {arguments.cost_matrix}"
    else:
        title = "Mean costs of decisions (columns) over training examples"
    print_table(console, cost_table(costs, title, console.width))
    if arguments.cost_matrix is not None and costs.shifted:
        console.print(
            "Right decisions are not free: costs are counted from those of the right decision.",
            soft_wrap=True,
        )


def _described(data: OwnData) -> str:
    """Describes a user's data in two sentences."""
    sizes = {part: len(labels) for part, labels in data.y.items()}
    total = sum(sizes.values())
    names = {"train": "training", "val": "validation", "test": "test"}
    told = [f"{size} {names[part]} ({size / total:.0%})" for part, size in sizes.items()]
    counts = np.bincount(np.concatenate(list(data.y.values())))
    labels = [f"{label} {count}" for label, count in zip(data.labels, counts, strict=True)]
    listed = ", ".join(labels[:_LISTED]) + (", ..." if len(labels) > _LISTED else "")
    return (
        f"{data.name}: {told[0]}, {told[1]} and {told[2]} examples of {len(labels)} labels "
        f"({listed}), split at random within each label. Inputs: {_inputs(data)}."
    )


def _inputs(data: OwnData) -> str:
    x = data.x_train
    if not isinstance(x, Table):
        told = "images of " + "x".join(map(str, x.shape[1:]))
        if data.left_out:
            number = len(data.left_out)
            told += (
                f", left out {number} other file{'s' * (number > 1)}, such as {data.left_out[0]}"
            )
        return told
    categorical = x.columns.categorical
    missing = sum(np.isnan(x.rows[:, j]).any() for j in range(x.shape[1]))
    numeric = x.shape[1] - len(categorical)
    parts = [f"{numeric} column{'s' * (numeric != 1)} of numbers"]
    if categorical:
        names = [repr(x.columns.names[j]) for j in categorical]
        listed = ", ".join(names[:_LISTED]) + (", ..." if len(names) > _LISTED else "")
        parts.append(f"{len(categorical)} of categories ({listed})")
    if missing:
        parts.append(f"{missing} with missing values")
    if data.left_out:
        parts.append(f"left out {len(data.left_out)} without a name")
    told = ". ".join([", ".join(parts), *data.told])
    many = [x.columns.names[j] for j, count in categorical.items() if count > len(x) / 2]
    if many:
        told += (
            f". Most examples have a category of their own in {', '.join(map(repr, many))}: --drop "
            "what identifies examples"
        )
    return told


def data_record(arguments: argparse.Namespace, data: Any) -> dict[str, Any]:
    """Describes the data of a run for its record: name or path, rows, inputs and labels."""
    splits = {"train": data.y_train, "val": data.y_val, "test": data.y_test}
    split = {name: len(labels) for name, labels in splits.items()}
    x = data.x_train
    return {
        **({"name": data.name} if arguments.data is None else {"path": str(arguments.data)}),
        "rows": sum(split.values()),
        "split": split,
        **({"columns": x.columns.names} if isinstance(x, Table) else {"shape": x.shape[1:]}),
        "labels": data.labels if isinstance(data, OwnData) else list(range(data.num_classes)),
    }


def load_snippet(data: Any, model_path: pathlib.Path, dataset: str) -> str:
    """Returns lines of Python that load a model and decide on some examples.

    Args:
        data: the data that the model was trained on.
        model_path: the saved model.
        dataset: name of the data set, for data that are not the user's.
    """
    if isinstance(data, OwnData):
        code, printed = data.code.splitlines(), _own_decisions(data)
    else:
        code = [f"data = csdl.datasets.load({dataset!r})"]
        printed = "csdl.decide(model, data.x_test[:10]), data.y_test[:10]"
    keras_model = model_path.suffix == ".keras"
    load = "keras.saving.load_model" if keras_model else "csdl.baselines.CSOSR.load"
    return "\n".join(
        [
            *(["import keras"] if keras_model else []),
            *(line for line in code if line.startswith(("import ", "from "))),
            "import csdl_keras as csdl  # before loading: it registers layers",
            f"model = {load}({str(model_path)!r})",
            *(line for line in code if not line.startswith(("import ", "from "))),
            f"print({printed})",
        ]
    )


def _own_decisions(data: OwnData) -> str:
    decided = "csdl.decide(model, x)"
    if len(data.decisions) > data.num_classes:
        return f"[{list(data.decisions)}[decision] for decision in {decided}]"
    return decided if data.classes is None else f"model.classes[{decided}]"
