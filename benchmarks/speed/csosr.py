"""CSOSR compared with support vector regression of scikit-learn, one for each class."""

from collections.abc import Iterator

import numpy as np
from paired import Ratio, Row, seconds
from sklearn.svm import SVR

import csdl_keras as csdl
from csdl_keras.baselines import CSOSR

BACKENDS, PROCESSES = ("tensorflow",), 1
CLASSES, FEATURES = 10, 64


def measure(quick: bool) -> Iterator[Row]:
    """Measures fitting all classes on one Gaussian kernel, once, since it takes minutes."""
    size = 2000 if quick else 10_000
    rng = np.random.default_rng(0)
    y = rng.integers(CLASSES, size=size)
    x = rng.normal(size=(CLASSES, FEATURES))[y] + 1.5 * rng.normal(size=(size, FEATURES))
    costs = csdl.costs.randomized_proportional(y, seed=0)[y]
    costs = costs / costs.max()
    gamma = 1 / (FEATURES * x.var())
    ours = CSOSR(penalty=1.0, gamma=gamma)

    def all_classes():
        ours.fit(x, costs)

    def per_class():
        for decision in range(CLASSES):
            SVR(C=1.0, gamma=gamma, epsilon=0.0, cache_size=1000).fit(x, costs[:, decision])

    # Fitted before and after SVR, which takes as long as both.
    first, other, second = seconds(all_classes), seconds(per_class), seconds(all_classes)
    own = (first + second) / 2
    gap = ours.duality_gap_ / ours.objective_
    yield Row(
        f"{size:,} examples, K = {CLASSES}",
        "seconds relative to scikit-learn's SVR for each class",
        Ratio.of(np.array([first, second]) / other),
        "< 1",
        f"{own:.1f} s and {other:.1f} s; duality gap {gap:.1e} of the objective",
    )
