"""Cost matrices and cost vectors, in NumPy.

A cost matrix is `C[true, decision]`: row `y` is the true class, column `k` the decision, and
`C[y, y] = 0`. A cost vector is one such row that belongs to one example.

Arguments may be lists, arrays, tensors that NumPy can read, or pandas and Polars data frames. If
the classes are known (from labels, a model, an estimator, or `classes=`), named rows and columns
are reordered to match. Otherwise, the names must be in the order of sorted labels.
"""

from csdl_keras.costs.between import between
from csdl_keras.costs.checks import (
    check_cost_matrix,
    check_cost_vectors,
    check_labels,
    check_mean_costs,
)
from csdl_keras.costs.conversions import (
    class_means,
    convert,
    cost_vectors,
    from_binary,
    regret,
    with_abstain,
)
from csdl_keras.costs.generators import randomized_proportional, zero_one
from csdl_keras.costs.known import AffineCosts

__all__ = [
    "AffineCosts",
    "between",
    "check_cost_matrix",
    "check_cost_vectors",
    "check_labels",
    "check_mean_costs",
    "class_means",
    "convert",
    "cost_vectors",
    "from_binary",
    "randomized_proportional",
    "regret",
    "with_abstain",
    "zero_one",
]
