"""The questions of the decision chart of `worth.py`."""

from typing import NamedTuple

from worth_comparisons import BASE, BY_LIKELIHOOD, NONE


class Arrow(NamedTuple):
    """A question of the chart, answered by comparing two methods.

    Args:
        condition: when the question arises.
        first: the method that might be worth it.
        second: what it is compared with.
        query: the rows that it is about.
    """

    condition: str
    first: str
    second: str
    query: str


_BEST = "beyond == 1"
_UNEQUAL = f"part != 'labels' and costs != '1' and {_BEST}"
_TOO_LONG = "part == 'confidence' and beyond == 8"
_NOISY = f"part == 'confidence' and noise == 0.4 and {_BEST}"

_DECIDING = [
    Arrow(condition, first, second, query)
    for condition, query in (
        ("costs differ, all conditions", _UNEQUAL),
        ("40 % of labels are wrong", _NOISY),
        ("training goes on to 8 times its best updates", _TOO_LONG),
    )
    for first, second in (("Bayes", "argmax"), (BASE, "Bayes"))
]
_DECIDING += [Arrow("costs differ, all conditions", BASE, BY_LIKELIHOOD, _UNEQUAL)]
_DECIDING += [
    Arrow(f"costs differ and confidence {words}", first, second, f"costs != '1' and {query}")
    for words, query in (
        ("stays below accuracy", "excess < 0"),
        ("exceeds accuracy by less than .05", "0 <= excess < 0.05"),
        ("exceeds accuracy by .05 to .1", "0.05 <= excess < 0.1"),
        ("exceeds accuracy by .1 to .2", "0.1 <= excess < 0.2"),
        ("exceeds accuracy by .2 or more", "excess >= 0.2"),
    )
    for first, second in (
        ("Bayes", "argmax"),
        (BASE, "Bayes"),
        ("SOSR", "Bayes"),
        ("Poisson", "Bayes"),
    )
]
_TRAINING = [
    Arrow(condition, method, BASE, query)
    for condition, query in (
        ("costs differ, all conditions", _UNEQUAL),
        ("the model is linear", "part == 'model' and hidden == 'linear'"),
        ("the model has 4 hidden units", "part == 'model' and hidden == '4'"),
        ("the model has 16 hidden units", "part == 'model' and hidden == '16'"),
        ("the model has 256 hidden units", "part == 'model' and hidden == '256'"),
        ("40 % of labels are wrong", _NOISY),
        ("training goes on to 8 times its best updates", _TOO_LONG),
        ("costs are equal", "part == 'ratio' and costs == '1'"),
        ("costs differ a thousandfold", "part == 'ratio' and costs == '1000'"),
        ("a third of the classes has 4 % of its examples", "part == 'rare' and kept == 0.04"),
        ("there are 2 classes", "part == 'classes' and classes == 2"),
        ("there are 100 classes", "part == 'classes' and classes == 100"),
    )
    for method in ("SOSR", "Poisson")
]
_TRAINING += [
    Arrow("training goes on to 8 times its best updates", "SOSR", "Bayes", _TOO_LONG),
    Arrow("costs differ, all conditions", "SOSR", "Poisson", _UNEQUAL),
]
_SIZES = {"50 or 250": "labels <= 250", "1,250": "labels == 1250", "10,000": "labels == 10000"}
_SIZES_OF_WIDE = {"250 or 1,250": "labels <= 1250"}
_PRETRAINING = [
    Arrow(f"{what}, {size} labels", first, NONE, f"part == 'labels' and {kind} and {query}")
    for what, kind, sizes in (
        ("images, 64x64 units", "set in ('mnist', 'cifar10') and hidden == '64x64'", _SIZES),
        ("tables, 64x64 units", "set in ('diamonds', 'upsell')", _SIZES),
        ("digits, 500x500 units", "set == 'mnist' and hidden == '500x500'", _SIZES_OF_WIDE),
        ("photographs, 500x500 units", "set == 'cifar10' and hidden == '500x500'", _SIZES_OF_WIDE),
    )
    for size, query in sizes.items()
    for first in ("DAE on all", "DAE")
]
_PRETRAINING += [
    Arrow("50 to 10,000 labels", first, second, "part == 'labels'")
    for first, second in (
        ("DAE on all", "DAE"),
        ("SEAE on all", "DAE on all"),
        ("CAE on all", "DAE on all"),
        ("CAE on all, SOSR", "DAE on all, SOSR"),
        ("CAE on all, SOSR", "DAE on all"),
    )
]

#: The chart by its sections.
SECTIONS = {
    "Deciding": _DECIDING,
    "Training on costs": _TRAINING,
    "Pre-training": _PRETRAINING,
}
#: Comparisons of all conditions, of which the chart lists those where the first one wins.
RIVALS = (
    ("SOSR", BASE),
    ("SOSR", "Bayes"),
    ("SOSR", "argmax"),
    ("SOSR", "Poisson"),
    ("Poisson", BASE),
    ("Poisson", "Bayes"),
    ("argmax", "Bayes"),
    ("DAE on all", NONE),
    ("DAE", NONE),
    ("SEAE on all", "DAE on all"),
    ("CAE on all", "DAE on all"),
    ("CAE", "DAE"),
    ("CAE on all, SOSR", "DAE on all, SOSR"),
    ("CAE on all, SOSR", "DAE on all"),
    ("DAE on all, SOSR", f"{NONE}, SOSR"),
    ("CAE on all, SOSR", f"{NONE}, SOSR"),
)
