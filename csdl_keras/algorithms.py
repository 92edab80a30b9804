"""The algorithms of the paper's Table 1, and a few beyond it, as data."""

import dataclasses
from typing import Any

from csdl_keras._utils.checks import check_bool, check_choice, check_integer, check_type

BODIES = ("mlp", "cnn", "svm", "auto")
PRETRAININGS = ("none", "dae", "seae", "cae")
MOST_MEMBERS = 1000

# Predictions that fit what a training makes: probabilities, scores, or costs.
_FITTING = {
    "nll": ("argmax", "bayes"),
    "weighted_nll": ("argmax",),
    "min": ("argmax",),
    "sosr": ("argmin",),
    "poisson": ("argmin",),
    "logistic": ("argmin",),
    "one_sided_svm": ("argmin",),
    "expected_cost": ("argmin",),
}
TRAININGS = tuple(_FITTING)


@dataclasses.dataclass(frozen=True)
class Algorithm:
    """An algorithm, such as a row of Table 1: a choice at each stage.

    Args:
        name: name in code and on the command line.
        title: name in tables.
        body: `"mlp"`, the fully-connected network; `"cnn"`, Caffe's; `"svm"`, a
            kernel machine; `"auto"`, a network chosen from the shape of an input,
            convolutional for images.
        pretraining: `"none"`; `"dae"` (cost-blind); `"seae"` (CAE on 0/1 costs,
            error-aware); `"cae"` (cost-aware).
        training: `"nll"`, the cost-blind negative log-likelihood of class
            probabilities; `"weighted_nll"`, the same with examples weighted by
            the mean cost of mistaking their class; `"min"`, `MINLoss`;
            `"sosr"`, `"poisson"` and `"logistic"`, cost estimates by `SOSRLoss`,
            `PoissonCostLoss` and `LogisticCostLoss`; `"one_sided_svm"`, `CSOSR`;
            `"expected_cost"`, class probabilities and costs by class, see
            `models.expected_cost_model`.
        prediction: `"argmax"` of probabilities or scores, `"bayes"` (argmin of
            expected costs), or `"argmin"` of estimated costs.
        in_table2: whether the paper's Table 2 has the row. Defaults to True.
        calibrated: whether probabilities are calibrated on the validation
            examples, if there are any, before they are decided from. Defaults to
            False.
        members: number of networks whose outputs are averaged, trained from
            seeds of their own, at most 1,000. Defaults to 1.

    Raises:
        ValueError: if a choice is unknown or does not fit the others.

    Example:

    >>> ALGORITHMS["csdnn"].awareness
    ('O', 'O', 'X')
    """

    name: str
    title: str
    body: str
    pretraining: str
    training: str
    prediction: str
    in_table2: bool = True
    calibrated: bool = False
    members: int = 1

    def __post_init__(self) -> None:
        for name in ("name", "title"):
            check_type(name, getattr(self, name), str, "a string")
        for name in ("in_table2", "calibrated"):
            check_bool(name, getattr(self, name))
        check_choice("body", self.body, BODIES)
        check_choice("pretraining", self.pretraining, PRETRAININGS)
        check_choice("training", self.training, TRAININGS)
        check_choice("prediction", self.prediction, _FITTING[self.training])
        if self.body != "mlp" and self.pretraining != "none":
            raise ValueError(
                f"Expected pretraining='none' for body={self.body!r}, which has no hidden "
                f"Dense layers to stack; received {self.pretraining!r}."
            )
        if (self.body == "svm") != (self.training == "one_sided_svm"):
            raise ValueError(
                "Expected body='svm' and training='one_sided_svm' together; received "
                f"{self.body!r} and {self.training!r}."
            )

        check_integer("members", self.members, high=MOST_MEMBERS)
        if self.members > 1 and self.body == "svm":
            raise ValueError(
                "Expected members=1 with body='svm', whose training draws nothing at random; "
                f"received {self.members}."
            )
        if self.calibrated and self.prediction != "bayes" and self.training != "expected_cost":
            raise ValueError(
                "Expected calibrated=False where no probabilities are weighed with costs; received "
                f"training={self.training!r} and prediction={self.prediction!r}."
            )
        if self.training == "expected_cost" and self.body != "auto":
            raise ValueError(
                f"Expected body='auto' with training='expected_cost'; received {self.body!r}."
            )

    @property
    def output(self) -> str:
        """What is decided from: `"probability"` (argmax) or `"cost"` (argmin)."""
        return "cost" if "argmin" in _FITTING[self.training] else "probability"

    @property
    def series(self) -> str:
        """The paper's grouping: `"blind"`, `"baseline"`, `"Bayes"` or `"SOSR"`."""
        if self.training not in ("nll", "sosr"):
            return "baseline"
        return {"argmax": "blind", "bayes": "Bayes", "argmin": "SOSR"}[self.prediction]

    @property
    def awareness(self) -> tuple[str, str, str]:
        """Table 1's marks of the three stages.

        `"O"` cost-aware, `"E"` error-aware, `"X"` cost-blind, or `"none"`.
        """
        pretraining = {"none": "none", "dae": "X", "seae": "E", "cae": "O"}[self.pretraining]
        training = "X" if self.training == "nll" else "O"
        return pretraining, training, "O" if self.prediction == "bayes" else "X"


class _Rows(dict[str, Algorithm]):
    """Rows by name, and by the other names that some have; only the names are listed."""

    aliases = {"scae_sosr": "csdnn"}

    def __missing__(self, name: Any) -> Algorithm:
        if name in self.aliases:
            return self[self.aliases[name]]
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return name in self.aliases or super().__contains__(name)


_ROWS = (
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
    Algorithm("ensemble_bayes", "Ensemble Bayes", "auto", "none", "nll", "bayes", False, True, 5),
    Algorithm("cost_model", "Cost model", "auto", "none", "expected_cost", "argmin", False, True),
    Algorithm("dnn_weighted", "DNN weighted", "mlp", "none", "weighted_nll", "argmax", False),
    Algorithm("cnn_weighted", "CNN weighted", "cnn", "none", "weighted_nll", "argmax", False),
)

#: Every row by name: the fifteen of Table 1, then those that the paper does not have, which
#: have `in_table2=False`: the default rows, and the common workaround of weighting examples by
#: their costs (Zadrozny, Langford, Abe: Cost-sensitive learning by cost-proportionate example
#: weighting, ICDM 2003). `"scae_sosr"` finds `"csdnn"`.
ALGORITHMS: dict[str, Algorithm] = _Rows({row.name: row for row in _ROWS})

#: The names of the fifteen rows of the paper's Table 1.
PAPER_ALGORITHMS = tuple(row.name for row in _ROWS if row.in_table2)


def get_algorithm(algorithm: str | Algorithm) -> Algorithm:
    """The row of that name; a row of your own as it is.

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
    if not isinstance(algorithm, str) or algorithm not in _Rows.aliases:
        check_choice("algorithm", algorithm, tuple(ALGORITHMS))
    return ALGORITHMS[algorithm]
