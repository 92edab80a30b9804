"""The data and costs that the arguments of a command name, and what it says of them."""

import argparse
import dataclasses
import functools
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
import pandas

from csdl_keras import Algorithm, costs, datasets, decide, models
from csdl_keras._utils.data_model import with_data
from csdl_keras.evaluation import cost_report
from csdl_keras.layers import TableEncoding
from csdl_keras_cli.columns import Columns, Table, rows_of
from csdl_keras_cli.cost_file import costs_of_columns, read_costs
from csdl_keras_cli.own_columns import split
from csdl_keras_cli.own_table import OwnFile, read_table

#: Columns of `results.csv`: the one decision that costs least if it is always taken, and its
#: average cost; how much less the algorithm's decisions cost, with the paired 95 % interval; and
#: `"best"`, `"tied"` if the interval of the difference to the best contains 0, or `"costlier"`.
SAVINGS = ["constant_decision", "constant_cost", "saved", "saved_low", "saved_high", "against_best"]


@dataclasses.dataclass(frozen=True, eq=False)
class Data:
    """Examples in three splits, `"train"`, `"val"` and `"test"`, and the costs of the user's."""

    name: str
    #: The labels in the order of their numbers.
    labels: tuple[Any, ...]
    #: Inputs by split, a `Table` or images, and int64 labels `(N,)`, numbers of `labels`.
    x: dict[str, Any]
    y: dict[str, np.ndarray]
    #: Python that reads some of the inputs as `x`, or as `data`.
    code: str
    imbalanced: bool = False
    #: The user's file that it is from, or `None`.
    own: OwnFile | None = None
    #: Names of decisions, those of labels first, or `None` for their numbers.
    decisions: tuple[str, ...] | None = None
    #: The user's amounts `(K, D)`, `C[true, decision]`, or the means of `costs`, or `None`.
    amounts: np.ndarray | None = None
    #: `(N, D)` costs of each decision by split, or `None`.
    costs: dict[str, np.ndarray] | None = None
    #: The network that made the inputs of a table, or `None`.
    encoder: keras.Model | None = None

    @property
    def title(self) -> str:
        """The name with the variant."""
        return f"{self.name}{', imbalanced' * self.imbalanced}"

    @property
    def classes(self) -> np.ndarray | None:
        """The labels as a saved model keeps them; `None` if they are their numbers."""
        if type(self.labels[0]) is not int:
            return np.array(self.labels)
        return None if self.labels == (*range(len(self.labels)),) else np.array(self.labels, "str")

    def matrix_of(self, seed: int) -> np.ndarray:
        """Returns the user's costs beyond those of right decisions, or else random ones."""
        if self.amounts is not None:
            return self.amounts - self.amounts.min(axis=1, keepdims=True)
        known = np.concatenate([self.y["train"], self.y["val"]])
        return costs.randomized_proportional(known, scale=10.0, seed=seed)

    def prices(self, part: str, matrix: np.ndarray) -> np.ndarray:
        """Returns the costs `(N, D)` of all decisions on the examples of a split."""
        return matrix[self.y[part]] if self.costs is None else self.costs[part]

    def decided(self, model: Any, part: str) -> np.ndarray:
        """Returns the decisions of a model on the examples of a split."""
        return decide(model, rows_of(self.x[part]))

    def savings(
        self, decisions: Mapping[str, np.ndarray], matrix: np.ndarray
    ) -> dict[str, dict[str, Any]]:
        """Returns `SAVINGS` of decisions on test examples, by the names of algorithms."""
        truth, prices = self.y["test"], matrix if self.costs is None else None
        if self.costs is not None:
            truth = self.costs["test"]
        report, found = cost_report(decisions, truth, prices, decision_names=self.decisions), {}
        for row in report.rows:
            pair, best = row.against_constant, row.against_best
            assert pair is not None  # Only the row of the constant decision has none.
            place = "best" if best is None else "costlier" if best.costlier else "tied"
            figures = (0.0 - it for it in (pair.difference, pair.high, pair.low))
            told = (report.constant_name, report.constant.average_cost, *figures, place)
            found[row.name] = dict(zip(SAVINGS, told, strict=True))
        return found

    def suiting(self, algorithm: Algorithm) -> "Data":
        """Returns the data in the form that an algorithm takes; raises a ValueError without one."""
        body, is_table = algorithm.body_kind, isinstance(self.x["train"], Table)
        if not body.is_network and (is_table or self.classes is not None):
            raise ValueError(
                f"Expected a network for this data, since the file of {algorithm.name!r} keeps "
                f"neither columns nor the names of labels; received {algorithm.name!r}."
            )
        if not is_table or body.takes_frames:
            return self
        if body.takes_images:
            raise ValueError(
                f"Expected images for {algorithm.name!r}, whose network is convolutional; received "
                f"a table, {self.name}."
            )
        return self._encoded

    @functools.cached_property
    def _encoded(self) -> "Data":
        """The data with a table as numbers in [0, 1], without missing values."""
        table = self.x["train"]
        rows = models.tabular(table, 2, (), output="features", name="rows", bins=0)
        (encoding,) = (layer for layer in rows.layers if isinstance(layer, TableEncoding))
        # Standardised numbers are between -3 and 3, indicators and categories 0 or 1.
        numbers = np.arange(rows.output_shape[-1]) < encoding.num_numbers
        scale, offset = np.where(numbers, 1 / 6, 1.0), np.where(numbers, 0.5, 0.0)
        rescaled = keras.layers.Rescaling(scale.tolist(), offset.tolist())(rows.output)
        encoder = keras.Model(rows.input, rescaled, name="encoder")
        x = {
            part: np.clip(encoder.predict(it.rows, verbose=0), 0, 1).astype("float32")
            for part, it in self.x.items()
        }
        return dataclasses.replace(self, x=x, encoder=encoder)

    def finished(self, model: Any) -> Any:
        """Returns a trained classifier that takes raw rows and knows the labels."""
        if self.own is None or not isinstance(model, keras.Model):
            return model
        unit = getattr(model, "unit", 1.0)
        if self.encoder is not None:
            model = keras.Model(self.encoder.input, model(self.encoder.output), name=model.name)
        return with_data(model, classes=self.classes, unit=unit)


