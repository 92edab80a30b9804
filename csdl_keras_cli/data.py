"""The data and costs of a comparison or a search, and their description."""

import argparse
import dataclasses
import functools
import pathlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas

from csdl_keras_cli.classifier import SavedClassifier
from csdl_keras_cli.columns import Columns, Table, as_table, read_column, rows_of
from csdl_keras_cli.cost_file import class_means, costs_of_columns, labels_first, read_costs
from csdl_keras_cli.known_costs import Expressions, cost_matrices, expressions, names_of
from csdl_keras_cli.own_table import OwnFile, read_table
from csdl_keras_cli.splits import split

if TYPE_CHECKING:
    import keras

    from csdl_keras import Algorithm, Settings, Trainer


@dataclasses.dataclass(frozen=True, eq=False)
class Data:
    """Examples in the parts `"train"`, `"val"` and `"test"`, and the costs of decisions."""

    name: str
    #: The labels in the order of their numbers.
    labels: tuple[Any, ...]
    #: Inputs by part, a `Table` or images, and int64 labels `(N,)`, as positions in `labels`.
    x: dict[str, Any]
    y: dict[str, np.ndarray]
    #: The names of decisions, those of labels first.
    decisions: tuple[str, ...]
    #: Costs `(K, D)`, `C[true, decision]`, or the mean costs of examples; `None` for random cost
    #: matrices.
    amounts: np.ndarray | None = None
    #: Costs `(N, D)` of each decision by part, unknown when deciding, or `None`.
    costs: dict[str, np.ndarray] | None = None
    #: Costs known when deciding by part, `(N, K, D)` or `AffineCosts`, or `None`; and the
    #: expressions over columns from which the command computed them.
    known: dict[str, Any] | None = None
    known_costs: Expressions | None = None
    #: The user's present decisions `(N,)` on the test examples, or `None`.
    today: np.ndarray | None = None
    imbalanced: bool = False
    #: How examples were split.
    order: str = "at random within each label"
    #: The user's file with the data, or `None`.
    own: OwnFile | None = None
    #: The network that encoded the rows of a table, or `None`.
    encoder: "keras.Model | None" = None

    @property
    def title(self) -> str:
        return f"{self.name}{', imbalanced' * self.imbalanced}"

    def size(self, part: str) -> int:
        return len(self.y[part])

    @property
    def columns(self) -> Columns | None:
        """The columns of a table, or `None` for images."""
        x = self.x["train"]
        return x.columns if isinstance(x, Table) else None

    @property
    def classes(self) -> np.ndarray | None:
        """The labels for a saved model; `None` if they are 0 to K - 1."""
        if type(self.labels[0]) is not int:
            return np.array(self.labels)
        return None if self.labels == (*range(len(self.labels)),) else np.array(self.labels, "str")

    @property
    def own_costs(self) -> dict[str, Any] | None:
        """The costs of examples by part, known when deciding or not, or `None`."""
        return self.costs if self.known is None else self.known

    def matrix_of(self, seed: int) -> np.ndarray:
        """Returns the user's costs relative to the cheapest decision, or else random costs."""
        if self.amounts is not None:
            return self.amounts - self.amounts.min(axis=1, keepdims=True)
        from csdl_keras.costs import randomized_proportional

        known = np.concatenate([self.y["train"], self.y["val"]])
        return randomized_proportional(known, scale=10.0, seed=seed)

    def prices(self, part: str, matrix: np.ndarray) -> np.ndarray:
        """Returns the costs `(N, D)` of all decisions on the examples of a part."""
        if self.costs is not None:
            return self.costs[part]
        if self.known is None:
            return matrix[self.y[part]]
        known = self.known[part]
        if isinstance(known, np.ndarray):
            return known[np.arange(len(known)), self.y[part]]
        from csdl_keras.costs.known import vectors_of_labels

        return vectors_of_labels(self.y[part], known)

    def paid(self, part: str, matrix: np.ndarray, decisions: np.ndarray) -> np.ndarray:
        return self.prices(part, matrix)[np.arange(len(decisions)), decisions]

    def decided(self, model: Any, part: str) -> np.ndarray:
        from csdl_keras import decide

        known = None if self.known is None else self.known[part]
        return decide(model, rows_of(self.x[part]), costs=known)

    def judged_by(self, matrix: np.ndarray) -> tuple[Any, Any]:
        """Returns test labels with a cost matrix, or costs of the test examples with `None`."""
        if self.costs is not None:
            return self.costs["test"], None
        return self.y["test"], matrix if self.known is None else self.known["test"]

    def report(self, decisions: Mapping[str, np.ndarray], matrix: np.ndarray) -> Any:
        from csdl_keras.evaluation import cost_report

        truth, prices = self.judged_by(matrix)
        return cost_report(
            decisions,
            truth,
            prices,
            baseline=self.today,
            class_names=None if prices is None else list(map(str, self.labels)),
            decision_names=self.decisions,
        )

    def suiting(self, algorithm: "Algorithm") -> "Data":
        """Returns the data, with a table encoded if the algorithm does not support tables."""
        as_it_is = self.columns is None or algorithm.body_kind.takes_frames
        return self if as_it_is else self._encoded

    def trainer(self, settings: "Settings", seed: int, **arguments: Any) -> "Trainer":
        from csdl_keras import Trainer

        own = self.own_costs
        train, val = ((self.x[part], self.y[part]) for part in ("train", "val"))
        validation = val if own is None else (*val, own["val"])
        costs = None if own is None else own["train"]
        return Trainer(*train, validation, costs=costs, settings=settings, seed=seed, **arguments)

    @functools.cached_property
    def _encoded(self) -> "Data":
        """The data with its table encoded as numbers in [0, 1], without missing values."""
        import keras

        from csdl_keras import models
        from csdl_keras.layers import TableEncoding

        rows = models.tabular(self.x["train"], 2, (), output="features", name="rows", bins=0)
        (encoding,) = (layer for layer in rows.layers if isinstance(layer, TableEncoding))
        # Standardised numbers are mostly between -3 and 3, indicators and categories 0 or 1.
        numbers = np.arange(rows.output_shape[-1]) < encoding.num_numbers
        scale, offset = np.where(numbers, 1 / 6, 1.0), np.where(numbers, 0.5, 0.0)
        rescaled = keras.layers.Rescaling(scale.tolist(), offset.tolist())(rows.output)
        encoder = keras.Model(rows.input, rescaled, name="encoder")
        x = {
            part: np.clip(encoder.predict(it.rows, verbose=0), 0, 1).astype("float32")
            for part, it in self.x.items()
        }
        return dataclasses.replace(self, x=x, encoder=encoder)

    def saved(self, classifier: Any, rule: str | int, scale: float = 1.0) -> SavedClassifier:
        shape = self.x["train"].shape[1:] if self.columns is None else None
        names = (self.labels, self.decisions, self.columns, self.known_costs)
        return SavedClassifier(classifier, rule, *names, input_shape=shape, scale=scale)

    def finished(self, trained: Any) -> Any:
        """Returns a trained model as one that decides for raw rows, with labels and costs."""
        import keras

        from csdl_keras._utils.data_model import with_data

        model = trained.model
        if not isinstance(model, keras.Model):  # Only the kernel machine is not one.
            return self.saved(model, "Bayes", trained.unit)
        unit = getattr(model, "unit", 1.0)
        if self.encoder is not None:
            model = keras.Model(self.encoder.input, model(self.encoder.output), name=model.name)
        more = len(self.decisions) > len(self.labels)
        return with_data(
            model,
            classes=self.classes,
            unit=unit,
            decisions=list(self.decisions) if more else None,
            known_costs=self.known_costs,
        )


