"""Methods that decide on tables, by class probabilities or by learned costs."""

import dataclasses
import functools
import importlib.util
from collections.abc import Callable, Iterator
from typing import NamedTuple

import keras
import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import csdl_keras as csdl

#: Whether the networks of `pytabkit`, the only peers that may be missing, are installed.
PYTABKIT = importlib.util.find_spec("pytabkit") is not None


class Part(NamedTuple):
    """Examples of a table without missing values: a data frame with texts, the same with texts as
    categories or as numbers, labels from 0, and the costs of examples, if there are any.
    """

    frame: pd.DataFrame
    categories: pd.DataFrame
    numbers: np.ndarray
    y: np.ndarray
    costs: np.ndarray | None

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


#: Computes test probabilities `(N, K)`, or decisions `(N,)`.
Compute = Callable[[], np.ndarray]


def logistic() -> object:
    """Returns logistic regression on standardised columns, amounts as logarithms."""
    shrink = FunctionTransformer(lambda x: np.sign(x) * np.log1p(np.abs(x)))
    return make_pipeline(shrink, StandardScaler(), LogisticRegression(max_iter=2000))


def peer_probabilities(split: Split, seed: int) -> Iterator[tuple[str, Compute]]:
    """Yields classifiers of other packages, uncalibrated and calibrated.

    Those that stop early or keep their best epoch learn from the training examples, all others from
    training and validation examples together; calibration is by five folds of these.
    """
    from catboost import CatBoostClassifier
    from lightgbm import LGBMClassifier, early_stopping
    from xgboost import XGBClassifier

    def fitted(model, part: Part, kind: str = "categories", **options) -> np.ndarray:
        model.fit(getattr(part, kind), part.y, **options)
        return model.predict_proba(getattr(split.test, kind)).astype("float64")

    x, y = split.validation.categories, split.validation.y
    tree = {"n_estimators": 2000, "learning_rate": 0.05, "random_state": seed}
    xgboost = {"enable_categorical": True}
    catboost = {"random_seed": seed, "verbose": 0, "allow_writing_files": False}
    catboost["cat_features"] = list(x.select_dtypes("category"))
    stopped = functools.partial(fitted, part=split.train)
    model = XGBClassifier(max_depth=4, early_stopping_rounds=50, **tree, **xgboost)
    pair = [(x, y)]
    yield "XGBoost, stopped early", lambda m=model: stopped(m, eval_set=pair, verbose=False)
    model = LGBMClassifier(num_leaves=15, verbose=-1, **tree)
    stop = [early_stopping(50, verbose=False)]
    yield "LightGBM, stopped early", lambda m=model: stopped(m, eval_set=pair, callbacks=stop)
    model = CatBoostClassifier(iterations=2000, early_stopping_rounds=50, **catboost)
    yield "CatBoost, stopped early", lambda m=model: stopped(m, eval_set=pair)
    if PYTABKIT:
        from pytabkit import RealMLP_TD_S_Classifier, TabM_D_Classifier

        for name, kind in (("TabM", TabM_D_Classifier), ("RealMLP-TD-S", RealMLP_TD_S_Classifier)):
            # By default, it would be the epoch with the fewest errors.
            epoch = {"val_metric_name": "cross_entropy"}
            model = kind(device="cpu", random_state=seed, n_threads=2, **epoch)
            yield name, lambda m=model: stopped(m, X_val=x, y_val=y)
    trees = LGBMClassifier(random_state=seed, verbose=-1)
    shallow = {"max_depth": 3, "learning_rate": 0.1, "random_state": seed}
    for name, model in {
        "XGBoost, depth 3": XGBClassifier(**shallow, **xgboost),
        "LightGBM, isotonic": CalibratedClassifierCV(trees, method="isotonic"),
        "csdl_keras BayesClassifier(LightGBM)": csdl.sklearn.BayesClassifier(trees),
    }.items():
        yield name, functools.partial(fitted, model, split.labelled)
    forest = RandomForestClassifier(500, random_state=seed)
    for name, model in {"random forest": forest, "logistic regression": logistic()}.items():
        yield name, functools.partial(fitted, model, split.labelled, "numbers")


