"""Pre-training on inputs without labels beside those that have them."""

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from tests.pretraining.pretrain_test import (
    COSTS,
    LABELS,
    QUICK,
    C,
    X,
    make_net,
    weights_after,
)
from tests.support.weights import assert_same_weights

pytestmark = pytest.mark.usefixtures("run_module_eagerly")
MORE = np.random.default_rng(1).uniform(size=(37, X.shape[1])).astype("float32")


def sosr(outputs, costs):
    """The SOSR loss of one example, as the paper writes it, with z = 1 at the lowest cost."""
    total = 0.0
    for output, cost in zip(outputs, costs, strict=True):
        sign = 1.0 if cost == min(costs) else -1.0
        total += np.log(1.0 + np.exp(sign * (output - cost)))
    return total


class TestPretrain:
    def test_reconstruction_is_that_of_all_inputs(self):
        expected = weights_after(x=np.concatenate([X, MORE]))
        assert_same_weights(weights_after(unlabelled=MORE), expected)

    def test_costs_are_those_of_labelled_inputs_alone(self, monkeypatch):
        # One batch, and a head whose outputs are known: those of a zero kernel.
        net = make_net(hidden_units=(5,), seed=0)
        arguments = {**QUICK, "epochs": 1, "batch_size": len(X) + len(MORE)}
        sgd = keras.optimizers.SGD(1e-12)
        seen = {}
        build_cae = csdl.layers.CAE.build

        def build(cae, input_shape):
            build_cae(cae, input_shape)
            cae.regressor.kernel.assign(0.0 * cae.regressor.kernel)
            seen["bias"] = np.array(cae.regressor.get_weights()[1])

        monkeypatch.setattr(csdl.layers.CAE, "build", build)
        [history] = csdl.pretrain(
            net, X, COSTS, beta=0.5, unlabelled=MORE, optimizer=sgd, seed=0, **arguments
        )
        expected = np.mean([sosr(seen["bias"], costs) for costs in COSTS])
        np.testing.assert_allclose(history.history["cost_loss"], [expected], rtol=1e-5)

    def test_they_change_what_is_learnt(self):
        arguments = {"costs": LABELS, "cost_matrix": C}
        weights = [weights_after(**arguments, beta=0.5, unlabelled=m) for m in (None, MORE[:0])]
        assert_same_weights(*weights)
        other = weights_after(**arguments, beta=0.5, unlabelled=MORE)
        assert np.abs(other[0] - weights[0][0]).max() > 1e-4

    @pytest.mark.parametrize(
        "unlabelled,match",
        [
            (MORE[:, 1:], "Expected `unlabelled` of shape"),
            (MORE + 1.0, r"lie in \[0, 1\]"),
        ],
    )
    def test_what_it_refuses(self, unlabelled, match):
        with pytest.raises(ValueError, match=match):
            csdl.pretrain(make_net(), X, unlabelled=unlabelled, **QUICK)
