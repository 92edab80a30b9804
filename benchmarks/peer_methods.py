"""Methods of other packages to decide by costs, as functions from data to decisions."""

import functools
import importlib.util
import time
from collections.abc import Callable, Iterator
from typing import ClassVar

import joblib
import keras
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from csdl_keras.datasets import DataSet
from csdl_keras.prediction.calibrate import fit_scaling

#: Decides on the test inputs for one cost matrix.
Decide = Callable[[np.ndarray], np.ndarray]


class Once(ClassifierMixin, BaseEstimator):
    """Classifier that is fitted only once on the same examples.

    Several calibrations of a classifier fit it on the same folds. `reused` counts the
    seconds of the fits that were not repeated.

    Args:
        classifier: the classifier; its results must be determined by its arguments.
    """

    reused: ClassVar[float] = 0.0
    _fitted: ClassVar[dict[str, tuple[object, float]]] = {}

    def __init__(self, classifier):
        self.classifier = classifier

    def fit(self, x, y):
        """Fits the classifier, or reuses an equal one."""
        key = joblib.hash((type(self.classifier), self.classifier.get_params(), x, y))
        if key in self._fitted:
            self.model_, seconds = self._fitted[key]
            Once.reused += seconds
        else:
            start = time.perf_counter()
            self.model_ = clone(self.classifier).fit(x, y)
            self._fitted[key] = self.model_, time.perf_counter() - start
        return self

    def __getattr__(self, name: str):
        if name in ("classes_", "predict", "predict_proba", "decision_function"):
            return getattr(self.__dict__.get("model_", self.__dict__["classifier"]), name)
        raise AttributeError(name)

    @classmethod
    def forget(cls) -> None:
        """Drops all fitted classifiers."""
        cls._fitted.clear()


def flat(x: np.ndarray) -> np.ndarray:
    """Returns inputs as rows of float64."""
    return np.asarray(x, dtype="float64").reshape(len(x), -1)


def classifiers(seed: int) -> dict[str, object]:
    """Returns classifiers of scikit-learn by name, with usual arguments."""
    return {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
        "svc": SVC(C=10.0),
        "boosting": HistGradientBoostingClassifier(random_state=seed),
        "forest": RandomForestClassifier(500, n_jobs=-1, random_state=seed),
        "mlp": MLPClassifier((256,), early_stopping=True, max_iter=500, random_state=seed),
    }


def scikit_learn(data: DataSet, seed: int) -> Iterator[tuple[str, Callable[[], Decide]]]:
    """Yields the argmax and Bayes decisions of each classifier, calibrated in several ways."""
    x = flat(np.concatenate([data.x_train, data.x_val]))
    y = data.y_train_val
    test = flat(data.x_test)

    def argmax(classifier) -> Decide:
        decided = classifier.fit(x, y).predict(test)
        return lambda matrix: decided

    def bayes(classifier) -> Decide:
        probabilities = np.zeros((len(test), data.num_classes))
        classifier.fit(x, y)
        probabilities[:, classifier.classes_] = classifier.predict_proba(test)
        return lambda matrix: (probabilities @ matrix).argmin(axis=1)

    # Every fold needs an example of each class to estimate its probability.
    folds = int(min(5, np.bincount(y).min()))
    for name, fitted_anew in classifiers(seed).items():
        Once.forget()
        classifier = Once(fitted_anew)
        yield f"{name}, argmax", functools.partial(argmax, classifier)
        if name != "svc":
            yield f"{name}, Bayes", functools.partial(bayes, classifier)
        for method in ("sigmoid", "isotonic", "temperature"):
            calibrated = CalibratedClassifierCV(classifier, method=method, cv=folds)
            yield f"{name}, {method}, Bayes", functools.partial(bayes, calibrated)


def costsensitive(data: DataSet, seed: int) -> Iterator[tuple[str, Callable[[], Decide]]]:
    """Yields reductions of `costsensitive` to linear learners and to forests."""
    import costsensitive as package

    x, test = flat(np.concatenate([data.x_train, data.x_val])), flat(data.x_test)
    y = data.y_train_val
    options = {"n_estimators": 100, "random_state": seed, "n_jobs": -1}
    bases = {
        "": (LogisticRegression(max_iter=2000), Ridge()),
        ", forest": (RandomForestClassifier(**options), RandomForestRegressor(**options)),
    }
    learners = {}
    for suffix, (classifier, regressor) in bases.items():
        reductions = {
            "regression one-vs-rest": (package.RegressionOneVsRest, regressor),
            "weighted all-pairs": (package.WeightedAllPairs, classifier),
            "weighted one-vs-rest": (package.WeightedOneVsRest, classifier),
        }
        for name, (reduction, base) in reductions.items():
            learners[name + suffix] = functools.partial(reduction, base, njobs=1)
        learners[f"filter tree{suffix}"] = functools.partial(
            package.FilterTree, classifier, njobs=1
        )

    def decide(learner, matrix) -> np.ndarray:
        model = learner()
        model.fit(x, matrix[y])
        return np.asarray(model.predict(test)).ravel().astype(int)

    for name, learner in learners.items():
        yield (
            f"costsensitive {name}",
            lambda learner=learner: lambda matrix: decide(learner, matrix),
        )


