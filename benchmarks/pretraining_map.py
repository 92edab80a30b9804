"""Maps where cost-blind and cost-aware pre-training pay when labels are few.

    python benchmarks/pretraining_map.py --out benchmarks/results/pretraining_map

Pre-training sees all training images without labels; everything else sees 100, 300 or
1,000 of them with labels and so with costs. Every way to pre-train is followed by the
same training by the negative log-likelihood, the same calibration by a temperature, and
the Bayes decision, so that only the pre-training differs. A seed draws the labelled
examples, the cost matrix `randomized_proportional(y, seed=1000 + seed)` and the weights;
ways to pre-train are compared in pairs of the same seed. Writes `pretraining_map.csv`
row by row, from which a later call continues, and `pretraining_map.md`, the map.
"""

import time
from collections.abc import Sequence

import joblib
import keras
import numpy as np
from keras import layers
from pretraining_problem import Problem
from pretraining_table import report
from pretraining_ways import WAYS, Way, flat, pretrained_conv, pretrained_mlp
from results_table import ResultsTable, parser

import csdl_keras as csdl
from csdl_keras.layers import MaskingNoise
from csdl_keras.losses import ReconstructionLoss

FIELDS = ("dataset", "labels", "seed", "way", "average_cost", "error_rate", "seconds")
TRAINING_STEPS = 800


def train(
    problem: Problem, way: Way, body: keras.Model, parts: Sequence[keras.layers.Layer]
) -> keras.Model:
    """Trains the classifier on the labelled examples and keeps the best epoch.

    The best epoch is that of the lowest validation loss; the convolutional network keeps
    the last one.
    """
    shape = problem.x.shape[1:]
    end = keras.Input(shape, name="own")
    outputs = {"label": layers.Dense(problem.num_classes, "softmax", name="label")(body(end))}
    losses = {"label": keras.losses.SparseCategoricalCrossentropy()}
    x, y, ends, shares = problem.x, {"label": problem.y}, end, {"label": 1.0}
    x_val, y_val = problem.x_val, {"label": problem.y_val}
    size = len(problem.x)
    if way.joint:
        end_all = keras.Input(shape, name="all")
        noisy = MaskingNoise(0.25, seed=problem.seed)(layers.Flatten()(end_all))
        noisy = noisy if way.body == "mlp" else layers.Reshape(shape)(noisy)
        outputs["reconstruction"] = layers.Flatten(name="reconstruction")(parts[1](parts[0](noisy)))
        losses["reconstruction"] = ReconstructionLoss(from_logits=True)
        pixels = flat(problem.x_all).shape[1]
        shares["reconstruction"] = way.joint / pixels
        ends = [end, end_all]
        size = len(problem.x_all)
        again = problem.rng.integers(len(problem.x), size=size)
        x = {"own": problem.x[again], "all": problem.x_all}
        y = {"label": problem.y[again], "reconstruction": flat(problem.x_all)}
        x_val = {"own": x_val, "all": x_val}
        y_val["reconstruction"] = flat(problem.x_val)
    few = way.body == "mlp" and not way.joint
    batch = min(50, max(10, size // 10)) if few else 50
    # Several passes over a small set make an epoch, or validation would take longer than training.
    passes = -(-100 * batch // size)
    x, y = (keras.tree.map_structure(lambda a: np.concatenate([a] * passes), v) for v in (x, y))
    epochs = -(-TRAINING_STEPS // -(-size * passes // batch))
    model = keras.Model(ends, outputs)
    if way.body == "conv":
        # As the default algorithms train it; they keep the last epoch.
        rate = keras.optimizers.schedules.CosineDecay(
            0.0, TRAINING_STEPS, warmup_target=3e-3, warmup_steps=TRAINING_STEPS // 20
        )
        optimizer, callbacks = keras.optimizers.AdamW(rate, weight_decay=0.01), []
    else:
        monitor = "val_label_loss" if way.joint else "val_loss"
        best = keras.callbacks.EarlyStopping(
            monitor, patience=epochs, restore_best_weights=True, mode="min"
        )
        optimizer, callbacks = keras.optimizers.Adam(1e-3), [best]
    model.compile(optimizer, losses, loss_weights=shares)
    model.fit(
        x,
        y,
        validation_data=(x_val, y_val) if callbacks else None,
        batch_size=batch,
        epochs=epochs,
        callbacks=callbacks,
        verbose=0,
    )
    return keras.Model(end, outputs["label"])


def run_one(name: str, labels: int, seed: int, way: Way, unlabelled: int) -> dict:
    """Measures one row of the results."""
    keras.utils.set_random_seed(seed)
    start = time.perf_counter()
    problem = Problem(name, labels, seed, unlabelled)
    make = pretrained_mlp if way.body == "mlp" else pretrained_conv
    body, parts = make(problem, way)
    classifier = train(problem, way, body, parts)
    calibrated = csdl.calibrate(classifier, problem.x_val, problem.y_val)
    decided = csdl.decide(csdl.bayes_classifier(calibrated, problem.matrix), problem.x_test)
    cost = float(problem.matrix[problem.y_test, decided].mean())
    error = float(np.mean(decided != problem.y_test))
    keras.utils.clear_session()
    seconds = round(time.perf_counter() - start, 1)
    return dict(zip(FIELDS, (name, labels, seed, way.name, cost, error, seconds), strict=True))


def main() -> None:
    """Runs the program."""
    options = parser(__doc__)
    options.add_argument("--datasets", default="mnist,mnist_imb")
    options.add_argument("--labels", default="100,300,1000", help="numbers of labelled examples")
    options.add_argument("--seeds", type=int, default=5)
    options.add_argument("--unlabelled", type=int, default=4000, help="unlabelled images, at most")
    options.add_argument("--ways", default=None, help="names separated by semicolons")
    options.add_argument("--jobs", type=int, default=2, help="processes")
    arguments = options.parse_args()
    results = ResultsTable(arguments.out, "pretraining_map", FIELDS)
    done = results.done(4)
    chosen = None if arguments.ways is None else [w.strip() for w in arguments.ways.split(";")]
    tasks = [
        (name, int(labels), seed, way, arguments.unlabelled)
        for seed in range(arguments.seeds)
        for name in arguments.datasets.split(",")
        for labels in arguments.labels.split(",")
        for way in WAYS
        if (chosen is None or way.name in chosen)
        and (name, labels, str(seed), way.name) not in done
    ]
    parallel = joblib.Parallel(arguments.jobs, return_as="generator_unordered")
    with joblib.parallel_config("loky", inner_max_num_threads=1):
        for number, row in enumerate(parallel(joblib.delayed(run_one)(*t) for t in tasks), 1):
            results.append([row])
            print(f"{number} of {len(tasks)}: {row}", flush=True)
    results.report(report(results.rows()))


if __name__ == "__main__":
    main()