def our_probabilities(split: Split, seed: int) -> Iterator[tuple[str, Compute]]:
    """Yields this package's default algorithms for costs known when deciding.

    At 0/1 costs, the expected cost of a decision is the probability of all other classes.
    """

    def compute(algorithm: str) -> np.ndarray:
        model = our_model(split, seed, algorithm)
        # Rounded to 32 bits, a cost may be a little higher than 1.
        return np.maximum(1.0 - model.predict(split.test.frame, verbose=0).astype("float64"), 0.0)

    for algorithm in ("calibrated_bayes", "ensemble_bayes"):
        yield f"csdl_keras {algorithm}", functools.partial(compute, algorithm)


def cost_decisions(split: Split, seed: int) -> Iterator[tuple[str, str, Compute]]:
    """Yields methods that use the costs of examples, and the question that they answer."""
    from empulse.models import CSBoostClassifier, CSLogitClassifier, CSThresholdClassifier
    from lightgbm import LGBMClassifier, LGBMRegressor

    known, test = split.labelled, split.test
    scaler = make_pipeline(*(step for _, step in logistic().steps[:-1])).fit(known.numbers)
    vectors = csdl.costs.regret(csdl.costs.cost_vectors(known.costs, known.y))
    plain = LGBMClassifier(random_state=seed, verbose=-1)
    calibrated = CalibratedClassifierCV(plain, method="isotonic")

    def boosting() -> np.ndarray:
        model = CSBoostClassifier(**known.outcomes)
        return model.fit(known.numbers, known.y).predict(test.numbers)

    def linear() -> np.ndarray:
        model = CSLogitClassifier(**known.outcomes)
        return model.fit(scaler.transform(known.numbers), known.y).predict(
            scaler.transform(test.numbers)
        )

    def threshold() -> np.ndarray:
        model = CSThresholdClassifier(plain)
        return model.fit(known.numbers, known.y).predict(test.numbers, **test.outcomes)

    def tweedie(rows: np.ndarray, decision: int) -> np.ndarray:
        """Returns costs of a decision, learned from the given rows."""
        model = LGBMRegressor(objective="tweedie", random_state=seed, verbose=-1)
        model.fit(known.categories[rows], vectors[rows, decision])
        return model.predict(test.categories)

    def by_decision() -> np.ndarray:
        return np.argmin([tweedie(known.y >= 0, k) for k in range(2)], axis=0)

    def two_parts(classifier) -> np.ndarray:
        """Decides by class probabilities times costs per class from Tweedie regression."""
        p = classifier.fit(known.categories, known.y).predict_proba(test.categories)
        return np.argmin([p[:, 1 - k] * tweedie(known.y == 1 - k, k) for k in range(2)], axis=0)

    def ours(networks: int) -> np.ndarray:
        return csdl.decide(our_model(split, seed, "cost_model", networks), test.frame)

    yield "empulse CSThreshold(LightGBM)", "known", threshold
    yield "LightGBM, two parts", "unknown", lambda: two_parts(plain)
    yield "LightGBM, isotonic, two parts", "unknown", lambda: two_parts(calibrated)
    yield "LightGBM, a regression by decision", "unknown", by_decision
    yield "empulse CSBoost", "unknown", boosting
    yield "empulse CSLogit", "unknown", linear
    yield "csdl_keras cost_model", "unknown", lambda: ours(1)
    yield "csdl_keras cost_model, five networks", "unknown", lambda: ours(5)


def our_model(split: Split, seed: int, algorithm: str, networks: int | None = None) -> keras.Model:
    """Trains one of this package's default algorithms with a number of networks.

    An ensemble learns from training and validation examples together, as other packages' methods
    do, and one network from the training examples alone. `cost_model` learns the costs of the
    examples.
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
        None if on_costs else csdl.costs.zero_one(int(split.labelled.y.max()) + 1),
        chosen,
        validation_data=False if together else examples(split.validation),
        seed=seed,
        costs=costs[0] if on_costs else None,
    )
