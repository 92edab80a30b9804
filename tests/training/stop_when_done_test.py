"""Training ends when neither decisions nor the loss improve, and keeps the best decisions."""

import keras
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from csdl_keras.training.callbacks import StopWhenDone

FIGURES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30)


def stopped(figures, patience):
    """The epoch that ends a training with these costs and losses, and the one whose weights stay.

    `None` in place of the last epoch if training does not end before.
    """
    lowest_cost = lowest_loss = np.inf
    without, best = 0, 0
    for epoch, (cost, loss) in enumerate(figures):
        improved = cost < lowest_cost or loss < lowest_loss
        if cost < lowest_cost:
            best = epoch
        lowest_cost, lowest_loss = min(cost, lowest_cost), min(loss, lowest_loss)
        without = 0 if improved else without + 1
        if without >= patience:
            return epoch, best
    return None, best


def make_model():
    return keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False)])


@given(figures=FIGURES, patience=st.integers(1, 5))
def test_it_ends_as_a_loop_does(figures, patience):
    model = make_model()
    stop = StopWhenDone("val_average_cost", patience)
    stop.set_model(model)
    model.stop_training = False
    stop.on_train_begin()
    ended = None
    for epoch, (cost, loss) in enumerate(figures):
        model.set_weights([np.full((1, 1), float(epoch))])
        stop.on_epoch_end(epoch, {"val_average_cost": float(cost), "val_loss": float(loss)})
        if model.stop_training:
            ended = epoch
            break
    stop.on_train_end()
    expected, best = stopped(figures, patience)
    assert ended == expected
    assert float(model.get_weights()[0].item()) == best


def test_a_falling_loss_alone_goes_on_and_nan_does_not():
    for loss, epochs in ((lambda epoch: 9.0 - epoch, 6), (lambda epoch: np.nan, 3)):
        model = make_model()
        stop = StopWhenDone("val_average_cost", patience=2)
        stop.set_model(model)
        model.stop_training = False
        stop.on_train_begin()
        ran = 0
        while ran < 6 and not model.stop_training:
            stop.on_epoch_end(ran, {"val_average_cost": 1.0 + ran, "val_loss": loss(ran)})
            ran += 1
        assert ran == epochs
