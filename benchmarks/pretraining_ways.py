"""Ways to pre-train that `pretraining_map.py` compares."""

import dataclasses

import keras
import numpy as np
from keras import layers
from pretraining_problem import Problem

import csdl_keras as csdl
from csdl_keras.layers import MaskingNoise
from csdl_keras.losses import ReconstructionLoss

HIDDEN_UNITS = (500, 500)
FILTERS = (16, 32, 64)


@dataclasses.dataclass(frozen=True)
class Way:
    """A way to pre-train.

    Args:
        name: name in tables.
        body: `"mlp"`, or `"conv"` for the network of the default algorithms.
        head: loss besides the reconstruction: `"none"`, `"sosr"`, `"poisson"`, `"nll"`
            or `"weighted_nll"`.
        betas: weight of that loss for each layer from the bottom up; a convolutional
            network is pre-trained as a whole and uses the first weight.
        summed: whether the reconstruction is summed over inputs, as published, which
            outweighs the other loss; otherwise it is their mean.
        reconstruct: whether there is any pre-training.
        joint: weight of the reconstruction in training, 0 for none.
    """

    name: str
    body: str
    head: str = "none"
    betas: tuple[float, ...] = (0.0, 0.0)
    summed: bool = False
    reconstruct: bool = True
    joint: float = 0.0


WAYS = (
    Way("none", "mlp", reconstruct=False),
    Way("DAE", "mlp"),
    Way("CAE, SOSR, as published", "mlp", "sosr", (0.25, 0.25), summed=True),
    Way("CAE, Poisson, strong", "mlp", "poisson", (0.25, 0.25)),
    Way("CAE, Poisson", "mlp", "poisson", (0.02, 0.02)),
    Way("CAE, Poisson, beta by layer", "mlp", "poisson", (0.005, 0.1)),
    Way("CAE, labels", "mlp", "nll", (0.02, 0.02)),
    Way("CAE, labels weighted by cost", "mlp", "weighted_nll", (0.02, 0.02)),
    Way("DAE, kept in training", "mlp", joint=0.1),
    Way("conv none", "conv", reconstruct=False),
    Way("conv DAE", "conv"),
    Way("conv CAE, Poisson, strong", "conv", "poisson", (0.25,)),
    Way("conv CAE, Poisson", "conv", "poisson", (0.02,)),
    Way("conv CAE, labels", "conv", "nll", (0.02,)),
    Way("conv CAE, labels weighted by cost", "conv", "weighted_nll", (0.02,)),
    Way("conv DAE, kept in training", "conv", joint=0.1),
)


def fit_together(problem, encode, decode, read, inputs_all, inputs_own, way, beta, epochs):
    """Trains `decode(encode(noisy))` on all inputs, and a head on `read(encode(labelled))`."""
    end_all = keras.Input(inputs_all.shape[1:], name="all")
    noisy = MaskingNoise(0.25, seed=problem.seed)(layers.Flatten()(end_all))
    noisy = layers.Reshape(inputs_all.shape[1:])(noisy)
    outputs = {"reconstruction": layers.Flatten(name="reconstruction")(decode(encode(noisy)))}
    losses = {"reconstruction": ReconstructionLoss(from_logits=True)}
    size = 1 if way.summed else inputs_all[0].size
    x = {"all": inputs_all}
    y = {"reconstruction": inputs_all.reshape(len(inputs_all), -1)}
    weights = {"reconstruction": np.ones(len(inputs_all))}
    shares = {"reconstruction": (1.0 - beta) / size}
    ends = [end_all]
    if beta > 0:
        end_own = keras.Input(inputs_own.shape[1:], name="own")
        head, targets, own_weights, loss = problem.head(way.head)
        outputs["cost"] = layers.Activation("linear", name="cost")(head(read(encode(end_own))))
        # Labelled inputs are repeated, so that a batch has as many of them as of all inputs.
        again = problem.rng.integers(len(inputs_own), size=len(inputs_all))
        x["own"], y["cost"] = inputs_own[again], targets[again]
        losses["cost"], weights["cost"], shares["cost"] = loss, own_weights[again], beta
        ends.append(end_own)
    model = keras.Model(ends, outputs)
    model.compile(keras.optimizers.Adam(1e-3), losses, loss_weights=shares)
    model.fit(x, y, sample_weight=weights, batch_size=100, epochs=epochs, verbose=0)


def pretrained_mlp(problem: Problem, way: Way):
    """Returns pre-trained hidden layers, and the first of them with its decoder."""
    hidden, codes, own, decoder = [], flat(problem.x_all), flat(problem.x), None
    for index, units in enumerate(HIDDEN_UNITS):
        layer = layers.Dense(units, "sigmoid")
        layer.build((None, codes.shape[1]))
        back = layers.Dense(codes.shape[1])
        if way.reconstruct:
            beta = way.betas[index]
            fit_together(problem, layer, back, lambda x: x, codes, own, way, beta, epochs=15)
            end = keras.Input(codes.shape[1:])
            encode = keras.Model(end, layer(end))
            codes, own = (encode.predict(x, batch_size=500, verbose=0) for x in (codes, own))
        else:
            codes, own = np.zeros((2, units)), np.zeros((2, units))
        decoder = back if decoder is None else decoder
        hidden.append(layer)
    return keras.Sequential([layers.Flatten(), *hidden]), [hidden[0], decoder]


def pretrained_conv(problem: Problem, way: Way):
    """Returns the network of the default algorithms, pre-trained as a whole, and its parts."""
    shape = problem.x_all.shape[1:]
    body = csdl.models.convnet(shape, problem.num_classes, output="features", seed=problem.seed)
    # The first layers shift images in training; the encoder is the chain up to the last ReLU.
    end = max(i for i, x in enumerate(body.layers) if isinstance(x, layers.Activation))
    encoder = keras.Sequential([keras.Input(shape), *body.layers[2 : end + 1]])
    decoder = []
    for filters in FILTERS[-2::-1]:
        decoder += [
            layers.UpSampling2D(2),
            layers.Conv2D(filters, 3, padding="same", activation="relu"),
        ]
    decoder = keras.Sequential([*decoder, layers.Conv2D(shape[-1], 3, padding="same")])

    def read(code):
        # As training does, without its dropout.
        return layers.Concatenate()(
            [layers.GlobalAveragePooling2D()(code), layers.GlobalMaxPooling2D()(code)]
        )

    if way.reconstruct:
        x_all, x = problem.x_all, problem.x
        fit_together(problem, encoder, decoder, read, x_all, x, way, way.betas[0], epochs=6)
    return body, [encoder, decoder]


def flat(x: np.ndarray) -> np.ndarray:
    """Returns inputs as rows."""
    return x.reshape(len(x), -1)
