"""The optimizers of the paper's networks."""

import keras
import pytest

from csdl_keras.training import MLP, CaffeCNN


@pytest.mark.parametrize("kind", [keras.optimizers.SGD, keras.optimizers.Adam])
@pytest.mark.parametrize("body", [MLP, CaffeCNN])
def test_the_optimizer_is_the_named_one(body, kind):
    choices = body(optimizer_name=kind.__name__.lower(), learning_rate=0.25)
    optimizer = choices.optimizer(steps=10, on_costs=True)
    # A backend may have its own subclass.
    assert isinstance(optimizer, kind) and float(optimizer.learning_rate) == 0.25


@pytest.mark.parametrize("name", ["sgd", "adam"])
def test_the_rate_of_the_convolutional_network_falls_to_zero(name):
    optimizer = CaffeCNN(optimizer_name=name).optimizer(steps=10, on_costs=False)
    rates = []
    for step in range(11):
        optimizer.iterations.assign(step)
        rates.append(float(optimizer.learning_rate))
    assert all(low < high for high, low in zip(rates, rates[1:], strict=False))
    assert rates[-1] == pytest.approx(0, abs=1e-9)


def test_an_unknown_optimizer_is_refused():
    with pytest.raises(ValueError, match=r"`optimizer_name`.*rmsprop"):
        CaffeCNN(optimizer_name="rmsprop")
