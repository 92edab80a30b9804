"""Helpers that know nothing of costs or networks."""
