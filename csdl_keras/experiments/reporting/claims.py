"""The claims of the paper's section "Experimental Results", compared with our figures."""

from csdl_keras.experiments.reporting.beta_curve import BetaCurve
from csdl_keras.experiments.reporting.claim import Claim, ComparedPair
from csdl_keras.experiments.reporting.column import Column, format_column
from csdl_keras.experiments.reporting.table import Table
from csdl_keras.training.algorithms import PAPER_ALGORITHMS, get_algorithm

_NECESSARY = "Is it necessary to consider costs?"
_DEEP = "Is it necessary to go deep?"
_TRAINING = "Is it necessary to incorporate costs during training?"
_PRETRAINING = "Is it necessary to incorporate costs during pre-training?"
_CNN = "Which is better, CNN SOSR or CSDNN?"
_MIXTURE = "Is the mixture loss necessary?"

# A side of a comparison: an algorithm, or several of which the best one is compared.
_Side = tuple[str, ...]

_COUNTERPARTS: list[tuple[_Side, _Side]] = [
    (("dnn_sosr",), ("dnn_bayes",)),
    (("sdae_sosr",), ("sdae_bayes",)),
    (("seae_sosr",), ("seae_bayes",)),
    (("csdnn",), ("scae_bayes",)),
    (("cnn_sosr",), ("cnn_bayes",)),
]


def claims(table: Table, curves: list[BetaCurve]) -> list[Claim]:
    """Compares the claims of the section "Experimental Results" with our figures.

    Where a claim is about the best of several algorithms, the one of the lowest
    validation cost stands for them: choosing by test cost would favour the
    larger group.

    Args:
        table: the results.
        curves: costs by beta, may be empty.

    Returns:
        A `Claim` for each of the paper's claims.
    """
    everywhere = table.columns
    imbalanced = [column for column in everywhere if column.imbalanced]
    blind, baselines = _series("blind"), _series("baseline")
    deep = _series("Bayes") + _series("SOSR")
    return [
        Claim(
            _NECESSARY,
            "the best cost-sensitive algorithm costs less than the best cost-blind one",
            _compare(everywhere, [(baselines + deep, blind)]),
        ),
        Claim(
            _DEEP,
            "CSOSR and MIN often cost less than the cost-blind algorithms",
            _compare(everywhere, [((own,), (other,)) for own in baselines for other in blind]),
        ),
        Claim(
            _DEEP,
            "the best cost-sensitive deep algorithm costs less than CSOSR and than MIN",
            _compare(everywhere, [(deep, (name,)) for name in baselines]),
        ),
        Claim(
            _TRAINING,
            "algorithms of the SOSR series cost less than their Bayes counterparts",
            _compare(everywhere, _COUNTERPARTS),
        ),
        Claim(
            _TRAINING,
            "so they do especially on imbalanced data",
            _compare(imbalanced, _COUNTERPARTS),
        ),
        Claim(
            _PRETRAINING,
            "CSDNN costs less than SEAE SOSR and than SDAE SOSR",
            _compare(everywhere, [(("csdnn",), ("seae_sosr",)), (("csdnn",), ("sdae_sosr",))]),
        ),
        Claim(
            _PRETRAINING,
            "SDAE SOSR costs less than DNN SOSR",
            _compare(everywhere, [(("sdae_sosr",), ("dnn_sosr",))]),
        ),
        Claim(
            _PRETRAINING,
            "in Table 2, SDAE also costs less than DNN with the Bayes decision",
            _compare(everywhere, [(("sdae_bayes",), ("dnn_bayes",))]),
        ),
        Claim(
            _PRETRAINING,
            "in Table 2, SCAE also costs less than SDAE with the Bayes decision",
            _compare(everywhere, [(("scae_bayes",), ("sdae_bayes",))]),
        ),
        Claim(
            _CNN,
            "CSDNN is competitive to CNN SOSR: cheaper, or not significantly costlier",
            _compare(everywhere, [(("csdnn",), ("cnn_sosr",))]),
            ties_support=True,
        ),
        Claim(
            _MIXTURE,
            "some β between 0 and 1 costs less than β = 0, which is SDAE SOSR",
            _compare_betas(table, curves, 0.0),
        ),
        Claim(
            _MIXTURE,
            "some β between 0 and 1 costs less than β = 1, fully cost-aware pre-training",
            _compare_betas(table, curves, 1.0),
        ),
    ]


def _series(series: str) -> _Side:
    """Names of the paper's algorithms of a series; its claims are about no others."""
    return tuple(name for name in PAPER_ALGORITHMS if get_algorithm(name).series == series)


def _compare(columns: list[Column], pairs: list[tuple[_Side, _Side]]) -> tuple[ComparedPair, ...]:
    """Compares the two sides of each pair on each data set, if both were run there."""
    return tuple(
        compared
        for column in columns
        for sides in pairs
        for compared in [_compare_sides(column, *sides)]
        if compared is not None
    )


def _compare_sides(column: Column, side: _Side, other_side: _Side) -> ComparedPair | None:
    first, second = (
        names[0] if len(names) == 1 else column.choose(names) for names in (side, other_side)
    )
    difference = column.compare(first, second) if first and second else None
    if first is None or second is None or difference is None:
        return None
    own, other = column.paper(first), column.paper(second)
    return ComparedPair(
        format_column(column),
        get_algorithm(first).title,
        get_algorithm(second).title,
        difference,
        float(own.cost) / float(other.cost) if own and other else None,
        collapsed=bool(column.cell(first).collapsed or column.cell(second).collapsed),
        same_pretraining=column.pretrained_alike(first, second),
        differs=_differs(column, first, second),
    )


def _compare_betas(table: Table, curves: list[BetaCurve], end: float) -> tuple[ComparedPair, ...]:
    """Compares the beta that validation chose inside (0, 1) with `end`, on each data set."""
    columns = {column.title: column for column in table.columns}
    compared = []
    for curve in curves:
        difference = curve.compare(end)
        if difference is not None and curve.chosen is not None:
            chosen = float(curve.betas[curve.chosen])
            names = f"β = {chosen:g}", f"β = {end:g}"
            collapsed = not {chosen, end}.isdisjoint(curve.collapsed)
            compared.append(
                ComparedPair(
                    curve.title,
                    *names,
                    difference,
                    collapsed=collapsed,
                    differs=_differs(columns[curve.title], "csdnn")
                    if curve.title in columns
                    else (),
                )
            )
    return tuple(compared)


def _differs(column: Column, *names: str) -> tuple[str, ...]:
    """Says in what the data, and the networks of algorithms, differ from the paper's."""
    found = []
    # Imbalanced variants keep about 72 % of the examples.
    whole = (column.name.examples or 0) * (0.6 if column.imbalanced else 1)
    if not column.name.same or column.name.paper is None:
        found.append("other data")
    elif column.train_size < whole:
        found.append("fewer examples")
    if not column.has_paper_size and any(get_algorithm(name).body == "mlp" for name in names):
        found.append("other layers")
    return tuple(found)
