"""Methods without deep networks, for comparison; they require scikit-learn."""

from csdl_keras._utils.optional import optional_module

# Before the import, so that the error names the command that installs scikit-learn.
optional_module("sklearn", "compare")

from csdl_keras.baselines.csosr import CSOSR

__all__ = ["CSOSR"]
