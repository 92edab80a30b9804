"""Sphinx extension: makes the notebooks pages, with the outputs that were committed."""

import pathlib
from typing import Any

import sphinx.application


def copy(app: sphinx.application.Sphinx) -> None:
    """Copies notebooks to the other sources, and removes those that no longer exist.

    Links to `../docs/` lead to pages in a checkout; from the copies, these are in `../`.
    """
    source, target = app.srcdir.parent / "notebooks", app.srcdir / "notebooks"
    target.mkdir(exist_ok=True)
    found = {path.name: path for path in source.glob("*.ipynb")}
    for path in target.glob("*.ipynb"):
        if path.name not in found:
            path.unlink()
    for name, path in found.items():
        copied = pathlib.Path(target, name)
        text = path.read_text(encoding="utf-8").replace("](../docs/", "](../")
        if not copied.exists() or copied.read_text(encoding="utf-8") != text:
            copied.write_text(text, encoding="utf-8")


def setup(app: sphinx.application.Sphinx) -> dict[str, Any]:
    """Registers the extension."""
    app.connect("builder-inited", copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
