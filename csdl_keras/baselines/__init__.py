"""Methods that are not deep, to compare with."""

from csdl_keras.baselines.csosr import CSOSR

__all__ = ["CSOSR"]
