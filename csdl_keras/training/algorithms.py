"""The algorithms of the paper's Table 1, and a few beyond it, as data."""

import dataclasses

from csdl_keras._utils.checks import check_choice, check_integer
from csdl_keras.training.algorithm import MOST_MEMBERS, Algorithm


class _Algorithms(dict[str, Algorithm]):
    """Algorithms by name; also finds aliases, which are not listed."""

    aliases = {"scae_sosr": "csdnn"}

    def __missing__(self, name: str) -> Algorithm:
        if name in self.aliases:
            return self[self.aliases[name]]
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return name in self.aliases or super().__contains__(name)


_TABLE = (
    Algorithm("dnn_blind", "DNN blind", "mlp", "none", "nll", "argmax"),
    Algorithm("sdae_blind", "SDAE blind", "mlp", "dae", "nll", "argmax"),
    Algorithm("cnn_blind", "CNN blind", "cnn", "none", "nll", "argmax"),
    Algorithm("csosr", "CSOSR", "svm", "none", "one_sided_svm", "argmin"),
    Algorithm("min", "MIN", "mlp", "none", "min", "argmax"),
    Algorithm("dnn_bayes", "DNN Bayes", "mlp", "none", "nll", "bayes"),
    Algorithm("sdae_bayes", "SDAE Bayes", "mlp", "dae", "nll", "bayes"),
    Algorithm("seae_bayes", "SEAE Bayes", "mlp", "seae", "nll", "bayes"),
    Algorithm("scae_bayes", "SCAE Bayes", "mlp", "cae", "nll", "bayes"),
    Algorithm("cnn_bayes", "CNN Bayes", "cnn", "none", "nll", "bayes"),
    Algorithm("dnn_sosr", "DNN SOSR", "mlp", "none", "sosr", "argmin"),
    Algorithm("sdae_sosr", "SDAE SOSR", "mlp", "dae", "sosr", "argmin"),
    Algorithm("seae_sosr", "SEAE SOSR", "mlp", "seae", "sosr", "argmin"),
    Algorithm("csdnn", "CSDNN", "mlp", "cae", "sosr", "argmin"),
    Algorithm("cnn_sosr", "CNN SOSR", "cnn", "none", "sosr", "argmin"),
    Algorithm("calibrated_bayes", "Calibrated Bayes", "auto", "none", "nll", "bayes", False, True),
    Algorithm(
        "ensemble_bayes",
        "Ensemble Bayes",
        "auto",
        "none",
        "nll",
        "bayes",
        in_table2=False,
        calibrated=True,
        effort="balanced",
    ),
    Algorithm("cost_model", "Cost model", "auto", "none", "expected_cost", "argmin", False, True),
    Algorithm("dnn_weighted", "DNN weighted", "mlp", "none", "weighted_nll", "argmax", False),
    Algorithm("cnn_weighted", "CNN weighted", "cnn", "none", "weighted_nll", "argmax", False),
)

#: All algorithms by name: the fifteen of Table 1, then those beyond the paper, with
#: `in_table2=False`: the default algorithms, and the common workaround of weighting examples by
#: their costs (Zadrozny, Langford, Abe: Cost-sensitive learning by cost-proportionate example
#: weighting, ICDM 2003). `"scae_sosr"` finds `"csdnn"`.
ALGORITHMS: dict[str, Algorithm] = _Algorithms({it.name: it for it in _TABLE})

#: The names of the fifteen algorithms of the paper's Table 1.
PAPER_ALGORITHMS = tuple(it.name for it in _TABLE if it.in_table2)


def get_algorithm(algorithm: str | Algorithm) -> Algorithm:
    """Returns the algorithm of that name; an `Algorithm` as it is.

    Args:
        algorithm: a name of `ALGORITHMS`, or an `Algorithm`.

    Returns:
        An `Algorithm`.

    Raises:
        ValueError: if the name is unknown; the message lists the right ones.

    Example:

    >>> get_algorithm("scae_sosr").title
    'CSDNN'
    """
    if isinstance(algorithm, Algorithm):
        return algorithm
    if not isinstance(algorithm, str) or algorithm not in _Algorithms.aliases:
        check_choice("algorithm", algorithm, tuple(ALGORITHMS))
    return ALGORITHMS[algorithm]


def with_options(
    algorithm: str | Algorithm, ensemble: int | None = None, effort: str | None = None
) -> Algorithm:
    """Returns an algorithm with another number of networks or effort; `None` keeps its own."""
    algorithm = get_algorithm(algorithm)
    if ensemble is not None:
        check_integer("ensemble", ensemble, high=MOST_MEMBERS)
        algorithm = dataclasses.replace(algorithm, members=ensemble)
    return algorithm if effort is None else dataclasses.replace(algorithm, effort=effort)