def read_data(arguments: argparse.Namespace) -> Data:
    """Reads the data and costs of `arguments`, which get the names of columns for the record."""
    data = _named(arguments) if arguments.data is None else _own(arguments)
    if arguments.cost_matrix is None:
        return data
    amounts, names = read_costs(arguments.cost_matrix, list(map(str, data.labels)))
    return dataclasses.replace(data, amounts=amounts, decisions=names)


def _named(arguments: argparse.Namespace) -> Data:
    name = arguments.dataset.removesuffix("_imb")
    imbalanced = name != arguments.dataset
    data = datasets.load(name, imbalanced, arguments.train_size, arguments.seed)
    return Data(
        data.name,
        tuple(range(data.num_classes)),
        {"train": data.x_train, "val": data.x_val, "test": data.x_test},
        {"train": data.y_train, "val": data.y_val, "test": data.y_test},
        f"data = csdl.datasets.load({name!r})",
        imbalanced=imbalanced,
    )


def _own(arguments: argparse.Namespace) -> Data:
    path: pathlib.Path = arguments.data
    if path.is_dir():
        from csdl_keras_cli.image_folder import read_images

        file = read_images(path, arguments.image_size, arguments.skip_broken)
    else:
        file = read_table(arguments)
    parts = split(file.numbers, arguments.seed)
    inputs = file.inputs
    if isinstance(inputs, pandas.DataFrame):
        columns = Columns.of(inputs.iloc[parts["train"]])
        inputs = Table(columns.encode(inputs), columns)
    x = {part: inputs[rows] for part, rows in parts.items()}
    y = {part: file.numbers[rows] for part, rows in parts.items()}
    names = tuple(map(str, file.labels))
    data = Data(path.stem, file.labels, x, y, file.code, own=file, decisions=names)
    if file.costs is None:
        return data
    vectors, names = costs_of_columns(file.costs, arguments.cost_columns, names, file.numbers)
    own = {part: vectors[rows] for part, rows in parts.items()}
    means = costs.class_means(y["train"], own["train"])
    return dataclasses.replace(data, amounts=means, decisions=names, costs=own)


