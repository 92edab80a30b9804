"""The third stage: from a model's outputs to decisions."""
