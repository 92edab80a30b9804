"""Makes the decisions of a trained model."""

from typing import Any

import keras
import numpy as np

from csdl_keras._utils.checks import check_bool
from csdl_keras._utils.labels import decision_labels
from csdl_keras._utils.streams import as_stream
from csdl_keras._utils.structure import check_inputs
from csdl_keras._utils.tensors import examples_shape
from csdl_keras._utils.types import ArrayLike, Classifier, Verbose
from csdl_keras.costs.known import AffineCosts, CostsLike
from csdl_keras.prediction.bayes_classifier import probability_model
from csdl_keras.prediction.bayes_decisions import bayes_decisions
from csdl_keras.prediction.kind import check_values, output_kind


def decisions(outputs: ArrayLike, kind: str) -> np.ndarray:
    """Returns the decisions by outputs `(N, ..., D)`, of kind `"cost"` or `"probability"`."""
    rows = np.asarray(outputs)
    examples_shape("outputs", rows)
    nan = np.isnan(rows).any(axis=-1)
    if nan.any():
        raise ValueError(
            f"The outputs are NaN in {nan.sum()} of {nan.size} rows. Did training diverge, or does "
            "the input contain NaN?"
        )
    if kind == "cost":
        return np.argmin(rows, axis=-1)
    if rows.shape[-1] == 1:
        return (rows[..., 0] > 0.5).astype(np.int64)
    return np.argmax(rows, axis=-1)


def decide(
    model: Classifier,
    x: Any,
    output: str | None = None,
    batch_size: int | None = None,
    verbose: Verbose = 0,
    costs: CostsLike | None = None,
    labels: bool = False,
) -> np.ndarray:
    """Decides for each example by the outputs of a model.

    The decision is the argmin of costs or the argmax of probabilities, as
    `csdl_keras.output_kind` finds, with the lowest index among equals. With `costs` it is the Bayes
    decision `argmin_k sum_y P(y|x_n) C[n, y, k]` by the model's class probabilities. A model of
    expected costs contains these too; its own costs are then ignored.

    Args:
        model: a `keras.Model` that outputs costs `(batch, ..., D)`, probabilities
            `(batch, ..., K)`, or `(batch, ..., 1)`, the probability of class 1; or a fitted
            `csdl_keras.baselines.CSOSR`, for which inputs are flattened.
        x: inputs, as for `model.predict`, nested lists or data frames. A `tf.data.Dataset`, a
            `keras.utils.PyDataset`, a PyTorch `DataLoader` and a Parquet file (its path, or a
            `csdl_keras.datasets.Parquet`) are read in parts.
        output: `"cost"` or `"probability"` for a model whose structure does not show it; `None`
            (default) infers it.
        batch_size, verbose: as in `keras.Model.predict`. By default, `verbose` is 0, and
            `batch_size` is 1024 for data that are read in parts.
        costs: a cost matrix `(K, D)`, `C[true, decision]`; a matrix for each example, `(N, K, D)`;
            or `csdl_keras.costs.AffineCosts`. `None` (default) decides by the outputs. For a model
            of `bayes_classifier` with `cost_input=True`, pass costs here, or as `x=[x, costs]`.
        labels: whether to return labels of `model.classes` instead of numbers, and for other
            decisions the names of `model.decisions`, or `"decision_K"`. Defaults to False.

    Returns:
        An int64 array of decisions, shape `(N,)`, or for each pixel `(N, height, width)`; with
        `labels=True` an array of labels.

    Raises:
        ValueError: if an argument is invalid, the kind of the model's outputs is unknown or
            contradicts `output` or its loss, or an output is NaN.

    Example:

    >>> import csdl_keras
    >>> classifier = csdl_keras.models.mlp((4,), num_classes=2, hidden_units=(5,))
    >>> lost = csdl_keras.costs.AffineCosts([0.0, 500.0], [[0, 0], [1, 0]], [[0, 2], [0, 2]])
    >>> decide(classifier, np.zeros((2, 4)), costs=lost)
    array([0, 1])
    """
    if (stream := as_stream(x)) is not None:
        own: Any = costs
        if not isinstance(costs, AffineCosts) and np.ndim(own) < 3:
            own = None
        found, size = [], 0
        for block, _ in stream:
            start, size = size, size + len(keras.tree.flatten(block)[0])
            priced = costs if own is None else own[np.arange(start, size) % len(own)]
            found.append(decide(model, block, output, batch_size or 1024, verbose, priced, labels))
        if own is not None and len(own) != size:
            raise ValueError(f"`costs` has {len(own)} matrices for {size} examples. Pass {size}.")
        return np.concatenate(found)
    if check_bool("labels", labels):
        classes, names = (getattr(model, it, None) for it in ("classes", "decisions"))
        chosen = decide(model, x, output, batch_size, verbose, costs)
        if classes is None:
            return chosen if names is None else np.array(names)[chosen]
        size = len(names or ()) or max(len(classes), int(chosen.max()) + 1)
        return decision_labels(classes, size, names and names[len(classes) :])[chosen]
    if costs is not None:
        part = probability_model(model, output)
        if part is None:
            raise ValueError(
                f"`costs` cannot be combined with a {type(model).__name__} that estimates costs "
                "itself. Pass a classifier, or a model of expected costs from bayes_classifier."
            )
        outputs = part.predict(check_inputs(part, x), batch_size=batch_size, verbose=verbose)
        return bayes_decisions(outputs, costs, classes=model)
    x = check_inputs(model, x)
    if not isinstance(model, keras.Model):
        return decisions(model.predict_costs(np.reshape(x, (len(x), -1))), "cost")
    kind = output_kind(model, output)
    outputs = model.predict(x, batch_size=batch_size, verbose=verbose)
    decided = decisions(outputs, kind)
    if output is not None:
        check_values(outputs, kind)
    return decided