def show_data(data: Data) -> None:
    """Prints what was read: examples, labels, inputs, and the costs of the user's."""
    train, val, test = map(len, data.y.values())
    counts = np.bincount(np.concatenate(list(data.y.values())))
    labels = [f"{label} {count}" for label, count in zip(data.labels, counts, strict=True)]
    print(
        f"{data.title}: {train} training, {val} validation and {test} test examples of "
        f"{len(labels)} labels ({_listed(labels)})."
    )
    if data.own is not None:
        print(f"Split at random within each label. Inputs: {described_inputs(data)}.")
    if data.amounts is None:
        return
    title = f"{'Costs' if data.costs is None else 'Mean costs'} of decisions (columns)"
    frame = pandas.DataFrame(data.amounts, list(map(str, data.labels)), data.decisions)
    frame.columns.name = "true label"
    shown = frame.to_string(max_rows=12, max_cols=12, float_format="{:.6g}".format)
    print(f"{title}\n{shown}")
    if data.costs is None and np.diagonal(data.amounts).any():
        print("Right decisions are not free: costs are counted from those of the right decision.")


def described_inputs(data: Data) -> str:
    """Describes the inputs of a user's data, with what was left out."""
    x, own = data.x["train"], data.own
    assert own is not None
    if isinstance(x, Table):
        columns = x.columns
        dates = [repr(name) for name, _ in columns.dates]
        known = zip(columns.names, columns.categories, strict=True)
        categories = [repr(name) for name, them in known if them is not None]
        numbers = len(columns.names) - len(categories) - len(dates)
        parts = [f"{numbers} columns of numbers"]
        for kind, names in (("categories", categories), ("dates", dates)):
            if names:
                parts.append(f"{len(names)} of {kind} ({_listed(names)})")
        incomplete = {*np.compress(np.isnan(x.rows).any(axis=0), columns.encoded_names)}
        if missing := sum(str(name) in incomplete for name in columns.names):
            parts.append(f"{missing} with missing values")
    else:
        parts = ["images of " + "x".join(map(str, x.shape[1:]))]
    if own.left_out:
        parts.append(f"left out {len(own.left_out)}, such as {own.left_out[0]}")
    return ". ".join([", ".join(parts), *own.told])


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")


def data_record(data: Data) -> dict[str, Any]:
    """Describes the data of a run for its record: rows, inputs and labels."""
    x = data.x["train"]
    return {
        "split": {name: len(labels) for name, labels in data.y.items()},
        **({"columns": x.columns.names} if isinstance(x, Table) else {"shape": x.shape[1:]}),
        "labels": data.labels,
    }


def load_snippet(data: Data, path: pathlib.Path) -> str:
    """Returns lines of Python that load a model and decide on some examples."""
    printed, load = "csdl.decide(model, x)", "keras.saving.load_model"
    if data.own is None:
        printed = "csdl.decide(model, data.x_test[:10]), data.y_test[:10]"
    elif len(data.decisions or ()) > len(data.labels):
        printed = f"[{list(data.decisions or ())}[decision] for decision in {printed}]"
    elif data.classes is not None:
        printed = f"model.classes[{printed}]"
    if path.suffix != ".keras":
        load = "csdl.baselines.CSOSR.load"
    return (
        "import keras\nimport csdl_keras as csdl  # before loading: it registers layers\n"
        f"model = {load}({str(path)!r})\n{data.code}\nprint({printed})"
    )
