"""Methods that decide on tables at costs of each example, known when deciding or not."""

import dataclasses
from collections.abc import Callable, Iterator
from typing import NamedTuple

import keras
import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import csdl_keras as csdl


class Part(NamedTuple):
    """Examples of a table: a data frame, its columns as numbers, labels 0 and 1, and costs."""

    frame: pd.DataFrame
    numbers: np.ndarray
    y: np.ndarray
    costs: np.ndarray

    @property
    def outcomes(self) -> dict[str, np.ndarray]:
        """Costs by empulse's names."""
        names = ("tn_cost", "fp_cost", "fn_cost", "tp_cost")
        return dict(zip(names, self.costs.reshape(-1, 4).T, strict=True))


class Split(NamedTuple):
    """A table in three parts, and training and validation examples together."""

    train: Part
    validation: Part
    test: Part
    labelled: Part


#: Computes test probabilities `(N, 2)`.
Probabilities = Callable[[], np.ndarray]
#: Computes the decisions for test examples.
Decide = Callable[[], np.ndarray]


def logistic() -> object:
    """Returns logistic regression on standardised columns, amounts as logarithms."""
    shrink = FunctionTransformer(lambda x: np.sign(x) * np.log1p(np.abs(x)))
    return make_pipeline(shrink, StandardScaler(), LogisticRegression(max_iter=2000))


def boosted(split: Split, seed: int) -> Iterator[tuple[str, object, dict]]:
    """Yields boosted trees, and what `fit` needs for them to stop early on validation examples."""
    from catboost import CatBoostClassifier
    from lightgbm import LGBMClassifier, early_stopping
    from xgboost import XGBClassifier

    pair = (split.validation.numbers, split.validation.y)
    quiet = {"random_seed": seed, "verbose": 0, "allow_writing_files": False}
    tree = {"n_estimators": 2000, "learning_rate": 0.05, "random_state": seed}
    stop = early_stopping(50, verbose=False)
    yield "XGBoost", XGBClassifier(random_state=seed), {}
    yield "XGBoost, depth 3", XGBClassifier(max_depth=3, learning_rate=0.1, random_state=seed), {}
    yield (
        "XGBoost, stopped early",
        XGBClassifier(max_depth=4, early_stopping_rounds=50, **tree),
        {"eval_set": [pair], "verbose": False},
    )
    yield "LightGBM", LGBMClassifier(random_state=seed, verbose=-1), {}
    yield (
        "LightGBM, stopped early",
        LGBMClassifier(num_leaves=15, verbose=-1, **tree),
        {"eval_set": [pair], "callbacks": [stop]},
    )
    yield "CatBoost", CatBoostClassifier(**quiet), {}
    yield (
        "CatBoost, stopped early",
        CatBoostClassifier(iterations=2000, early_stopping_rounds=50, **quiet),
        {"eval_set": pair},
    )


def peer_probabilities(split: Split, seed: int) -> Iterator[tuple[str, Probabilities]]:
    """Yields classifiers of other packages, as they are and calibrated.

    Those that stop early learn from the training examples, all others from training and
    validation examples together; calibration is by five folds of these.
    """
    test, known = split.test.numbers, split.labelled

    def fitted(model, options: dict) -> np.ndarray:
        part = split.train if options else known
        return model.fit(part.numbers, part.y, **options).predict_proba(test)

    def calibrated(model, method: str) -> np.ndarray:
        by_folds = CalibratedClassifierCV(model, method=method)
        return by_folds.fit(known.numbers, known.y).predict_proba(test)

    models = [
        *boosted(split, seed),
        ("histogram boosting", HistGradientBoostingClassifier(random_state=seed), {}),
        ("logistic regression", logistic(), {}),
    ]
    for name, model, options in models:
        yield name, lambda model=model, options=options: fitted(model, options)
        if "," not in name:
            for method in ("sigmoid", "isotonic"):
                yield f"{name}, {method}", lambda m=model, by=method: calibrated(m, by)


def cost_decisions(split: Split, seed: int) -> Iterator[tuple[str, bool, Decide]]:
    """Yields other packages' methods on costs, and whether they know these when deciding."""
    from empulse.models import CSBoostClassifier, CSLogitClassifier, CSThresholdClassifier
    from lightgbm import LGBMClassifier, LGBMRegressor

    known, test = split.labelled, split.test
    scaler = make_pipeline(*(step for _, step in logistic().steps[:-1])).fit(known.numbers)

    def boosting() -> np.ndarray:
        model = CSBoostClassifier(**known.outcomes)
        return model.fit(known.numbers, known.y).predict(test.numbers)

    def linear() -> np.ndarray:
        model = CSLogitClassifier(**known.outcomes)
        return model.fit(scaler.transform(known.numbers), known.y).predict(
            scaler.transform(test.numbers)
        )

    def threshold() -> np.ndarray:
        model = CSThresholdClassifier(LGBMClassifier(random_state=seed, verbose=-1))
        return model.fit(known.numbers, known.y).predict(test.numbers, **test.outcomes)

    def two_parts(classifier) -> np.ndarray:
        """Probabilities of classes, times the costs that each class has by Tweedie regression."""
        model = classifier.fit(known.numbers, known.y)
        vectors = csdl.costs.regret(csdl.costs.cost_vectors(known.costs, known.y))
        expected = np.zeros((len(test.y), 2))
        for label, p in enumerate(model.predict_proba(test.numbers).T):
            own = known.y == label
            wrong = LGBMRegressor(objective="tweedie", random_state=seed, verbose=-1)
            wrong.fit(known.numbers[own], vectors[own, 1 - label])
            expected[:, 1 - label] += p * wrong.predict(test.numbers)
        return expected.argmin(axis=1)

    plain = LGBMClassifier(random_state=seed, verbose=-1)
    calibrated = CalibratedClassifierCV(plain, method="isotonic")
    yield "LightGBM, two parts", False, lambda: two_parts(plain)
    yield "LightGBM, isotonic, two parts", False, lambda: two_parts(calibrated)
    yield "empulse CSBoost", False, boosting
    yield "empulse CSLogit", False, linear
    yield "empulse CSThreshold(LightGBM)", True, threshold


def our_model(split: Split, seed: int, algorithm: str, networks: int | None = None) -> keras.Model:
    """Trains one of this package's default algorithms, with its own number of networks or another.

    An ensemble learns from training and validation examples together, as other packages' methods
    do, and one network from the training examples alone. At 0/1 costs, the expected cost of a
    decision is the probability of the other class; `cost_model` learns the costs of the examples.
    """
    on_costs = algorithm == "cost_model"

    def examples(part: Part) -> tuple:
        own = (csdl.costs.cost_vectors(part.costs, part.y),) if on_costs else ()
        return (part.frame, part.y, *own)

    chosen = csdl.ALGORITHMS[algorithm]
    if networks is not None:
        chosen = dataclasses.replace(chosen, members=networks)
    together = (chosen.members or 1) > 1
    x, y, *costs = examples(split.labelled if together else split.train)
    return csdl.train(
        x,
        y,
        None if on_costs else csdl.costs.zero_one(2),
        chosen,
        validation_data=False if together else examples(split.validation),
        seed=seed,
        costs=costs[0] if on_costs else None,
    )
