"""Names that were probably meant in place of unknown ones."""

import argparse
import difflib
import re
from collections.abc import Iterable
from typing import NoReturn

#: Likeness from which on names are close; by difflib's default of 0.6, 'iris' is to 'digits'.
_CLOSE = 0.65


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Returns `" Did you mean 'csdnn'?"` for the closest known name.

    It returns `""` if no name is close, or if the name is a known one.

    Example:

    >>> did_you_mean("csdnm", ["csdnn", "dnn_sosr"])
    " Did you mean 'csdnn'?"
    """
    lower = {one.lower(): one for one in reversed(list(known))}
    if name in lower.values():
        return ""
    close = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=_CLOSE)
    return f" Did you mean {lower[close[0]]!r}?" if close else ""


class SuggestingParser(argparse.ArgumentParser):
    """Argument parser whose errors suggest the command, option or choice that was meant."""

    def error(self, message: str) -> NoReturn:
        """Prints the usage and the message with a suggestion, and exits with status 2."""
        choice = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
        option = re.search(r"unrecognized arguments: (-[^\s=]+)", message)
        if choice:
            message += did_you_mean(choice[1], re.findall(r"[\w.-]+", choice[2]))
        elif option:
            message += did_you_mean(option[1], self._options())
        super().error(message)

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        """Parses the arguments; those that no option takes are an error of this command.

        The parser of all commands would otherwise tell of them, with its own usage.
        """
        namespace, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return namespace, unknown

    def _options(self) -> list[str]:
        return [option for action in self._actions for option in action.option_strings]
