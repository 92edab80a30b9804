"""Costs, probabilities or logits: what a model's outputs are."""
