"""A user's data as the source of a comparison or a search."""

import dataclasses
import functools
import pathlib
from typing import Any

import keras
import numpy as np

from csdl_keras import models
from csdl_keras._utils.data_model import with_data
from csdl_keras._utils.frames import Columns, Table
from csdl_keras.costs import class_means
from csdl_keras.experiments.data_source import DataSource
from csdl_keras.experiments.image_folder import read_images
from csdl_keras.experiments.own_columns import check_inputs
from csdl_keras.experiments.own_costs import costs_of_columns
from csdl_keras.experiments.own_file import OwnFile, read_file
from csdl_keras.experiments.own_labels import read_labels, split
from csdl_keras.layers import TableEncoding
from csdl_keras.training.algorithm import Algorithm


@dataclasses.dataclass(frozen=True)
class OwnData:
    """A user's data in three splits.

    Args:
        name: name of the data in tables and figures.
        labels: the labels in the order of their numbers.
        x: inputs by split, `"train"`, `"val"` and `"test"`: the `Table` of a data frame, or
            images `(N, height, width, channels)`.
        y: int64 labels `(N,)` by split, numbers of `labels`.
        costs: `(N, D)` costs of each decision by split, or `None`.
        decisions: names of decisions, labels first.
        code: Python that reads some of the inputs as `x`.
        left_out: columns without a name, or files in a folder of images, which are no inputs.
        chosen: names of columns by the options that name them.
        told: what stands out in the file.
    """

    name: str
    labels: tuple[Any, ...]
    x: dict[str, Any]
    y: dict[str, np.ndarray]
    costs: dict[str, np.ndarray] | None
    decisions: tuple[str, ...]
    code: str
    left_out: tuple[str, ...] = ()
    chosen: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    told: tuple[str, ...] = ()
    imbalanced: bool = False

    x_train = property(lambda self: self.x["train"])
    x_val = property(lambda self: self.x["val"])
    x_test = property(lambda self: self.x["test"])
    y_train = property(lambda self: self.y["train"])
    y_val = property(lambda self: self.y["val"])
    y_test = property(lambda self: self.y["test"])

    @property
    def num_classes(self) -> int:
        """The number of labels."""
        return len(self.labels)

    @property
    def y_train_val(self) -> np.ndarray:
        """Labels of training and validation together, from which cost matrices are drawn."""
        return np.concatenate([self.y_train, self.y_val])

    @property
    def is_table(self) -> bool:
        """True unless inputs are images."""
        return not isinstance(self.x["train"], np.ndarray) or self.x["train"].ndim == 2

    @property
    def classes(self) -> np.ndarray | None:
        """The labels as a saved model keeps them; `None` if they are their numbers."""
        if self.labels == tuple(range(self.num_classes)) and not isinstance(self.labels[0], bool):
            return None
        if isinstance(self.labels[0], int) and not isinstance(self.labels[0], bool):
            return np.array([str(label) for label in self.labels])
        return np.array(self.labels)


