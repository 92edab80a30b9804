"""A row of beta_curve.csv."""

import dataclasses
import math


@dataclasses.dataclass(frozen=True)
class BetaRow:
    """What decisions cost after pre-training with one `beta`.

    Args:
        dataset: name of the data set.
        imbalanced: whether it is the imbalanced variant.
        algorithm: name of the algorithm.
        cost_seed: seed of the cost matrix.
        beta: share of the cost-aware loss in pre-training, in [0, 1].
        test_cost: average cost of a test example; infinite if training diverged.
        standard_error: of `test_cost`, over test examples; of no meaning then.
        validation_cost: average cost of a validation example.
    """

    dataset: str
    imbalanced: bool
    algorithm: str
    cost_seed: int
    beta: float
    test_cost: float
    standard_error: float
    validation_cost: float

    def __post_init__(self) -> None:
        if not 0 <= self.beta <= 1:
            raise ValueError(f"Expected `beta` in [0, 1]; received {self.beta}.")
        if not math.isfinite(self.test_cost) and self.test_cost > 0:
            return
        for name in ("test_cost", "standard_error", "validation_cost"):
            value = getattr(self, name)
            if not 0 <= value < math.inf:
                raise ValueError(
                    f"Expected `{name}` to be a finite number of at least 0; received {value}."
                )
