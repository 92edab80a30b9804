"""What the tests share: comparisons on any backend, and the contract of each kind of object.

The methods called `run_...` take a factory (`lambda: SOSRLoss(alpha=2.0)`) and not an
object, since each check needs a fresh one, made under the policy of the check.
"""

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np
from keras import tree

from tests.support.eager import eager_models

MIXED_POLICIES = ("mixed_bfloat16", "mixed_float16")
ExampleFunction = Callable[[np.ndarray, np.ndarray], float]


def to_numpy(values: Any) -> np.ndarray:
    """Any backend's tensor, of any float type, as a NumPy array that NumPy can compare."""
    if keras.backend.standardize_dtype(getattr(values, "dtype", None)) == "bfloat16":
        values = keras.ops.cast(values, "float32")
    return np.asarray(keras.ops.convert_to_numpy(values))


def shapes(outputs: Any) -> Any:
    """The shapes of a tensor, or of a list or dict of them."""
    return tree.map_structure(lambda tensor: tuple(tensor.shape), outputs)


def dtypes(outputs: Any) -> Any:
    return tree.map_structure(lambda t: keras.backend.standardize_dtype(t.dtype), outputs)


@contextlib.contextmanager
def _setting(get: Callable[[], Any], put: Callable[[Any], None], value: str) -> Iterator[None]:
    before = get()
    put(value)
    try:
        yield
    finally:
        put(before)


def dtype_policy(name: str) -> Any:
    """Sets Keras' global dtype policy within a `with`."""
    return _setting(keras.config.dtype_policy, keras.config.set_dtype_policy, name)


def floatx(name: str) -> Any:
    """Sets Keras' default float type within a `with`."""
    return _setting(keras.config.floatx, keras.config.set_floatx, name)


def symbolic_inputs(arrays: Any) -> Any:
    """A `keras.Input` for each array, with the array's batch size."""
    return tree.map_structure(lambda x: keras.Input(batch_shape=x.shape, dtype=x.dtype), arrays)


def tiny_model(outputs: np.ndarray, activation: str | None) -> keras.Model:
    """A dense layer from arrays shaped like `outputs` to arrays of the same shape."""
    end = keras.Input(outputs.shape[1:])
    return keras.Sequential([end, keras.layers.Dense(outputs.shape[-1], activation=activation)])


def example_values(function: ExampleFunction, y_true: Any, y_pred: Any) -> np.ndarray:
    """`function` of each example, in float64."""
    pairs = zip(np.asarray(y_true), np.asarray(y_pred, dtype="float64"), strict=True)
    return np.array([function(target, output) for target, output in pairs])


