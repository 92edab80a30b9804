"""Sphinx extension: converts docstrings from Markdown, as in Keras, to reStructuredText."""

import re
import sys
from typing import Any

import sphinx.application
from example_imports import add_imports
from sphinx.pycode import ModuleAnalyzer

_CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_LINK = re.compile(r"\[([^\]]+)\]\((https?://[^)\s]+)\)")


def _inline(text: str) -> str:
    """Converts the code and links of a paragraph."""
    parts = _CODE.split(text)
    for i in range(0, len(parts), 2):
        plain = re.sub(r"(\w)_\b(?!\w)", r"\1\\_", parts[i]).replace("|", r"\|")
        parts[i] = _LINK.sub(r"`\1 <\2>`__", plain)
        if i and parts[i][:1].isalnum():  # A literal must not end within a word.
            parts[i] = "\\ " + parts[i]
    for i in range(1, len(parts), 2):
        parts[i] = f"``{parts[i].strip()}``"
    return "".join(parts)


def _fenced(lines: list[str]) -> list[str]:
    """Converts a block of code in fences."""
    first = lines[0]
    indent = first[: len(first) - len(first.lstrip())]
    language = first.strip().strip("`") or "text"
    return [f"{indent}.. code-block:: {language}", "", *(f"    {it}" for it in lines[1:-1]), ""]


def _table(lines: list[str]) -> list[str]:
    """Converts a table."""
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    made = [f"{indent}.. list-table::", f"{indent}    :header-rows: 1", ""]
    for i, line in enumerate(lines):
        if i != 1:
            cells = [_inline(cell.strip()) for cell in line.strip().strip("|").split("|")]
            made += [f"{indent}    {'* -' if not j else '  -'} {it}" for j, it in enumerate(cells)]
    return [*made, ""]


def _paragraph(lines: list[str]) -> list[str]:
    """Converts a paragraph; a list in it becomes a paragraph of its own."""
    if not lines:
        return []
    if [line.strip() for line in lines] == ["Example:"]:  # Napoleon needs an indented text.
        return [".. rubric:: Example"]
    made: list[str] = []
    for line in _inline("\n".join(lines)).split("\n"):
        is_item = line.lstrip().startswith("- ")
        if is_item and made and not made[-1].lstrip().startswith("- "):
            indent = len(line) - len(line.lstrip())
            if len(made[-1]) - len(made[-1].lstrip()) == indent:
                made.append("")
        made.append(line)
    return made


_BLOCKS = (
    # Each kind of block has a pattern for its first line, one for its end, and a conversion.
    (re.compile(r"\s*```"), re.compile(r"\s*```\s*$"), _fenced),
    (re.compile(r"\s*>>> "), re.compile(r"\s*$"), list),
    (re.compile(r"\s*\|"), re.compile(r"(?!\s*\|)"), _table),
)


def converted(lines: list[str]) -> list[str]:
    """Converts the lines of a docstring from Markdown to reStructuredText."""
    made: list[str] = []
    text: list[str] = []
    i = 0
    while i < len(lines):
        block = next((it for it in _BLOCKS if it[0].match(lines[i])), None)
        if block is None:
            if lines[i].strip():
                text.append(lines[i])
            else:
                made += [*_paragraph(text), ""]
                text = []
            i += 1
            continue
        made, text = made + _paragraph(text), []
        _, ends, convert = block
        end = i + 1
        while end < len(lines) and not ends.match(lines[end]):
            end += 1
        end += convert is _fenced
        made += convert(lines[i:end])
        i = end
    return made + _paragraph(text)


def _without_type(line: str) -> str:
    """Breaks a line before its colon, since napoleon would read the words before it as a type."""
    return re.sub(r"^(\s*)(\S*[^\s:]) (?=.*:)", r"\1\2\n\1", line)


def untyped(what: str, lines: list[str]) -> list[str]:
    """Keeps napoleon from finding types in sentences."""
    starts = [0] if what in ("attribute", "data", "property") else []
    starts += [i + 1 for i, line in enumerate(lines[:-1]) if line.strip() == "Returns:"]
    broken = [_without_type(it) if i in starts else it for i, it in enumerate(lines)]
    return "\n".join(broken).split("\n")


def comment_of(thing: object, name: str) -> list[str]:
    """Returns the `#:` comment of a constant from the module that defines it."""
    for module in [it for it in sys.modules if it.startswith("csdl_keras.")]:
        if vars(sys.modules[module]).get(name) is not thing:
            continue
        found = ModuleAnalyzer.for_module(module).find_attr_docs().get(("", name))
        if found:
            return list(found)
    return []


def process(
    app: sphinx.application.Sphinx,
    what: str,
    name: str,
    thing: object,
    options: object,
    lines: list[str],
) -> None:
    """Converts a docstring in place."""
    if what == "data":
        lines[:] = comment_of(thing, name.rpartition(".")[2]) or lines
    lines[:] = converted(untyped(what, add_imports(thing, lines)))


def setup(app: sphinx.application.Sphinx) -> dict[str, Any]:
    """Registers the extension: before napoleon, which reads what is left of the sections."""
    app.connect("autodoc-process-docstring", process, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
