"""Where pre-training, blind to costs or aware of them, pays when labels are few.

    python benchmarks/pretraining_map.py --out benchmarks/results/pretraining_map

All training images without labels are there for pre-training, labels (and so
costs) of 100, 300 or 1,000 of them for everything else. Each way to pre-train ends
in the same training by the negative log-likelihood, the same temperature, and the
Bayes decision; so what differs is the pre-training alone. A seed draws the
labelled examples, the cost matrix `randomized_proportional(y, seed=1000 + seed)`
and the weights; ways to pre-train are compared in pairs of the same seed. Writes
`pretraining_map.csv` as it goes (run it again and it goes on where it stopped)
and `pretraining_map.md`, the map.
"""

import argparse
import dataclasses
import functools
import pathlib
import time

import joblib
import keras
import numpy as np
from keras import layers
from results_table import ResultsTable

import csdl_keras as csdl
from csdl_keras.layers import MaskingNoise
from csdl_keras.losses import PoissonCostLoss, ReconstructionLoss, SOSRLoss

FIELDS = ("dataset", "labels", "seed", "way", "average_cost", "error_rate", "seconds")
FIRST_COST_SEED = 1000
TEST_SIZE = 5_000
TRAINING_STEPS = 800
HIDDEN_UNITS = (500, 500)
FILTERS = (16, 32, 64)


@dataclasses.dataclass(frozen=True)
class Way:
    """A way to pre-train.

    Args:
        name: in tables.
        body: `"mlp"`, or `"conv"`, the network of the default rows.
        head: what the code has to tell beside the reconstruction: `"none"`,
            `"sosr"`, `"poisson"`, `"nll"` or `"weighted_nll"`.
        betas: weight of that, for each layer from the bottom up; a convolutional
            network is pre-trained in one piece and takes the first.
        summed: whether the reconstruction is summed over inputs, as published,
            which leaves little of the other part; otherwise it is their mean.
        reconstruct: whether there is any pre-training.
        joint: weight of the reconstruction that stays in training, 0 for none.
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


@functools.lru_cache(maxsize=2)
def load(name: str) -> csdl.datasets.DataSet:
    """The data set of that name, read once in each process."""
    return csdl.datasets.load(name.removesuffix("_imb"), name.endswith("_imb"))


class Problem:
    """Unlabelled images, a few labelled ones, a cost matrix and test data.

    Args:
        name: of the data set, `_imb` for its imbalanced variant.
        labels: number of labelled examples; a fifth of them validates.
        seed: draws them, and the matrix.
        unlabelled: number of unlabelled images, at most.
    """

    def __init__(self, name: str, labels: int, seed: int, unlabelled: int):
        data = load(name)
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(data.x_train))
        self.x_all = data.x_train[order[:unlabelled]]
        own = _stratified(data.y_train, labels, rng)
        held = _stratified(data.y_train[own], labels // 5, rng)
        rest = np.setdiff1d(np.arange(len(own)), held)
        self.x, self.y = data.x_train[own[rest]], data.y_train[own[rest]]
        self.x_val, self.y_val = data.x_train[own[held]], data.y_train[own[held]]
        self.x_test, self.y_test = data.x_test[:TEST_SIZE], data.y_test[:TEST_SIZE]
        self.num_classes = data.num_classes
        self.matrix = csdl.costs.randomized_proportional(
            data.y_train_val, data.num_classes, seed=FIRST_COST_SEED + seed
        )
        self.seed = seed
        self.rng = rng

    def head(self, kind: str):
        """The layer, the targets, weights and loss of what a code has to tell."""
        scaled = self.matrix / self.matrix.max()
        targets, weights = scaled[self.y].astype("float32"), np.ones(len(self.y))
        if kind == "sosr":
            return layers.Dense(self.num_classes), targets, weights, SOSRLoss()
        if kind == "poisson":
            start = keras.initializers.Constant(np.log(targets.mean()))
            head = layers.Dense(self.num_classes, bias_initializer=start)
            return head, targets, weights, PoissonCostLoss()
        if kind == "weighted_nll":
            weights = scaled[self.y].sum(axis=1)
            weights = weights / weights.mean()
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        return layers.Dense(self.num_classes), self.y, weights, loss


def _stratified(y: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Indices of about `size` examples, classes as in `y` and at least one of each."""
    chosen = []
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        chosen.append(members[: max(1, round(size * len(members) / len(y)))])
    return np.sort(np.concatenate(chosen))


def fit_together(problem, encode, decode, read, inputs_all, inputs_own, way, beta, epochs):
    """Trains `decode(encode(noisy))` on all inputs, and a head on what `read` reads off the
    code of the labelled ones."""
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
        # As many labelled ones in a batch as unlabelled ones, again and again.
        again = problem.rng.integers(len(inputs_own), size=len(inputs_all))
        x["own"], y["cost"] = inputs_own[again], targets[again]
        losses["cost"], weights["cost"], shares["cost"] = loss, own_weights[again], beta
        ends.append(end_own)
    model = keras.Model(ends, outputs)
    model.compile(keras.optimizers.Adam(1e-3), losses, loss_weights=shares)
    model.fit(x, y, sample_weight=weights, batch_size=100, epochs=epochs, verbose=0)


