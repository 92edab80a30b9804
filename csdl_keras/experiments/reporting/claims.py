"""The claims of the paper, put to the figures."""

from collections.abc import Iterable

from csdl_keras.experiments.reporting.beta_curve import BetaCurve
from csdl_keras.experiments.reporting.claim import Claim
from csdl_keras.experiments.reporting.column import Column
from csdl_keras.experiments.reporting.comparison import Comparison
from csdl_keras.experiments.reporting.formats import format_column
from csdl_keras.experiments.reporting.table import Table
from csdl_keras.training.algorithms import PAPER_ALGORITHMS, get_algorithm

_COUNTERPARTS = (
    ("dnn_sosr", "dnn_bayes"),
    ("sdae_sosr", "sdae_bayes"),
    ("seae_sosr", "seae_bayes"),
    ("csdnn", "scae_bayes"),
    ("cnn_sosr", "cnn_bayes"),
)

_NECESSARY = "Is it necessary to consider costs?"
_DEEP = "Is it necessary to go deep?"
_TRAINING = "Is it necessary to incorporate costs during training?"
_PRETRAINING = "Is it necessary to incorporate costs during pre-training?"
_CNN = "Which is better, CNN SOSR or CSDNN?"
_MIXTURE = "Is the mixture loss necessary?"


def claims(table: Table, curves: list[BetaCurve]) -> list[Claim]:
    """Puts the claims of the section "Experimental Results" to the figures.

    Where a claim is about the best of several algorithms, the one of the lowest
    validation cost stands for them: choosing by test cost would favour the
    larger group.

    Args:
        table: the results.
        curves: costs by beta, may be empty.

    Returns:
        A `Claim` for each of the paper's claims.
    """
    columns = table.columns
    imbalanced = [column for column in columns if column.imbalanced]
    blind = _series("blind")
    deep = _series("Bayes") + _series("SOSR")
    aware = _series("baseline") + deep
    baselines = [(name,) for name in _series("baseline")]
    return [
        Claim(
            _NECESSARY,
            "the best cost-sensitive algorithm costs less than the best cost-blind one",
            _compare(columns, [(aware, blind)]),
        ),
        Claim(
            _DEEP,
            "CSOSR and MIN often cost less than the cost-blind algorithms",
            _compare(columns, [(own, (other,)) for own in baselines for other in blind]),
        ),
        Claim(
            _DEEP,
            "the best cost-sensitive deep algorithm costs less than CSOSR and than MIN",
            _compare(columns, [(deep, name) for name in baselines]),
        ),
        Claim(
            _TRAINING,
            "algorithms of the SOSR series cost less than their Bayes counterparts",
            _compare(columns, _singles(_COUNTERPARTS)),
        ),
        Claim(
            _TRAINING,
            "so they do especially on imbalanced data",
            _compare(imbalanced, _singles(_COUNTERPARTS)),
        ),
        Claim(
            _PRETRAINING,
            "CSDNN costs less than SEAE SOSR and than SDAE SOSR",
            _compare(columns, _singles([("csdnn", "seae_sosr"), ("csdnn", "sdae_sosr")])),
        ),
        Claim(
            _PRETRAINING,
            "SDAE SOSR costs less than DNN SOSR",
            _compare(columns, _singles([("sdae_sosr", "dnn_sosr")])),
        ),
        Claim(
            _PRETRAINING,
            "in Table 2, SCAE also costs less than SDAE with the Bayes decision",
            _compare(columns, _singles([("scae_bayes", "sdae_bayes")])),
        ),
        Claim(
            _CNN,
            "CSDNN is competitive to CNN SOSR: cheaper, or not significantly costlier",
            _compare(columns, _singles([("csdnn", "cnn_sosr")])),
            ties_support=True,
        ),
        Claim(
            _MIXTURE,
            "some β between 0 and 1 costs less than β = 0, which is SDAE SOSR",
            _compare_betas(curves, 0.0),
        ),
        Claim(
            _MIXTURE,
            "some β between 0 and 1 costs less than β = 1, fully cost-aware pre-training",
            _compare_betas(curves, 1.0),
        ),
    ]


def _series(series: str) -> tuple[str, ...]:
    """The paper's rows of a series; rows that it does not have are no part of its claims."""
    return tuple(name for name in PAPER_ALGORITHMS if get_algorithm(name).series == series)


def _singles(pairs: Iterable[tuple[str, str]]) -> list[tuple[tuple[str], tuple[str]]]:
    return [((first,), (second,)) for first, second in pairs]


def _compare(
    columns: list[Column], pairs: Iterable[tuple[tuple[str, ...], tuple[str, ...]]]
) -> tuple[Comparison, ...]:
    """Compares the best of one group with the best of another, on each data set."""
    pairs = list(pairs)
    comparisons = []
    for column in columns:
        for group, others in pairs:
            first = group[0] if len(group) == 1 else column.choose(group)
            second = others[0] if len(others) == 1 else column.choose(others)
            difference = column.compare(first, second) if first and second else None
            if first is None or second is None or difference is None:
                continue
            own, other = column.paper(first), column.paper(second)
            comparisons.append(
                Comparison(
                    format_column(column),
                    get_algorithm(first).title,
                    get_algorithm(second).title,
                    difference,
                    float(own.cost) / float(other.cost) if own and other else None,
                )
            )
    return tuple(comparisons)


def _compare_betas(curves: list[BetaCurve], end: float) -> tuple[Comparison, ...]:
    comparisons = []
    for curve in curves:
        difference = curve.compare(end)
        if difference is not None and curve.chosen is not None:
            first = f"β = {curve.betas[curve.chosen]:g}"
            comparisons.append(Comparison(curve.title, first, f"β = {end:g}", difference))
    return tuple(comparisons)
