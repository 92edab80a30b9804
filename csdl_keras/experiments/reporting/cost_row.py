"""A row of results.csv, as far as the report needs it."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class CostRow:
    """What the decisions of one algorithm cost for one cost matrix.

    Args:
        dataset: name of the data set.
        imbalanced: whether it is the imbalanced variant.
        algorithm: name of the algorithm.
        cost_seed: seed of the cost matrix.
        average_cost: of a test example; infinite if training diverged.
        validation_cost: of a validation example, NaN if unknown.
        train_size: examples for training and validation.
    """

    dataset: str
    imbalanced: bool
    algorithm: str
    cost_seed: int
    average_cost: float
    validation_cost: float
    train_size: int

    def __post_init__(self) -> None:
        if not self.average_cost >= 0:  # NaN is not either
            raise ValueError(
                f"Expected `average_cost` to be a number of at least 0; received "
                f"{self.average_cost}."
            )
