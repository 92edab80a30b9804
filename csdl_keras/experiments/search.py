"""Searches the values of a choice on validation, wider where the best one lies on the edge."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

#: Most values that a search adds on its own.
MOST_ADDED = 10


@dataclasses.dataclass(frozen=True)
class Search:
    """The values of one choice that are tried for an algorithm.

    Searches of the same field make one choice: the best value of all of them is taken.

    Args:
        field: the choice, by a name that `Settings.replace` takes.
        values: its values, in ascending order if the search `widens`.
        widens: whether values beyond the first or the last one are tried as long as the
            best one is at that edge, each by the factor between its two neighbours.
            Defaults to False, for values that are those of the paper.
        given: other choices that are made with each value. Defaults to none.

    Example:

    >>> search = Search("mlp.learning_rate", (0.01, 0.1), widens=True)
    >>> search.next_value([0.01, 0.1], best=0.1)
    1.0
    """

    field: str
    values: tuple[Any, ...]
    widens: bool = False
    given: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def choices(self, value: Any) -> dict[str, Any]:
        """Returns the choices that a value stands for, as `Settings.replace` takes them."""
        return {**self.given, self.field: value}

    def edge(self, tried: Sequence[Any], value: Any) -> str:
        """Returns `"low"` or `"high"` if a value is an end of those tried, `""` otherwise.

        Ends of a search that does not widen are no edges.
        """
        if not self.widens or min(tried) < value < max(tried):
            return ""
        return "low" if value == min(tried) else "high"

    def next_value(self, tried: Sequence[Any], best: Any) -> float | None:
        """Returns the value to try next, `None` if the best one has neighbours on both sides.

        Args:
            tried: the values tried so far, two at least if the search widens.
            best: the best of them.
        """
        edge = self.edge(tried, best)
        if not edge or len(tried) >= len(self.values) + MOST_ADDED:
            return None
        ordered = sorted(tried)
        low, high = ordered[:2] if edge == "low" else ordered[-2:]
        return float(f"{low * low / high if edge == 'low' else high * high / low:.6g}")
