"""Methods without deep networks, for comparison."""

from csdl_keras.baselines.csosr import CSOSR

__all__ = ["CSOSR"]
