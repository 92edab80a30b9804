"""The first stage, pre-training: greedy and layer by layer."""
