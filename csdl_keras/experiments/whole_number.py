"""Whole numbers of the command line."""

import argparse


def positive_integer(text: str) -> int:
    """A whole number of at least 1, for argparse."""
    return whole_number(text, low=1)


def whole_number(text: str, low: int = 0) -> int:
    """A whole number of at least `low`, for argparse."""
    try:
        value = int(text)
    except ValueError:
        value = low - 1
    if value < low:
        raise argparse.ArgumentTypeError(
            f"expected a whole number of at least {low}; received {text!r}"
        )
    return value