@dataclasses.dataclass(frozen=True)
class OwnSource(DataSource):
    """A user's file, or folder of images, as a source of data.

    Args:
        path: the file or folder.
        label_column: name of the column of labels; `None` of a folder.
        drop: columns that are no inputs, see `read_file`.
        cost_columns: columns of costs.
        categories: columns of categories, whatever they look like.
        missing: what stands for a missing value.
        image_size: height and width of the images of a folder; `None` is their own.
        skip_broken: whether images that cannot be read are left out. Defaults to False.
        encoded: whether a table is turned into numbers in [0, 1], as networks need that
            take neither categories nor missing values. Defaults to False.
    """

    path: pathlib.Path = pathlib.Path()
    label_column: str | None = None
    drop: tuple[str, ...] = ()
    cost_columns: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    image_size: tuple[int, int] | None = None
    skip_broken: bool = False
    encoded: bool = False

    def load(self) -> OwnData:  # type: ignore[override]
        """Loads the data; the last data that were loaded stay in memory."""
        return _encoded(self.raw()) if self.encoded else _loaded(self.raw())

    def cost_labels(self) -> np.ndarray:
        """Returns the labels of training and validation whose frequencies shape cost matrices."""
        return self.load().y_train_val

    def matrix(self, seed: int, scale: float = 10.0) -> np.ndarray:
        """Returns the cost matrix, as `DataSource.matrix`; mean costs if examples have theirs."""
        costs = self.example_costs("train")
        if costs is None:
            return super().matrix(seed, scale)
        return class_means(self.load().y_train, costs)

    def example_costs(self, part: str) -> np.ndarray | None:
        """Returns what each decision costs the examples of a split; `None` with a cost matrix."""
        costs = self.load().costs
        return None if costs is None else costs[part]

    def suiting(self, algorithm: Algorithm) -> "OwnSource":
        """Returns the source in the form that an algorithm takes.

        Raises:
            ValueError: if there is none.
        """
        data, body = self.load(), algorithm.body_kind
        if not body.is_network and (data.is_table or data.classes is not None):
            raise ValueError(
                f"Expected a network for this data, since the file of {algorithm.name!r} keeps "
                f"neither columns nor the names of labels; received {algorithm.name!r}."
            )
        if not data.is_table or body.takes_frames:
            return self
        if body.takes_images:
            raise ValueError(
                f"Expected images for {algorithm.name!r}, whose network is convolutional; received "
                f"a table, {self.path}."
            )
        return dataclasses.replace(self, encoded=True)

    def raw(self) -> "OwnSource":
        """Returns the source of the data as the user has them."""
        return dataclasses.replace(self, costs=None, encoded=False)

    def finished(self, model: Any) -> Any:
        """Returns a trained classifier that takes raw rows and knows the labels."""
        if not isinstance(model, keras.Model):
            return model
        unit = getattr(model, "unit", 1.0)
        if self.encoded:
            encoder = _encoder(self.raw())
            model = keras.Model(encoder.input, model(encoder.output), name=model.name)
        return with_data(model, classes=self.load().classes, unit=unit)


@functools.lru_cache(maxsize=1)
def _loaded(source: OwnSource) -> OwnData:
    if source.path.is_dir():
        images, names, code, others = read_images(
            source.path, source.image_size, source.skip_broken
        )
        file = OwnFile(images, np.array(names), None, code, others)
        labels, numbers = read_labels(str(source.path), file.labels)
    else:
        column = source.label_column or ""
        file = read_file(
            source.path,
            column,
            source.drop,
            source.cost_columns,
            source.categories,
            source.missing,
        )
        labels, numbers = read_labels(column, file.labels)
    parts = dict(
        zip(("train", "val", "test"), split(numbers, source.seed, source.train_size), strict=True)
    )
    costs, decisions = None, tuple(map(str, labels))
    if file.costs is not None:
        names = file.chosen["cost_columns"]
        vectors, decisions = costs_of_columns(file.costs, names, decisions, numbers)
        costs = {part: vectors[rows] for part, rows in parts.items()}
    if isinstance(file.inputs, np.ndarray):
        x = {part: file.inputs[rows] for part, rows in parts.items()}
    else:
        check_inputs(file.inputs, file.chosen["categories"])
        columns = Columns.of(file.inputs.iloc[parts["train"]])
        frames = {part: file.inputs.iloc[rows] for part, rows in parts.items()}
        x = {part: Table(columns.encode(frame), columns) for part, frame in frames.items()}
    y = {part: numbers[rows] for part, rows in parts.items()}
    return OwnData(
        source.name,
        labels,
        x,
        y,
        costs,
        decisions,
        file.code,
        file.left_out,
        file.chosen,
        file.told,
    )


@functools.lru_cache(maxsize=1)
def _encoded(source: OwnSource) -> OwnData:
    data, encoder = _loaded(source), _encoder(source)
    x = {
        part: np.clip(encoder.predict(table.rows, verbose=0), 0, 1).astype("float32")
        for part, table in data.x.items()
    }
    return dataclasses.replace(data, x=x)


@functools.lru_cache(maxsize=1)
def _encoder(source: OwnSource) -> keras.Model:
    """Returns the network without weights to train that turns rows into numbers in [0, 1]."""
    rows = models.tabular(_loaded(source).x_train, 2, (), output="features", name="rows", bins=0)
    (encoding,) = (layer for layer in rows._flatten_layers() if isinstance(layer, TableEncoding))
    # Standardised numbers are between -3 and 3, indicators and categories 0 or 1.
    numbers = np.arange(rows.output_shape[-1]) < encoding.num_numbers
    scale, offset = np.where(numbers, 1 / 6, 1.0), np.where(numbers, 0.5, 0.0)
    rescaled = keras.layers.Rescaling(scale.tolist(), offset.tolist())(rows.output)
    return keras.Model(rows.input, rescaled, name="encoder")
