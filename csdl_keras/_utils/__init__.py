"""Code that every room may use: the version, checks, arrays, tensors, files, seeds, types."""

__version__ = "0.1.0"
