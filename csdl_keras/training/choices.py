"""Choices of how algorithms are trained, as dataclasses whose fields say how they are checked."""

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from csdl_keras._utils.checks import (
    check_bool,
    check_choice,
    check_integer,
    check_number,
    check_type,
)
from csdl_keras.fitting.descriptions import describe

_MOST = 10**9

Check = Callable[[str, Any], Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Choices:
    """Base class of frozen dataclasses that check their fields and describe themselves.

    Fields made by the functions of this module are checked; other fields are taken as they
    are. A description holds every field that changes the result of a stage and is part of
    the stage's key.
    """

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            check = field.metadata.get("check")
            if check is not None:
                object.__setattr__(self, field.name, check(field.name, getattr(self, field.name)))

    def describe(self, without: Sequence[str] = ("schedule",)) -> dict[str, Any]:
        """Describes the choices as JSON, by the names of their fields.

        Args:
            without: fields that serve only these purposes are left out. By default the
                `"schedule"`, since a stage is described by the resulting numbers of epochs.
        """
        return {
            field.name: describe(getattr(self, field.name))
            for field in dataclasses.fields(self)
            if field.metadata.get("serves") not in without
        }


def choice(default: object, check: Check, serves: str | None = None) -> Any:
    """Returns a field of `Choices` that is checked.

    Args:
        default: the value unless another one is given.
        check: called with the name and the value; returns the value as a plain one.
        serves: `"schedule"` or `"optimizer"` if nothing else depends on the field, or `None`
            (default).
    """
    return dataclasses.field(default=default, metadata={"check": check, "serves": serves})


def count(default: int | None, serves: str | None = None, optional: bool = False) -> Any:
    """A whole number of at least 1; `optional` allows `None`."""
    return choice(default, _or_none(_count) if optional else _count, serves)


def positive(default: float, serves: str | None = None, optional: bool = False) -> Any:
    """A number above 0; `optional` allows `None`."""
    return choice(default, _or_none(_positive) if optional else _positive, serves)


def share(default: float, serves: str | None = None) -> Any:
    """A number in [0, 1]."""
    return choice(default, lambda name, value: check_number(name, value, 0, 1), serves)


def flag(default: bool) -> Any:
    """`True` or `False`."""
    return choice(default, check_bool)


def one_of(default: str, choices: Iterable[str], serves: str | None = None) -> Any:
    """One of several names."""
    return choice(default, lambda name, value: check_choice(name, value, choices), serves)


def layer_sizes(default: tuple[int, ...] | None, optional: bool = False) -> Any:
    """A tuple of whole numbers of at least 1; `optional` allows `None`."""
    return choice(default, _or_none(_sizes) if optional else _sizes)


def choices_of(kind: type) -> Any:
    """An instance of a class of `Choices`, made without arguments by default."""
    return choice(
        kind(), lambda name, value: check_type(name, value, kind, f"an instance of {kind.__name__}")
    )


def _count(name: str, value: object) -> int:
    return check_integer(name, value, high=_MOST)


def _positive(name: str, value: object) -> float:
    return check_number(name, value, 0, exclude_low=True)


def _sizes(name: str, value: object) -> tuple[int, ...]:
    sizes = check_type(name, value, (tuple, list), "a tuple of integers")
    return tuple(_count(name, size) for size in sizes)


def _or_none(check: Check) -> Check:
    return lambda name, value: None if value is None else check(name, value)
