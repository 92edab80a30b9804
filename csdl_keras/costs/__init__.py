"""Cost matrices and cost vectors, in NumPy.

Everywhere in this package a cost matrix is `C[true, decision]`: row `y` is the
true class, column `k` the decision, `C[y, k]` what it costs to decide `k` when
`y` is true, and `C[y, y] = 0`. A cost vector is one such row that belongs to
one example.

Arguments may be lists, NumPy arrays, tensors that NumPy can read, or series and
data frames of pandas and Polars. Names of rows and columns are those of classes:
where the classes are known (from labels, a model, an estimator, or `classes=`), a
frame is put into their order. Elsewhere names have to be in the order of sorted
labels. `frame.to_numpy()` is taken by position.
"""

from csdl_keras.costs.checks import (
    check_cost_matrix,
    check_cost_vectors,
    check_labels,
    check_mean_costs,
)
from csdl_keras.costs.conversions import class_means, cost_vectors, regret, with_abstain
from csdl_keras.costs.generators import randomized_proportional, zero_one
from csdl_keras.costs.interchange import convert, from_binary
from csdl_keras.costs.known import AffineCosts

__all__ = [
    "AffineCosts",
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