def read_data(arguments: argparse.Namespace) -> Data:
    """Reads data and costs, and replaces options in `arguments` by the names of columns."""
    if arguments.data is not None:
        return _own(arguments)
    from csdl_keras import datasets

    name = arguments.dataset.removesuffix("_imb")
    imbalanced = name != arguments.dataset
    data = datasets.load(name, imbalanced, arguments.train_size, arguments.seed)
    labels = tuple(range(data.num_classes))
    named = Data(
        data.name,
        labels,
        {"train": data.x_train, "val": data.x_val, "test": data.x_test},
        {"train": data.y_train, "val": data.y_val, "test": data.y_test},
        tuple(map(str, labels)),
        imbalanced=imbalanced,
        order="as published",
    )
    return _with_matrix(named, arguments.cost_matrix)


def _with_matrix(data: Data, path: pathlib.Path | None) -> Data:
    """Returns data with the costs in a file, if there is one."""
    if path is None:
        return data
    amounts, names = read_costs(path, data.decisions)
    return dataclasses.replace(data, amounts=amounts, decisions=names)


def _own(arguments: argparse.Namespace) -> Data:
    path: pathlib.Path = arguments.data
    if path.is_dir():
        from csdl_keras_cli.image_folder import read_images

        file = read_images(path, arguments.image_size, arguments.skip_broken)
    else:
        file = read_table(arguments)
    frame, names = file.frame, tuple(map(str, file.labels))
    by, order = None, "at random within each label"
    for column in arguments.split_by:
        by = _ordered(column, frame[column], file.dates)
        order = f"the latest by {column!r} in the test set"
    groups = None
    if arguments.group:
        numbers = frame.groupby(arguments.group).ngroup()
        groups = numbers.where(numbers >= 0)
        order += f", no {' and '.join(arguments.group)} in two parts"
    parts = split(file.numbers, arguments.seed, by, groups)
    table = as_table(file.inputs, parts["train"], file.dates)
    inputs = file.inputs if table is None else table
    x = {part: inputs[rows] for part, rows in parts.items()}
    y = {part: file.numbers[rows] for part, rows in parts.items()}
    data = Data(path.stem, file.labels, x, y, names, order=order, own=file)
    data = _with_costs(data, file, arguments, parts)
    if not arguments.today:
        return data
    taken = frame[arguments.today[0]].iloc[parts["test"]].astype("str").str.strip().tolist()
    if unknown := [it for it in taken if it not in data.decisions]:
        raise ValueError(
            f"--today column {arguments.today[0]!r} has {unknown[0]!r}, which is not among the "
            f"decisions {', '.join(data.decisions)}."
        )
    return dataclasses.replace(data, today=np.array([data.decisions.index(it) for it in taken]))