def keras_example(data: DataSet, seed: int) -> Iterator[tuple[str, Callable[[], Decide]]]:
    """Yields the network of Keras' example "Simple MNIST convnet", trained as in the example.

    It is trained on nine tenths of the examples; a temperature is fitted on the others. Images
    that its two poolings would shrink to nothing are padded.
    """
    layers = keras.layers
    x, y = np.concatenate([data.x_train, data.x_val]), data.y_train_val
    padding = "valid" if min(x.shape[1:3]) >= 10 else "same"
    trained: list[tuple[dict[str, np.ndarray], float]] = []

    def train() -> dict[str, np.ndarray]:
        keras.utils.set_random_seed(seed)
        model = keras.Sequential(
            [
                keras.Input(x.shape[1:]),
                layers.Conv2D(32, 3, activation="relu", padding=padding),
                layers.MaxPooling2D(2),
                layers.Conv2D(64, 3, activation="relu", padding=padding),
                layers.MaxPooling2D(2),
                layers.Flatten(),
                layers.Dropout(0.5),
                layers.Dense(data.num_classes, activation="softmax"),
            ]
        )
        model.compile("adam", "sparse_categorical_crossentropy")
        order = np.random.default_rng(seed).permutation(len(x))
        rest, known = np.split(order, [len(x) // 10])
        model.fit(x[known], y[known], batch_size=128, epochs=15, verbose=0)
        scaling, _ = fit_scaling(model.predict(x[rest], verbose=0), y[rest], "temperature")
        found = model.predict(data.x_test, verbose=0)
        tempered = np.maximum(found, 1e-12) ** scaling[0, 0]
        return {"Bayes": found, "temperature, Bayes": tempered / tempered.sum(axis=1)[:, None]}

    def prepare(name: str) -> Decide:
        if trained:
            Once.reused += trained[0][1]
        else:
            start = time.perf_counter()
            trained.append((train(), time.perf_counter() - start))
        probabilities = trained[0][0]
        if name == "argmax":
            return lambda matrix: probabilities["Bayes"].argmax(axis=1)
        return lambda matrix: (probabilities[name] @ matrix).argmin(axis=1)

    for name in ("argmax", "Bayes", "temperature, Bayes"):
        yield f"Keras example, {name}", functools.partial(prepare, name)


def vowpal_wabbit(data: DataSet, seed: int) -> Iterator[tuple[str, Callable[[], Decide]]]:
    """Yields Vowpal Wabbit's `csoaa`, a linear regression of the cost of each decision."""
    import vowpalwabbit

    x, test = flat(np.concatenate([data.x_train, data.x_val])), flat(data.x_test)
    y, classes = data.y_train_val, data.num_classes

    def features(row: np.ndarray) -> str:
        return " ".join(f"{i}:{row[i]:.5g}" for i in np.flatnonzero(row))

    def decide(matrix: np.ndarray) -> np.ndarray:
        learner = vowpalwabbit.Workspace(f"--csoaa {classes} --random_seed {seed} -b 18 --quiet")
        scaled = matrix / matrix.max()
        rows = [features(row) for row in x]
        order = np.random.default_rng(seed)
        for _ in range(10):
            for n in order.permutation(len(rows)):
                costs = " ".join(f"{k + 1}:{scaled[y[n], k]:.6g}" for k in range(classes))
                learner.learn(f"{costs} | {rows[n]}")
        found = [learner.predict(f"| {features(row)}") - 1 for row in test]
        learner.finish()
        return np.asarray(found, dtype=int)

    yield "Vowpal Wabbit csoaa", lambda: decide


#: Methods of each package, by the module that they need.
PACKAGES = {
    "sklearn": scikit_learn,
    "keras": keras_example,
    "costsensitive": costsensitive,
    "vowpalwabbit": vowpal_wabbit,
}


def installed() -> list[str]:
    """Returns the modules of `PACKAGES` that can be imported."""
    return [name for name in PACKAGES if importlib.util.find_spec(name) is not None]
