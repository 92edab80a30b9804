"""Default names of Keras objects."""

import re


def default_name(owner: object) -> str:
    """Returns the name of an object's class in snake case, such as `"sosr_loss"`.

    Keras' own default is numbered, so that the names of results would depend on what was made
    before.
    """
    parts = r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
    return re.sub(parts, "_", type(owner).__name__).lower()