def _ordered(name: str, column: pandas.Series, dates: Mapping[str, str]) -> np.ndarray:
    if name in dates:
        form = dates[name] or "ISO8601"
        return pandas.to_datetime(column, format=form, utc=True).to_numpy("datetime64[ns]")
    values = read_column(name, column)
    if isinstance(values, list):
        text = next(it for it in values if it is not None)
        raise ValueError(f"--split-by {name!r} must contain dates or numbers; received {text!r}.")
    return values


def _with_costs(
    data: Data, file: OwnFile, arguments: argparse.Namespace, parts: Mapping[str, np.ndarray]
) -> Data:
    labels = data.decisions
    if file.costs is not None:
        vectors, names = costs_of_columns(file.costs, arguments.cost_columns, labels, file.numbers)
        own = {part: vectors[rows] for part, rows in parts.items()}
        means = class_means(data.y["train"], own["train"])
        return dataclasses.replace(data, amounts=means, decisions=names, costs=own)
    data, columns = _with_matrix(data, arguments.cost_matrix), arguments.known_costs
    if not (columns or arguments.cost):
        return data
    names = data.decisions
    if columns:
        columns = labels_first("--known-costs", columns, labels)
        names = (*labels, *columns[len(labels) :])
    # The costs of a matrix are relative to the cheapest decision.
    beyond = None if data.amounts is None else data.matrix_of(0)
    known = expressions(labels, names, columns, arguments.cost, beyond)
    costs = cost_matrices(known, file.frame)
    own = {part: costs[rows] for part, rows in parts.items()}
    means = own["train"].mean(axis=0)
    return dataclasses.replace(data, amounts=means, decisions=names, known=own, known_costs=known)


