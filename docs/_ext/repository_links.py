"""Sphinx extension: makes links between included files lead to their pages."""

import pathlib
import re
from typing import Any

import sphinx.application

_PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "README.md": "index.md",
}


def rewrite(
    app: sphinx.application.Sphinx, path: pathlib.Path, docname: str, content: list[str]
) -> None:
    """Rewrites the targets of links in an included text, before it is read."""
    names = "|".join(map(re.escape, _PAGES))
    text = re.sub(rf"\]\(({names})", lambda it: f"]({_PAGES[it[1]]}", content[0])
    content[0] = re.sub(r"\]\(docs/", "](", text)


def setup(app: sphinx.application.Sphinx) -> dict[str, Any]:
    """Registers the extension."""
    app.connect("include-read", rewrite)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
