"""Builds and trains the networks of the trials on images."""

from collections.abc import Callable, Iterator

import keras
import numpy as np
from image_trials_cases import Options
from image_trials_sets import DevelopmentSet
from keras import ops

from csdl_keras.fitting.fit import executed_steps, seeded_fit
from csdl_keras.layers import RandomAffine, StandardizedConv2D

Predict = Callable[[np.ndarray], np.ndarray]

#: Convolutions of each block but the first, by network.
_CONVOLUTIONS = {"plain": 2, "residual": 2, "shared_trunk": 2, "deep": 3, "deep_residual": 3}


def network(options: Options, shape: tuple[int, ...], num_classes: int) -> keras.Model:
    """Returns a classifier `(batch, *shape)` to `(batch, heads, num_classes)`, not compiled."""
    inputs = x = keras.Input(shape)
    x = RandomAffine(
        max(0.07, 1 / shape[0]),
        options.rotation,
        options.zoom,
        horizontal_flip=options.flip,
        seed=options.seed,
    )(x)
    last = len(options.filters) - 1
    shared = options.network == "shared_trunk"
    for index in range(last if shared else last + 1):
        x = _block(x, options, index)
    heads = [
        _head(_block(x, options, last) if shared else x, num_classes)
        for _ in range(2 if shared else 1)
    ]
    return keras.Model(inputs, heads[0] if len(heads) == 1 else keras.layers.Concatenate(1)(heads))


def _block(x: keras.KerasTensor, options: Options, index: int) -> keras.KerasTensor:
    filters = options.filters[index]
    if index == 0:
        return _convolution(x, filters, options)
    if min(x.shape[1:3]) >= 4:
        x = keras.layers.MaxPooling2D(2)(x)
    x = first = _convolution(x, filters, options)
    for _ in range(_CONVOLUTIONS[options.network] - 1):
        x = _convolution(x, filters, options)
    if "residual" in options.network:
        x = keras.layers.Rescaling(0.5**0.5)(keras.layers.Add()([first, x]))
    return x


def _convolution(x: keras.KerasTensor, filters: int, options: Options) -> keras.KerasTensor:
    arguments = {"padding": "same", "kernel_initializer": "he_normal"}
    if options.normalization == "kernels":
        return StandardizedConv2D(filters, 3, activation="relu", **arguments)(x)
    x = keras.layers.Conv2D(filters, 3, use_bias=False, **arguments)(x)
    return keras.layers.ReLU()(keras.layers.BatchNormalization()(x))


def _head(x: keras.KerasTensor, num_classes: int) -> keras.KerasTensor:
    pooled = [keras.layers.GlobalAveragePooling2D()(x), keras.layers.GlobalMaxPooling2D()(x)]
    x = keras.layers.Dropout(0.4)(keras.layers.Concatenate()(pooled))
    x = keras.layers.Dense(num_classes, activation="softmax")(x)
    return keras.layers.Reshape((1, num_classes))(x)


@keras.saving.register_keras_serializable(package="image_trials")
class Cycles(keras.optimizers.schedules.LearningRateSchedule):
    """Repeats a schedule."""

    def __init__(self, schedule: keras.optimizers.schedules.LearningRateSchedule, steps: int):
        self.schedule, self.steps = schedule, steps

    def __call__(self, step: int) -> object:
        return self.schedule(ops.mod(step, self.steps))


class MixedEpochs(keras.utils.PyDataset):
    """Batches in which each image, and its label, is mixed with another one's.

    With a share `a` of `Beta(mixup, mixup)`, at least a half, an image is `a` times itself and
    `1 - a` times another image of the batch.
    """

    def __init__(self, x: np.ndarray, y: np.ndarray, options: Options):
        super().__init__()
        self.x, self.y, self.options = x, y, options
        self.generator = np.random.default_rng(options.seed)
        self.order = self.generator.permutation(len(x))

    def __len__(self) -> int:
        return -(-len(self.x) // self.options.batch_size)

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        size = self.options.batch_size
        rows = self.order[index * size : (index + 1) * size]
        others = self.generator.permutation(rows)
        share = self.generator.beta(self.options.mixup, self.options.mixup, len(rows))
        share = np.maximum(share, 1 - share).astype("float32").reshape(-1, 1, 1, 1)
        x = share * self.x[rows] + (1 - share) * self.x[others]
        share = share.reshape(-1, *[1] * (self.y.ndim - 1))
        return x, share * self.y[rows] + (1 - share) * self.y[others]

    def on_epoch_end(self) -> None:
        self.order = self.generator.permutation(len(self.x))


def train(options: Options, data: DevelopmentSet) -> Iterator[Predict]:
    """Trains one network; yields what predicts class probabilities after each snapshot."""
    keras.utils.set_random_seed(options.seed)
    num_classes = int(data.y_eval.max()) + 1
    model = network(options, data.x_train.shape[1:], num_classes)
    steps = options.epochs * -(-len(data.x_train) // options.batch_size)
    warmup = max(1, steps // 20)
    rate = keras.optimizers.schedules.CosineDecay(
        0.0, steps - warmup, warmup_target=options.learning_rate, warmup_steps=warmup
    )
    average = options.moving_average
    model.compile(
        keras.optimizers.AdamW(
            Cycles(rate, steps) if options.snapshots > 1 else rate,
            weight_decay=options.weight_decay,
            use_ema=bool(average),
            ema_momentum=average or 0.99,
        ),
        keras.losses.CategoricalCrossentropy(label_smoothing=options.label_smoothing),
        steps_per_execution=executed_steps(len(data.x_train), options.batch_size),
    )
    labels = np.eye(num_classes, dtype="float32")[data.y_train][:, None]
    labels = np.repeat(labels, model.output_shape[1], axis=1)
    for snapshot in range(options.snapshots):
        if options.mixup:
            batches = MixedEpochs(data.x_train, labels, options)
            model.fit(batches, epochs=options.epochs, verbose=0)
        else:
            seeded_fit(
                model,
                data.x_train,
                labels,
                options.seed + 100 * snapshot,
                epochs=options.epochs,
                batch_size=options.batch_size,
                verbose=0,
            )
        if average:
            model.optimizer.finalize_variable_values(model.trainable_variables)
        yield lambda x: model.predict(x, batch_size=250, verbose=0).mean(axis=1)
