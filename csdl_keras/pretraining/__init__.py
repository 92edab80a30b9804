"""The first stage: greedy, layer-wise pre-training."""