def summary(data: Data) -> str:
    """Returns text about the data: examples, columns, missing cells, labels and split."""
    shares = pandas.Series(np.concatenate([*data.y.values()])).value_counts(normalize=True)
    # Labels with equal shares keep their order.
    shares = shares.sort_index().sort_values(ascending=False, kind="stable")
    labels = [f"{data.labels[place]} {share:.1%}" for place, share in shares.items()]
    names = {"train": "training", "val": "validation", "test": "test"}
    sizes = ", ".join(f"{data.size(part)} {name}" for part, name in names.items())
    lines = [
        f"{data.title}: {sum(map(data.size, names)):,} examples, {described_inputs(data)}.",
        f"{len(labels)} labels: {_listed(labels)}.",
        f"Split: {sizes} examples, {data.order}.",
    ]
    if data.today is not None:
        lines.append("Your present decisions (--today) are compared too.")
    return "\n".join(lines)


def costs_text(data: Data, matrix: np.ndarray, title: str = "") -> str:
    """Returns the costs as a text table."""
    amounts = matrix if data.amounts is None else data.amounts
    means = data.own_costs is not None
    title = title or f"{'Mean costs' if means else 'Costs'} of decisions (columns)"
    frame = pandas.DataFrame(amounts, list(map(str, data.labels)), list(data.decisions))
    frame.columns.name = "true label"
    most = max(2, 60 // max(5, *(len(name) + 2 for name in data.decisions)))

    def short(value: float) -> str:
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"

    table = frame.to_string(max_rows=12, max_cols=most, float_format=short)
    lines = [title, table]
    if not means and np.diagonal(amounts).any():
        lines.append(
            "Right decisions are not free: results count the costs beyond the right decision's."
        )
    if data.known_costs is not None and data.own is not None:
        names = names_of(data.known_costs, list(map(str, data.own.frame.columns)))
        by = f", from the columns {', '.join(names)}" if names else ""
        lines.append(f"Costs are known when deciding{by}.")
    return "\n".join(lines)


def described_inputs(data: Data) -> str:
    """Describes the inputs, and what was left out."""
    columns, own = data.columns, data.own
    if columns is None or own is None:
        parts = [f"images of {'x'.join(map(str, data.x['train'].shape[1:]))}"]
    else:
        dates = [str(name) for name, _ in columns.dates]
        kinds = zip(columns.names, columns.categories, strict=True)
        texts = [str(name) for name, known in kinds if known is not None]
        missing = own.inputs.isna().sum().sum()
        parts = [f"{len(columns.names) - len(dates) - len(texts)} columns of numbers"]
        parts += [f"{len(texts)} of categories ({_listed(texts)})"] * bool(texts)
        parts += [f"{len(dates)} of dates ({_listed(dates)})"] * bool(dates)
        parts.append(f"{missing:,} missing cells" if missing else "no missing cells")
    if own is None:
        return ", ".join(parts)
    if own.left_out:
        parts.append(f"left out {len(own.left_out)}, such as {own.left_out[0]}")
    return ". ".join([", ".join(parts), *own.told])


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def data_record(data: Data) -> dict[str, Any]:
    """Describes the data of a run for its record: rows, inputs and labels."""
    columns = data.columns
    return {
        "split": {name: len(labels) for name, labels in data.y.items()},
        **({"shape": data.x["train"].shape[1:]} if columns is None else {"columns": columns.names}),
        "labels": data.labels,
    }
