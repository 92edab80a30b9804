"""Defines the version, and helpers for arrays, tensors, files, seeds and types."""

__version__ = "0.3.0"
