"""Types that annotations share."""

from typing import Any, Literal

import numpy as np

#: Whatever NumPy, or a tensor of the backend, can be made an array from.
ArrayLike = Any
#: `verbose` of `keras.Model.fit`.
Verbose = Literal["auto", 0, 1, 2]
#: The weights of a network, as arrays.
Weights = list[np.ndarray]
