"""The known name that somebody meant who wrote another one."""

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Returns `" Did you mean 'csdnn'?"` for the name that was meant, `""` if none is close."""
    lower = {one.lower(): one for one in reversed(list(known))}
    if name in lower.values():
        return ""
    # By difflib's default of 0.6, 'iris' is close to 'digits'.
    close = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.65)
    return f" Did you mean {lower[close[0]]!r}?" if close else ""
