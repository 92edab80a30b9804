"""The algorithms of the paper's Table 1, as data."""

import dataclasses

from csdl_keras._checks import check_choice

BODIES = ("mlp", "cnn")
PRETRAININGS = ("none", "dae", "seae", "cae")
TRAININGS = ("nll", "sosr")
PREDICTIONS = ("argmax", "bayes", "argmin")


@dataclasses.dataclass(frozen=True)
class Algorithm:
    """A row of Table 1: a choice at each stage.

    Args:
        name: name in code and on the command line.
        title: name in tables.
        body: `"mlp"`, the fully-connected network, or `"cnn"`, Caffe's.
        pretraining: `"none"`; `"dae"` (cost-blind); `"seae"` (CAE on 0/1 costs,
            error-aware); `"cae"` (cost-aware).
        training: `"nll"`, the cost-blind negative log-likelihood of class
            probabilities, or `"sosr"`, cost estimates by `SOSRLoss`.
        prediction: `"argmax"` of probabilities, `"bayes"` (argmin of expected
            costs), or `"argmin"` of estimated costs.

    Raises:
        ValueError: if a choice is unknown or does not fit the others.

    Example:

    >>> ALGORITHMS["csdnn"].pretraining
    'cae'
    """

    name: str
    title: str
    body: str
    pretraining: str
    training: str
    prediction: str

    def __post_init__(self) -> None:
        check_choice("body", self.body, BODIES)
        check_choice("pretraining", self.pretraining, PRETRAININGS)
        check_choice("training", self.training, TRAININGS)
        allowed = ("argmax", "bayes") if self.training == "nll" else ("argmin",)
        check_choice("prediction", self.prediction, allowed)
        if self.body == "cnn" and self.pretraining != "none":
            raise ValueError(
                "Expected pretraining='none' for the convolutional network, which has no hidden "
                f"Dense layers to stack; received {self.pretraining!r}."
            )

    @property
    def output(self) -> str:
        """What the trained network outputs: `"probability"` or `"cost"`."""
        return "probability" if self.training == "nll" else "cost"

    @property
    def series(self) -> str:
        """The paper's grouping by where costs enter: `"blind"`, `"Bayes"` or `"SOSR"`."""
        return {"argmax": "blind", "bayes": "Bayes", "argmin": "SOSR"}[self.prediction]


_ROWS = (
    Algorithm("dnn_blind", "DNN blind", "mlp", "none", "nll", "argmax"),
    Algorithm("sdae_blind", "SDAE blind", "mlp", "dae", "nll", "argmax"),
    Algorithm("cnn_blind", "CNN blind", "cnn", "none", "nll", "argmax"),
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
)

#: Rows of Table 1 by name.
ALGORITHMS: dict[str, Algorithm] = {row.name: row for row in _ROWS}


def get_algorithm(algorithm: str | Algorithm) -> Algorithm:
    """The row of that name; a row of your own as it is.

    Args:
        algorithm: a name of `ALGORITHMS`, or an `Algorithm`.

    Returns:
        An `Algorithm`.

    Raises:
        ValueError: if the name is unknown; the message lists the right ones.

    Example:

    >>> get_algorithm("sdae_sosr").title
    'SDAE SOSR'
    """
    if isinstance(algorithm, Algorithm):
        return algorithm
    return ALGORITHMS[check_choice("algorithm", algorithm, ALGORITHMS)]
