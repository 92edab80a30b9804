"""Texts of files as readers see them."""


def visible(text: str) -> str:
    """A text with a space for each space or line break, and a mark for what has no shape.

    Control characters, halves of surrogate pairs and marks that turn the direction of
    writing would break a page, a table or an encoding.

    Example:

    >>> visible("two\\nlines\\x00")
    'two lines�'
    """
    return "".join(
        letter if letter.isprintable() else " " if letter.isspace() else "\N{REPLACEMENT CHARACTER}"
        for letter in text
    )
