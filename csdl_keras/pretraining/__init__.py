"""Pre-trains networks greedily, layer by layer: the first stage of algorithms."""
