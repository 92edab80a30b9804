"""Loads classifiers from .keras, .joblib and .onnx files behind one interface."""

import dataclasses
import json
import pathlib
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from csdl_keras_cli.choices import LARGEST_NUMBER
from csdl_keras_cli.columns import Columns
from csdl_keras_cli.known_costs import Expressions, cost_matrices, names_of
from csdl_keras_cli.optional import check_installed

#: The names of a model's only input and of the input of costs.
INPUTS, COST_MATRIX = "inputs", "cost_matrix"
_OUTPUTS = ("decision", "costs")
_FACTS = ("classes", "decisions", "columns", "known_costs", "unit")
_DTYPES = {"float": "float32", "double": "float64", "string": "str", "bfloat16": "float32"}


class Input(NamedTuple):
    """An input array of a model; sizes that may vary, such as that of the batch, are `None`."""

    shape: tuple[int | None, ...]
    dtype: np.dtype


class OutputError(ValueError):
    """Raised if an output is not a finite number."""


@dataclasses.dataclass(frozen=True)
class SavedModel:
    """A classifier loaded from a file, with its inputs and decisions."""

    #: Returns decisions `(N,)` and costs `(N, D)` for a dict of `inputs`.
    run: Callable[[dict[str, Any]], Sequence[np.ndarray]]
    inputs: Mapping[str, Input]
    #: The names of the decisions, those of classes first, or their numbers.
    labels: list[Any]
    columns: Columns | None = None
    known_costs: Expressions | None = None
    #: The factor that turns the model's costs into the user's unit, unless costs are an input.
    unit: float = 1.0

    @property
    def input_shape(self) -> tuple[int | None, ...]:
        return next(iter(self.inputs.values())).shape

    @property
    def amounts(self) -> list[str]:
        """The columns from which known costs are computed."""
        inputs = () if self.columns is None else self.columns.names
        return names_of(self.known_costs or [], inputs)

    def costs_of(self, columns: Any) -> np.ndarray | None:
        """Returns the costs `(N, K, D)` of rows, or `None` if the model has fixed costs."""
        return None if self.known_costs is None else cost_matrices(self.known_costs, columns)

    def decide(self, x: Any, costs: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Returns decisions `(N,)`, as positions in `labels`, and expected costs `(N, D)`."""
        if self.columns is not None:
            x = self.columns.encode(x)
            if (large := np.abs(x) > LARGEST_NUMBER).any():
                name = self.columns.encoded_names[np.argmax(large.any(axis=0))]
                most = f"larger than {LARGEST_NUMBER:g}"
                raise ValueError(f"Column {name!r} has numbers of a size {most}.")
        feed = x if isinstance(x, dict) else {INPUTS: x}
        feed = feed if costs is None else {**feed, COST_MATRIX: costs}
        try:
            decisions, expected = self.run(feed)
        except Exception as error:
            # Shapes and numbers are valid, but the model may reject a string.
            raise ValueError("The model cannot compute with these inputs.") from error
        if not np.isfinite(expected).all():
            raise OutputError("The model's output is not a finite number.")
        return decisions, expected * (1 if COST_MATRIX in feed else self.unit)


def load(path: pathlib.Path) -> SavedModel:
    """Loads a classifier from a `.keras`, `.joblib` or `.onnx` file."""
    loaders = {".keras": _keras, ".joblib": _joblib, ".onnx": _onnx}
    if path.suffix not in loaders or not path.is_file():
        what = "is not a model" if path.is_file() else "does not exist"
        raise ValueError(f"{path} {what}. Pass a file that ends in {' or '.join(loaders)}.")
    return loaders[path.suffix](path)


def _onnx(path: pathlib.Path) -> SavedModel:
    check_installed("onnxruntime", "serving")
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # Concurrent requests share the cores.
    providers = ["CPUExecutionProvider"]
    return of_session(onnxruntime.InferenceSession(path, options, providers=providers))


def of_session(session: Any) -> SavedModel:
    """Returns the model of an `onnxruntime.InferenceSession`."""
    inputs = {}
    for end in session.get_inputs():
        shape = tuple(size if isinstance(size, int) else None for size in end.shape)
        kind = end.type.removeprefix("tensor(").removesuffix(")")
        inputs[end.name] = Input(shape, _dtype(kind))
    told = session.get_modelmeta().custom_metadata_map
    facts = {name: json.loads(told[name]) for name in _FACTS if name in told}
    if "columns" in facts:
        facts["columns"] = Columns(**facts["columns"])

    def run(feed: dict[str, Any]) -> Sequence[np.ndarray]:
        return session.run(list(_OUTPUTS), _arrays(feed, inputs))

    (costs,) = (end for end in session.get_outputs() if end.name == _OUTPUTS[1])
    return _named(run, inputs, costs.shape[-1], facts)


def _keras(path: pathlib.Path) -> SavedModel:
    import keras

    import csdl_keras  # It registers the layers of the model.
    from csdl_keras._utils.data_model import data_of
    from csdl_keras._utils.structure import inputs_of

    model = csdl_keras.models.serving_model(keras.saving.load_model(path, compile=False))
    ends = inputs_of(model)
    inputs = {end.name: Input(end.shape, _dtype(end.dtype)) for end in keras.tree.flatten(ends)}
    lock = threading.Lock()  # On JAX, calls of a compiled model change its state.

    def run(feed: dict[str, Any]) -> Sequence[np.ndarray]:
        arrays = _arrays(feed, inputs)
        with lock:
            found = model.predict_on_batch(
                keras.tree.map_structure(lambda end: arrays[end.name], ends)
            )
        return [found[name] for name in _OUTPUTS]

    return _named(run, inputs, model.output["costs"].shape[-1], data_of(model))


def _joblib(path: pathlib.Path) -> SavedModel:
    import joblib

    model = joblib.load(path)
    if not hasattr(model, "predict_cost"):
        raise ValueError(f"{path} contains {model!r}, not a classifier of csdl-keras compare.")
    inputs = {INPUTS: Input((None, *(model.input_shape or ())), np.dtype("float32"))}
    if model.known_costs is not None:
        shape = (None, len(model.known_costs), len(model.decisions))
        inputs[COST_MATRIX] = Input(shape, np.dtype("float64"))

    def run(feed: dict[str, Any]) -> Sequence[np.ndarray]:
        given = (feed[INPUTS], feed.get(COST_MATRIX))
        costs = model.predict_cost(*given)
        # Other rules decide from the inputs, not from the costs.
        return (costs.argmin(axis=1) if model.rule == "Bayes" else model.decide(*given)), costs

    return SavedModel(run, inputs, model.labels, model.columns, model.known_costs)


def _named(run: Any, inputs: Any, num_decisions: int, facts: Mapping[str, Any]) -> SavedModel:
    """Returns a model with the names, columns and costs that its file has."""
    known = facts.get("decisions") or facts.get("classes") or []
    others = [f"decision_{place}" for place in range(len(known), num_decisions)]
    labels = [*known, *others] if known else list(range(num_decisions))
    more = {name: facts[name] for name in ("columns", "known_costs", "unit") if name in facts}
    return SavedModel(run, inputs, labels, **more)


def _arrays(feed: Mapping[str, Any], inputs: Mapping[str, Input]) -> dict[str, np.ndarray]:
    """Returns arrays of a model's dtypes; numbers that are too large show in its outputs."""
    with np.errstate(over="ignore"):
        return {name: np.asarray(feed[name], dtype) for name, (_, dtype) in inputs.items()}


def _dtype(name: str) -> np.dtype:
    return np.dtype(_DTYPES.get(name, name))
