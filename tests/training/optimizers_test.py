"""The optimizers of the paper's networks."""

import keras
import pytest

from csdl_keras.training import MLP, CaffeCNN


@pytest.mark.parametrize("kind", [keras.optimizers.SGD, keras.optimizers.Adam])
def test_the_optimizer_is_the_named_one(kind):
    name = kind.__name__.lower()
    for body in (MLP, CaffeCNN):
        choices = body(optimizer_name=name, learning_rate=0.25)
        optimizer = choices.optimizer(steps=10, on_costs=True)
        # A backend may have its own subclass.
        assert isinstance(optimizer, kind) and float(optimizer.learning_rate) == 0.25
    rates = []  # of the convolutional network fall to 0
    for step in range(11):
        optimizer.iterations.assign(step)
        rates.append(float(optimizer.learning_rate))
    assert all(low < high for high, low in zip(rates, rates[1:], strict=False))
    assert rates[-1] == pytest.approx(0, abs=1e-9)


def test_an_unknown_optimizer_is_refused():
    with pytest.raises(ValueError, match=r"`optimizer_name`.*rmsprop"):
        CaffeCNN(optimizer_name="rmsprop")
