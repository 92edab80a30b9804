"""Methods that are not deep, to compare with; they need scikit-learn."""

from csdl_keras._utils.optional import optional_module

# Ahead of the import, so that the error names the command that installs scikit-learn.
optional_module("sklearn", "compare")

from csdl_keras.baselines.csosr import CSOSR  # noqa: E402

__all__ = ["CSOSR"]
