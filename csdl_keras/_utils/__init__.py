"""Checks, arrays, tensors, files and seeds: code that knows nothing of costs."""
