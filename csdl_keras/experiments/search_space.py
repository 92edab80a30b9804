"""Spaces of a search, as the command line writes them."""

from typing import Any

from csdl_keras.tuning import Range

WHOLE = ("depth", "units", "pretraining_epochs")


def parse_space(name: str, text: str) -> Any:
    """A space from `"0.25"`, `"0,0.25,1"`, `"0.01:1"` or `"0.01:1:log"`.

    Args:
        name: the hyperparameter; some are whole numbers, the optimizer is a name.
        text: what the command line says.

    Raises:
        ValueError: if the text is none of that.
    """
    if name == "optimizer":
        return [part.strip() for part in text.split(",")]
    number = int if name in WHOLE else float
    try:
        if ":" in text:
            low, high, *sampling = text.split(":")
            return Range(number(low), number(high), None, *sampling)
        return [number(part) for part in text.split(",")]
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Expected --{name.replace('_', '-')} as {number.__name__} values such as a,b,c or a "
            f"range low:high or low:high:log; received {text!r} ({error})"
        ) from error