def pretrained_mlp(problem: Problem, way: Way):
    """Hidden layers, and what decodes the first of them, after pre-training."""
    hidden, codes, own, decoder = [], _flat(problem.x_all), _flat(problem.x), None
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
    """The network of the default rows after pre-training, in one piece, and its parts."""
    shape = problem.x_all.shape[1:]
    body = csdl.models.convnet(shape, problem.num_classes, output="features", seed=problem.seed)
    # Images are shifted in training only; what is left is a chain up to the last ReLU.
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
        # As training does, but for its dropout.
        return layers.Concatenate()(
            [layers.GlobalAveragePooling2D()(code), layers.GlobalMaxPooling2D()(code)]
        )

    if way.reconstruct:
        x_all, x = problem.x_all, problem.x
        fit_together(problem, encoder, decoder, read, x_all, x, way, way.betas[0], epochs=6)
    return body, [encoder, decoder]


def _flat(x: np.ndarray) -> np.ndarray:
    return x.reshape(len(x), -1)


def train(problem: Problem, way: Way, body, parts):
    """The classifier, trained on the labelled examples; the best epoch by validation loss."""
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
        pixels = _flat(problem.x_all).shape[1]
        shares["reconstruction"] = way.joint / pixels
        ends = [end, end_all]
        size = len(problem.x_all)
        again = problem.rng.integers(len(problem.x), size=size)
        x = {"own": problem.x[again], "all": problem.x_all}
        y = {"label": problem.y[again], "reconstruction": _flat(problem.x_all)}
        x_val = {"own": x_val, "all": x_val}
        y_val["reconstruction"] = _flat(problem.x_val)
    few = way.body == "mlp" and not way.joint
    batch = min(50, max(10, size // 10)) if few else 50
    # Several passes make an epoch of a small set, or validation would take longer than training.
    passes = -(-100 * batch // size)
    x, y = (keras.tree.map_structure(lambda a: np.concatenate([a] * passes), v) for v in (x, y))
    epochs = -(-TRAINING_STEPS // -(-size * passes // batch))
    model = keras.Model(ends, outputs)
    if way.body == "conv":
        # As the default rows train it, and keep the last epoch.
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
    """One row of the results."""
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


def mean_ratio(rows: list[dict], dataset: str, labels: str, way: str, base: str) -> str:
    """The geometric mean of paired cost ratios and its 95 % interval."""
    from scipy import stats

    costs = {
        (row["way"], row["seed"]): float(row["average_cost"])
        for row in rows
        if (row["dataset"], row["labels"]) == (dataset, labels)
    }
    seeds = [seed for name, seed in costs if name == way and (base, seed) in costs]
    logs = np.array([np.log(costs[way, seed] / costs[base, seed]) for seed in seeds])
    if len(logs) < 2:
        return "–"
    half = stats.t.ppf(0.975, len(logs) - 1) * logs.std(ddof=1) / np.sqrt(len(logs))
    words = f"{np.exp(logs.mean()):.2f} ({np.exp(logs.mean() - half):.2f}–"
    words += f"{np.exp(logs.mean() + half):.2f})"
    return f"**{words}**" if abs(logs.mean()) > half else words


def mean_cost(rows: list[dict], dataset: str, labels: str, way: str) -> str:
    """The mean cost over seeds, in words."""
    key = (way, dataset, labels)
    costs = [
        float(row["average_cost"])
        for row in rows
        if (row["way"], row["dataset"], row["labels"]) == key
    ]
    return f"{np.mean(costs):.2f} on average" if costs else "–"


def report(rows: list[dict]) -> str:
    """The map: cost of each way as a ratio to no pre-training, and to the cost-blind one."""
    columns = list(dict.fromkeys((row["dataset"], row["labels"]) for row in rows))
    names = [way for way in WAYS if any(row["way"] == way.name for row in rows)]
    lines = []
    for title, bases in (
        ("no pre-training", {"mlp": "none", "conv": "conv none"}),
        ("cost-blind pre-training", {"mlp": "DAE", "conv": "conv DAE"}),
    ):
        lines += [f"Cost in units of that with {title} of the same network:", ""]
        lines.append("| way | " + " | ".join(f"{d}, {n} labels" for d, n in columns) + " |")
        lines.append("| --- |" + " ---: |" * len(columns))
        for way in names:
            base = bases[way.body]
            if way.name == base:
                cells = [mean_cost(rows, *column, base) for column in columns]
            else:
                cells = [mean_ratio(rows, *column, way.name, base) for column in columns]
            lines.append(f"| {way.name} | " + " | ".join(cells) + " |")
        lines.append("")
    lines.append("Geometric means over seeds and 95 % intervals, bold where they exclude 1.")
    return "\n".join(lines) + "\n"


def main():
    """Runs the experiment."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", default="mnist,mnist_imb")
    parser.add_argument("--labels", default="100,300,1000", help="numbers of labelled examples")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--unlabelled", type=int, default=4000, help="unlabelled images, at most")
    parser.add_argument("--ways", default=None, help="names separated by semicolons")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the results")
    arguments = parser.parse_args()
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
