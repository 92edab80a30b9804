"""Sphinx extension: renders formulas as MathML, which browsers draw without a script."""

from typing import Any

import latex2mathml.converter
import sphinx.application
from docutils import nodes
from sphinx.writers.html5 import HTML5Translator


def inline(translator: HTML5Translator, node: nodes.math) -> None:
    """Writes a formula within a line."""
    translator.body.append(latex2mathml.converter.convert(node.astext()))
    raise nodes.SkipNode


def block(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Writes a displayed formula."""
    formula = latex2mathml.converter.convert(node.astext(), display="block")
    translator.body.append(f'<div class="math">{formula}</div>')
    raise nodes.SkipNode


def setup(app: sphinx.application.Sphinx) -> dict[str, Any]:
    """Registers the extension."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
