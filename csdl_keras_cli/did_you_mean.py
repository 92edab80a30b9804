"""Suggestions for misspelt names."""

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Returns `" Did you mean 'csdnn'?"` for the closest name, or `""` if none is close."""
    lower = {one.lower(): one for one in reversed(list(known))}
    if name in lower.values():
        return ""
    # With difflib's default of 0.6, 'iris' would suggest 'digits'.
    close = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.65)
    return f" Did you mean {lower[close[0]]!r}?" if close else ""
