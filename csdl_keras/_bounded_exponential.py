"""From logarithms of costs to costs that are finite."""

from typing import Any

from keras import ops

# The exponentials of these are near the ends of a float type's range, with room for sums.
_LIMITS = {"float16": 9.0}
_LIMIT = 85.0
# A factor of at most 5 is left for all logarithms beyond.
_SLOPE = 1 / 20


def bounded_exponential(logs: Any, dtype: str) -> Any:
    """`exp(logs)`, positive and finite for every finite number, and in its order.

    Beyond a limit `a` (85; 9 for float16) it goes on as
    `exp(a) (1 + ln(1 + logs - a) / 20)`, below `-a` as the reciprocal of that.

    Args:
        logs: float tensor of at least 32 bits; NaN stays.
        dtype: float type that the result has to fit, to which the caller casts it.
    """
    limit = _LIMITS.get(dtype, _LIMIT)
    # `log1p` and the like are lacking in formats of export.
    above = 1.0 + _SLOPE * ops.log(1.0 + ops.relu(logs - limit))
    below = 1.0 + _SLOPE * ops.log(1.0 + ops.relu(-limit - logs))
    return ops.exp(ops.clip(logs, -limit, limit)) * above / below
