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
_UNEQUAL = f"part in ('model', 'ratio', 'rare', 'classes') and costs != '1' and {_BEST}"
_TOO_LONG = "part == 'confidence' and beyond == 8"
_NOISY = f"part == 'confidence' and noise == 0.4 and {_BEST}"
_IMAGES = "part == 'labels' and set in ('mnist', 'cifar10') and hidden == '64x64'"
_WIDE = "part == 'labels' and hidden == '500x500'"
_TABLE = "part == 'labels' and set == 'diamonds'"
_FEW, _MANY = "labels <= 250", "labels == 10000"

_DECIDING = [
    Arrow("costs differ", "Bayes", "argmax", _UNEQUAL),
    Arrow("training stops at its best", BASE, "Bayes", _UNEQUAL),
    Arrow("training stops at its best", BASE, BY_LIKELIHOOD, _UNEQUAL),
    Arrow("40 % of labels are wrong", BASE, "Bayes", _NOISY),
    Arrow("training goes on to 8 times its best updates", BASE, "Bayes", _TOO_LONG),
]
_DECIDING += [
    Arrow(f"confidence exceeds accuracy by {words}", first, second, query)
    for words, query in (
        ("less than .05", "excess < 0.05"),
        (".05 to .1", "0.05 <= excess < 0.1"),
        (".1 to .2", "0.1 <= excess < 0.2"),
        (".2 or more", "excess >= 0.2"),
    )
    for first, second in ((BASE, "Bayes"), ("SOSR", "Bayes"), ("Poisson", "Bayes"))
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
        ("there are 2 classes", "part == 'classes' and set == 'parity of digits'"),
        ("there are 100 classes", "part == 'classes' and set == 'pairs of digits'"),
    )
    for method in ("SOSR", "Poisson")
]
_TRAINING += [
    Arrow("training goes on to 8 times its best updates", "SOSR", "Bayes", _TOO_LONG),
    Arrow("costs differ, all conditions", "SOSR", "Poisson", _UNEQUAL),
]
_PRETRAINING = [
    Arrow(f"{what}, {labels}", first, NONE, f"{kind} and {size}")
    for what, kind in (("images, 64x64 units", _IMAGES), ("a table, 64x64 units", _TABLE))
    for labels, first, size in (
        ("50 or 250 labels, and more inputs without", "DAE on all", _FEW),
        ("50 or 250 labels, and nothing else", "DAE", _FEW),
        ("10,000 labels", "DAE on all", _MANY),
    )
]
_PRETRAINING += [
    Arrow(
        f"{what}, 500x500 units, 250 or 1,250 labels, and {more}", first, NONE, f"{_WIDE} and {it}"
    )
    for what, it in (("digits", "set == 'mnist'"), ("photographs", "set == 'cifar10'"))
    for more, first in (("more inputs without", "DAE on all"), ("nothing else", "DAE"))
]
_PRETRAINING += [
    Arrow("50 to 10,000 labels", first, second, "part == 'labels'")
    for first, second in (
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
    ("DAE on all", NONE),
    ("DAE", NONE),
    ("SEAE on all", "DAE on all"),
    ("CAE on all", "DAE on all"),
    ("CAE", "DAE"),
    ("CAE on all, SOSR", "DAE on all, SOSR"),
    ("CAE on all, SOSR", "DAE on all"),
)
