"""Comparisons of algorithms, and the command `csdl-keras` that runs them."""