class TestCase:
    """Base of test classes. Their names begin with `Test`, or pytest would skip them."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.__name__.startswith("Test"):
            raise TypeError(f"Expected a name that begins with Test; received {cls.__name__}.")

    def assertAllClose(self, a: Any, b: Any, atol: float = 1e-5, rtol: float = 1e-5):  # noqa: N802
        """Same shapes, and values within the tolerances; NaN equals NaN; also dicts of tensors."""
        if isinstance(b, dict):
            assert a.keys() == b.keys()
            for key in b:
                self.assertAllClose(a[key], b[key], atol, rtol)
            return
        a, b = to_numpy(a), to_numpy(b)
        assert a.shape == b.shape, f"shapes {a.shape} and {b.shape} differ"
        np.testing.assert_allclose(a, b, atol=atol, rtol=rtol)

    def assertFinite(self, values: Any) -> None:  # noqa: N802
        assert all(np.isfinite(to_numpy(tensor)).all() for tensor in tree.flatten(values))

    def run_config_round_trip(self, thing: Any) -> Any:
        """Checks that the config is JSON and rebuilds an equal object, which is returned."""
        text = json.dumps(thing.get_config(), sort_keys=True)
        twin = type(thing).from_config(json.loads(text))
        assert json.dumps(twin.get_config(), sort_keys=True) == text
        saved = json.loads(json.dumps(keras.saving.serialize_keras_object(thing)))
        loaded = keras.saving.deserialize_keras_object(saved)
        assert type(loaded) is type(thing)
        assert json.dumps(loaded.get_config(), sort_keys=True) == text
        return loaded

    def run_layer_test(
        self, make_layer: Callable[[], Any], inputs: Any, output_shape: Any, atol: float = 1e-5
    ) -> Any:
        """Checks the contract of a layer and returns its outputs.

        `inputs` and `output_shape` (with the batch) may also be lists or dicts.
        """
        layer = make_layer()
        outputs = layer(inputs)
        assert layer.built and shapes(outputs) == output_shape
        self.assertFinite(outputs)
        symbolic = make_layer()(symbolic_inputs(inputs))
        assert (shapes(symbolic), dtypes(symbolic)) == (output_shape, dtypes(outputs))

        twin = self.run_config_round_trip(layer)
        twin(inputs)
        twin.set_weights(layer.get_weights())
        self.assertAllClose(twin(inputs), outputs, atol=atol)
        ends = tree.map_structure(lambda x: keras.Input(x.shape[1:], dtype=x.dtype), inputs)
        model = keras.Model(ends, layer(ends))
        self.assertAllClose(model.predict(inputs, batch_size=2, verbose=0), outputs, atol=atol)

        for policy in MIXED_POLICIES:
            with dtype_policy(policy):
                mixed = make_layer()(inputs)
                assert shapes(mixed) == output_shape
                self.assertFinite(mixed)
        return outputs

    def run_loss_test(
        self,
        make_loss: Callable[..., Any],
        y_true: np.ndarray,
        y_pred: np.ndarray,
        example_loss: ExampleFunction,
        activation: str | None = None,
    ) -> None:
        """Checks a loss against the loop `example_loss`: reductions, weights, 16 bits, `fit`.

        `make_loss` takes `reduction=`; a model with this `activation` has outputs that suit.
        """
        values = example_values(example_loss, y_true, y_pred)
        weights = np.arange(len(values)) / 2.0
        means = {"sum_over_batch_size": np.mean, "sum": np.sum, None: np.asarray}
        for reduction, reduce in means.items():
            loss = self.run_config_round_trip(make_loss(reduction=reduction))
            self.assertAllClose(loss(y_true, y_pred), reduce(values))
            self.assertAllClose(loss(y_true, y_pred, weights), reduce(values * weights))
        self.check_16_bits(make_loss, y_true, y_pred, example_loss)
        for policy in ("float32", *MIXED_POLICIES):
            # One policy is compiled; the others are there for their types.
            eagerly = contextlib.nullcontext() if policy == "float32" else eager_models()
            with dtype_policy(policy), eagerly:
                model = tiny_model(y_pred, activation)
                # A loss scale may overflow in the first step, which is then skipped.
                model.compile("sgd", loss=make_loss(), auto_scale_loss=False)
                before = example_values(example_loss, y_true, to_numpy(model(y_pred))).mean()
                kernel = model.get_weights()[0]
                logs = model.fit(y_pred, y_true, batch_size=len(y_pred), verbose=0).history
                rtol = 1e-4 if policy == "float32" else 0.02
                self.assertAllClose(np.array(logs["loss"]), [before], rtol=rtol)
                self.assertFinite(model.get_weights())
                assert np.any(model.get_weights()[0] != kernel)

    def run_metric_test(
        self,
        make_metric: Callable[[], Any],
        y_true: np.ndarray,
        y_pred: np.ndarray,
        example_score: ExampleFunction,
        activation: str | None = None,
    ) -> None:
        """As `run_loss_test`, for a metric that is an average over examples, odd in number."""
        assert len(y_pred) % 2, "an odd number of examples makes the last batch of 2 uneven"
        values = example_values(example_score, y_true, y_pred)
        weights = np.arange(len(values)) / 2.0
        metric = self.run_config_round_trip(make_metric())
        for part in (slice(0, 3), slice(3, None)):
            metric.update_state(y_true[part], y_pred[part])
        self.assertAllClose(metric.result(), values.mean())
        metric.reset_state()
        metric.update_state(y_true, y_pred, sample_weight=weights)
        self.assertAllClose(metric.result(), np.average(values, weights=weights))
        self.check_16_bits(make_metric, y_true, y_pred, example_score)
        model = tiny_model(y_pred, activation)
        model.compile("sgd", loss=lambda _, outputs: outputs, metrics=[make_metric()])
        logs = model.evaluate(y_pred, y_true, batch_size=2, verbose=0, return_dict=True)
        expected = example_values(example_score, y_true, to_numpy(model(y_pred))).mean()
        self.assertAllClose(logs[metric.name], expected)

    def check_16_bits(self, make: Callable[[], Any], y_true: Any, y_pred: Any, one: Any) -> None:
        """Outputs of 16 bits give what the same, rounded numbers give in float64."""
        for dtype in ("float16", "bfloat16"):
            outputs = keras.ops.cast(y_pred, dtype)
            expected = example_values(one, y_true, to_numpy(outputs)).mean()
            self.assertAllClose(make()(y_true, outputs), expected)
