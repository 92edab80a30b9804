"""Sphinx extension: links code that is a public name of the package to its page."""

import functools
import importlib
import inspect
import re
from typing import Any

import sphinx.application
from docutils import nodes
from public_names import modules, pages
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

_NAME = re.compile(r"(?:csdl_keras\.|csdl\.)?([A-Za-z]\w*(?:\.\w+)*)(?:\(\))?")
#: Names without a dot are linked unless they look like a variable or an argument.
_DISTINCT = re.compile(r"[A-Z]\w*[a-z]\w*|[A-Z]+|\w+_\w+")


@functools.cache
def _by_last_name() -> dict[str, set[str]]:
    """Returns the pages by the last part of their names."""
    found: dict[str, set[str]] = {}
    for name, page in pages().items():
        found.setdefault(name.rpartition(".")[2], set()).add(page)
    return found


def _documented_method(name: str) -> bool:
    """Returns whether the page of a class describes that method or property."""
    owner, _, method = name.rpartition(".")
    module, _, attribute = owner.rpartition(".")
    thing = getattr(importlib.import_module(module), attribute)
    found = vars(thing).get(method) if inspect.isclass(thing) else None
    found = getattr(found, "__func__", found)
    return (
        not method.startswith("_")
        and bool(isinstance(found, property) or inspect.isfunction(found))
        and bool(found.__doc__)
    )


@functools.cache
def target(text: str, near: str = "") -> str | None:
    """Returns the full name that a piece of code stands for, or `None` if it is not a public name.

    Args:
        text: the code, such as `costs.regret` or `SOSRLoss`.
        near: module whose own names come first.
    """
    match = _NAME.fullmatch(text)
    if not match:
        return None
    name, dotted = match[1], match[1] != text.removesuffix("()")
    full = f"csdl_keras.{name}"
    if near and f"{near}.{name}" in pages():  # A docstring means its neighbours.
        return pages()[f"{near}.{name}"]
    if full in pages():
        return pages()[full] if dotted or "." in name or _DISTINCT.fullmatch(name) else None
    if dotted and full in modules():
        return full
    first, _, rest = name.partition(".")
    candidates = _by_last_name().get(first, set())
    nearest = f"{near}.{first}"
    if pages().get(nearest) in candidates:
        candidates = {pages()[nearest]}
    if len(candidates) == 1 and (rest or _DISTINCT.fullmatch(first)):
        (page,) = candidates
        if not rest:
            return page
        return (
            f"{page}.{rest}" if "." not in rest and _documented_method(f"{page}.{rest}") else None
        )
    owner, _, method = full.rpartition(".")
    if owner in pages() and _documented_method(f"{pages()[owner]}.{method}"):
        return f"{pages()[owner]}.{method}"
    return None


class LinkedNames(SphinxTransform):
    """Turns literals that are public names into references."""

    default_priority = 400

    def apply(self, **kwargs: Any) -> None:
        for literal in list(self.document.findall(nodes.literal)):
            parents, node = [], literal.parent
            while node is not None:
                parents.append(node)
                node = node.parent
            if any(isinstance(it, nodes.reference | addnodes.pending_xref) for it in parents):
                continue
            desc = next((it for it in parents if isinstance(it, addnodes.desc)), None)
            module, arguments, own = "", set(), None
            if desc is not None:
                signature = desc.next_node(addnodes.desc_signature)
                module, own = signature.get("module") or "", signature.get("fullname")
                names = signature.findall(addnodes.desc_parameter)
                arguments = {it.astext().split("=")[0].split(":")[0].strip("*/ ") for it in names}
            text = literal.astext()
            found = None if text in arguments else target(text, module)
            if found is None or found == f"{module}.{own}":
                continue
            reference = addnodes.pending_xref(
                "",
                refdomain="py",
                reftype="obj",
                reftarget=found,
                refdoc=self.env.docname,
                refexplicit=True,
                refwarn=True,
            )
            literal.replace_self(reference)
            reference += literal


def setup(app: sphinx.application.Sphinx) -> dict[str, Any]:
    """Registers the extension."""
    app.add_transform(LinkedNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
