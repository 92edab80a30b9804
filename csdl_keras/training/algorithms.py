"""Describes algorithms as data: a choice at each stage, by name or as your own object."""

import dataclasses
from typing import Any

from csdl_keras._utils.checks import check_choice, check_integer
from csdl_keras.training.bodies import BODIES, EFFORTS, Body, KernelMachine
from csdl_keras.training.objectives import OBJECTIVES, Objective
from csdl_keras.training.pretrainings import MARKS, PRETRAININGS, Pretraining
from csdl_keras_cli import choices


@dataclasses.dataclass(frozen=True)
class Algorithm:
    """An algorithm, such as one of Table 1: a choice at each stage.

    Args:
        name: name in code and on the command line.
        title: name in tables.
        body: a key of `training.BODIES`, which is trained by `Settings`, or a `training.Body`,
            which has its own settings.
        pretraining: `"none"`; `"dae"` (cost-blind); `"seae"` (CAE on 0/1 costs, error-aware);
            `"cae"` (cost-aware); or a `training.Pretraining`.
        training: `"nll"`, the negative log-likelihood of class probabilities;
            `"weighted_nll"`, the same with examples weighted by the mean cost of mistaking
            their class; `"min"`, `"sosr"`, `"one_sided"`, `"poisson"` or `"logistic"`, the loss
            of that name; `"one_sided_svm"`, `CSOSR`; `"expected_cost"`, see
            `models.expected_cost_model`; or a `training.Objective`.
        prediction: `"argmax"` of probabilities or scores, `"bayes"` (argmin of
            expected costs), or `"argmin"` of estimated costs.
        in_table2: whether the algorithm is in the paper's Table 2. Defaults to True.
        calibrated: whether probabilities are calibrated on validation examples, if there are any,
            before deciding. Defaults to False.
        members: number of networks with different seeds whose outputs are averaged; `None`
            (default) follows the effort.
        effort: as in `csdl_keras.train`; `None` (default) is that of its `Body`, `"quick"`.

    Raises:
        ValueError: if a choice is unknown or does not fit the others.

    Example:

    >>> import csdl_keras
    >>> csdl_keras.ALGORITHMS["csdnn"].awareness
    ('O', 'O', 'X')
    """

    name: str
    title: str
    body: str | Body | KernelMachine
    pretraining: str | Pretraining
    training: str | Objective
    prediction: str
    in_table2: bool = True
    calibrated: bool = False
    members: int | None = None
    effort: str | None = None

    def __post_init__(self) -> None:
        for name, known, kind in (
            ("body", BODIES, (Body, KernelMachine)),
            ("pretraining", PRETRAININGS, Pretraining),
            ("training", OBJECTIVES, Objective),
        ):
            if not isinstance(getattr(self, name), kind):
                check_choice(name, getattr(self, name), known)
        check_choice("prediction", self.prediction, self.objective.predictions)
        if self.pretraining_sees and not self.body_kind.can_pretrain:
            raise ValueError(
                f"body={self.body!r} has no hidden Dense layers to pre-train (`can_pretrain` is "
                f"False); received pretraining={self.pretraining!r}. Use pretraining='none'."
            )
        if self.members is not None:
            check_integer("members", self.members)
        if self.effort is not None:
            check_choice("effort", self.effort, EFFORTS)

    @property
    def body_kind(self) -> Any:
        """The class of its body."""
        return BODIES[self.body] if isinstance(self.body, str) else type(self.body)

    @property
    def objective(self) -> Objective:
        """The objective of its training."""
        return OBJECTIVES[self.training] if isinstance(self.training, str) else self.training

    @property
    def pretraining_sees(self) -> str | None:
        """The part of the data that its pre-training uses, see `Pretraining`, or `None`."""
        if isinstance(self.pretraining, str):
            return PRETRAININGS[self.pretraining]
        return self.pretraining.sees

    @property
    def weighs_costs(self) -> bool:
        """True if it decides by expected costs under its probabilities."""
        return self.prediction == "bayes"

    @property
    def cross_fits(self) -> bool:
        """True if each network is validated on its own fold when there are no validation data."""
        return self.calibrated and self.members is not None and self.members > 1

    @property
    def shares_training(self) -> bool:
        """True if its training does not depend on the cost matrix."""
        return self.objective.blind and self.pretraining_sees != "costs"

    @property
    def output(self) -> str:
        """The kind of its network's outputs, `"probability"` or `"cost"`."""
        return self.objective.output

    @property
    def series(self) -> str:
        """The paper's `"blind"`, `"baseline"`, `"Bayes"` or `"SOSR"`, or `"regression"`."""
        if self.weighs_costs:
            return "Bayes"
        return "blind" if self.objective.blind else self.objective.series

    @property
    def awareness(self) -> tuple[str, str, str]:
        """Table 1's marks: `"O"` cost-aware, `"E"` error-aware, `"X"` cost-blind, or `"none"`."""
        sees = self.pretraining_sees
        training = "X" if self.objective.blind else "O"
        prediction = "O" if self.weighs_costs else "X"
        return "none" if sees is None else MARKS[sees], training, prediction


_CALIBRATED = ("auto", "none", "nll", "bayes", False, True)
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
    Algorithm("calibrated_bayes", "Calibrated Bayes", *_CALIBRATED),
    Algorithm("ensemble_bayes", "Ensemble Bayes", *_CALIBRATED, effort="balanced"),
    Algorithm("cost_model", "Cost model", "auto", "none", "expected_cost", "argmin", False, True),
    Algorithm("dnn_weighted", "DNN weighted", "mlp", "none", "weighted_nll", "argmax", False),
    Algorithm("cnn_weighted", "CNN weighted", "cnn", "none", "weighted_nll", "argmax", False),
)

#: All algorithms by name: the fifteen of Table 1, and those beyond the paper, with
#: `in_table2=False`. The latter are the default algorithms, and the common workaround of weighting
#: examples by their costs (Zadrozny, Langford, Abe: Cost-sensitive learning by cost-proportionate
#: example weighting, ICDM 2003).
ALGORITHMS: dict[str, Algorithm] = {it.name: it for it in _TABLE}

#: The names of the fifteen algorithms of the paper's Table 1.
PAPER_ALGORITHMS = tuple(it.name for it in _TABLE if it.in_table2)


def get_algorithm(algorithm: str | Algorithm, effort: str | None = None) -> Algorithm:
    """Returns an algorithm by its name, or an `Algorithm` unchanged; `effort` overrides its own."""
    if not isinstance(algorithm, Algorithm):
        name = check_choice("algorithm", algorithm, (*ALGORITHMS, *choices.ALIASES))
        algorithm = ALGORITHMS["csdnn" if name in choices.ALIASES else name]
    return algorithm if effort is None else dataclasses.replace(algorithm, effort=effort)
