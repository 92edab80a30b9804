"""Escapes text for Markdown and LaTeX, so that it is shown as it is and never read as markup."""

import re


def visible(text: str) -> str:
    """Replaces whitespace by spaces, and characters without a shape by a mark.

    Control characters, halves of surrogate pairs and marks that change the direction
    of writing would break a page, a table or an encoding.

    Example:

    >>> visible("two\\nlines\\x00")
    'two lines�'
    """
    return "".join(
        letter if letter.isprintable() else " " if letter.isspace() else "\N{REPLACEMENT CHARACTER}"
        for letter in text
    )


# Markdown may read these as emphasis, code, links, images, HTML, formulas or ends of cells, and
# turns web addresses into links. Underscores within words and brackets without a link are
# harmless, and stay readable in the file.
_MARKDOWN = re.compile(
    r"[\\`*<>&|~#$!@]|\](?=[\[(:])|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|:(?=//)|(?<=www)\."
)


def escape_markdown(text: str) -> str:
    """Escapes a text for use within a line or a table cell of Markdown.

    Character references are never markup, neither in text nor in HTML nor in tables.

    Example:

    >>> escape_markdown("a | *b*")
    'a &#124; &#42;b&#42;'
    """
    return _MARKDOWN.sub(lambda found: f"&#{ord(found[0])};", visible(text))


_LATEX = {
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "–": "--",
    "†": r"$^\dagger$",
    "‡": r"$^\ddagger$",
}


def escape_latex(text: str) -> str:
    """Escapes a text for LaTeX.

    Other characters than ASCII's become question marks, since not every font has them,
    except the signs that the report itself uses.

    Example:

    >>> escape_latex("50 % of {a_b}")
    '50 \\\\% of \\\\{a\\\\_b\\\\}'
    """
    return "".join(
        _LATEX.get(letter, letter if letter.isascii() else "?") for letter in visible(text)
    )
