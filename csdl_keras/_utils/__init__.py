"""The version, and the checks, arrays, tensors, files, seeds and types that all packages share."""

__version__ = "0.3.0"
