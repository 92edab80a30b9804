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


@given(figures=FIGURES, patience=st.integers(1, 5))
def test_it_ends_as_a_loop_does(figures, patience):
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False)])
    stop = StopWhenDone("val_average_cost", patience)
    stop.set_model(model)
    model.stop_training = False
    stop.on_train_begin()
    ended = None
    for epoch, (cost, loss) in enumerate(figures):
        model.set_weights([np.full((1, 1), float(epoch))])
        loss = np.nan if loss == 9 else float(loss)
        stop.on_epoch_end(epoch, {"val_average_cost": float(cost), "val_loss": loss})
        if model.stop_training:
            ended = epoch
            break
    stop.on_train_end()
    # 9 stands for a loss that is not finite, which improves nothing.
    finite = [(cost, np.inf if loss == 9 else loss) for cost, loss in figures]
    expected, best = stopped(finite, patience)
    assert ended == expected
    assert float(model.get_weights()[0].item()) == best
