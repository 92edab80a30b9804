"""Search spaces as texts of the command line."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from csdl_keras.tuning import Range

_WHOLE_NUMBERS = ("depth", "units", "pretraining_epochs")


def parse_space(name: str, text: str) -> "list[Any] | Range":
    """Parses a space written as `"0.25"`, `"0,0.25,1"`, `"0.01:1"` or `"0.01:1:log"`.

    Args:
        name: the hyperparameter; some are whole numbers, the optimizer is a name.
        text: the text of the command line.

    Raises:
        ValueError: if the text is none of these.
    """
    if name == "optimizer":
        return [part.strip() for part in text.split(",")]
    number = int if name in _WHOLE_NUMBERS else float
    try:
        if ":" in text:
            from csdl_keras.tuning import Range  # needs KerasTuner

            low, high, *sampling = text.split(":")
            return Range(number(low), number(high), None, *sampling)
        return [number(part) for part in text.split(",")]
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Expected --{name.replace('_', '-')} as {number.__name__} values such as a,b,c or a "
            f"range low:high or low:high:log; received {text!r} ({error})"
        ) from error
