"""Trains the CAE of one hidden layer on the clean codes of the layers below it."""

from typing import Any

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.types import Tensor
from csdl_keras.fitting.fit import seeded_fit
from csdl_keras.layers import CAE
from csdl_keras.losses.reconstruction_loss import ReconstructionLoss, SquaredErrorLoss
from csdl_keras.losses.sosr_loss import SOSRLoss


class LayerFit(keras.Model):
    """A CAE whose input and reconstruction target is the code that `below` computes."""

    output_kind = "cost"

    def __init__(
        self,
        cae: CAE,
        below: keras.Model | None,
        beta: float,
        reconstruction: str,
        cost_matrix: np.ndarray | None = None,
        cost_scale: float = 1.0,
    ):
        # Targets keep float32 under every policy; the layers inside compute under their own.
        super().__init__(name=f"pretrain_{cae.encoder.name}", dtype="float32")
        self.cae = cae
        self.below = below
        weights = {"reconstruction": 1.0 - beta, "cost": beta}
        squared = reconstruction == "squared_error"
        losses = {
            "reconstruction": SquaredErrorLoss() if squared else ReconstructionLoss(True),
            # `PretrainingData` has already checked an epoch of costs.
            "cost": SOSRLoss(cost_matrix, cost_scale=cost_scale, binary_costs=True),
        }
        # A loss of weight 0 is left out, so that costs cannot change a fit with `beta = 0`.
        self.loss_weights = {name: weight for name, weight in weights.items() if weight > 0}
        self.losses_by_output = {name: losses[name] for name in self.loss_weights}

    def call(self, inputs: Tensor, training: bool = False) -> dict[str, Tensor]:
        code = inputs if self.below is None else self.below(inputs, training=False)
        code = ops.stop_gradient(ops.cast(code, self.cae.variable_dtype))
        return {**self.cae(code, training=training), "code": code}

    def compute_loss(
        self,
        x: Tensor = None,
        y: Tensor = None,
        y_pred: Tensor = None,
        sample_weight: Tensor = None,
        training: bool = True,
    ) -> Tensor:
        targets = {"reconstruction": y_pred["code"], "cost": y}
        weights = None
        if sample_weight is not None:  # It applies only to costs.
            counts = {"reconstruction": ops.ones_like(sample_weight), "cost": sample_weight}
            weights = {name: counts[name] for name in self.loss_weights}
        return super().compute_loss(
            x,
            {name: targets[name] for name in self.loss_weights},
            {name: y_pred[name] for name in self.loss_weights},
            weights,
            training,
        )

    def pretrain(
        self, optimizer: keras.optimizers.Optimizer, steps_per_execution: int, **fit_arguments: Any
    ) -> keras.callbacks.History:
        """Compiles and fits, with the variables frozen that this fit must not change."""
        self.cae.build((None, self.cae.encoder.kernel.shape[0]))
        self.built = True  # There is nothing else to build.
        frozen = [] if self.below is None else list(self.below.trainable_variables)
        if "cost" not in self.loss_weights:
            frozen += self.cae.regressor.trainable_variables
        if "reconstruction" not in self.loss_weights:
            frozen += self.cae.decoder_variables
        changed = [variable for variable in frozen if variable.trainable]
        try:
            for variable in changed:
                variable.trainable = False
            self.compile(
                optimizer,
                loss=self.losses_by_output,
                loss_weights=self.loss_weights,
                steps_per_execution=steps_per_execution,
            )
            return seeded_fit(self, **fit_arguments)
        finally:
            for variable in changed:
                variable.trainable = True
