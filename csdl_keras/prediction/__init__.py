"""The third stage, prediction: from a model's outputs to decisions."""
