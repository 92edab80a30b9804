"""Runs proselint with the rules of `prose.toml` over documentation, comments and messages.

`python .ci/prose.py [PATH ...]` prints all hits, in the project by default; fails above `allowed`.
"""

import ast
import io
import json
import re
import subprocess
import sys
import tokenize
import tomllib
from bisect import bisect_right
from pathlib import Path

from proselint.checks import __register__
from proselint.registry import CheckRegistry
from proselint.registry.checks import Check, CheckFlags, engine, types
from proselint.tools import LintFile

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = tomllib.loads((ROOT / ".ci" / "prose.toml").read_text())
# Front matter, fenced code, examples, displayed formulas, comments, options of directives.
BLOCKS = r"(?ms)\A---\n.*?^---$|^( *)(`{3,}).*?^\1\2$|^ *(>>>|\.\.\.) .*?$|^\$\$.*?\$\$|<!--.*?-->"
BLOCKS += r"|^:[\w-]+:.*?$|^ *\.\. .*?$|^[^\n]*noqa[^\n]*$"
# Code, with the role before it; formulas; the targets of links.
SPANS = r"(?:\{[\w:]+\}|:[\w:]+:)?(`+)[^`](?:.|\n(?!\s*\n))*?\1|\$[^$\n]+\$|(?<=\])\([^)\s]+\)"
Unit = tuple[int, str]  # a paragraph and the number of its first line


def paragraphs(text: str, first: int = 1) -> list[Unit]:
    """Splits text at empty lines, with X for code and nothing for blocks of code."""
    for pattern, by in ((BLOCKS, ""), (SPANS, "X")):
        text = re.sub(pattern, lambda m, by=by: by + "\n" * m[0].count("\n"), text)
    found = re.finditer(r"(?:^.*\S.*\n?)+", text, re.M)
    return [(text.count("\n", 0, match.start()) + first, match[0]) for match in found]


def python(text: str) -> list[Unit]:
    """Returns the docstrings, the comments and the strings of several words."""
    comments = [""] * text.count("\n")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments[token.start[0] - 1] = token.string.lstrip("#: ")
    units = paragraphs("\n".join(comments))
    parts = set()  # of f-strings, which `ast.walk` yields after them
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.JoinedStr):
            parts |= {id(part) for child in node.values for part in ast.walk(child)}
            strings = [getattr(child, "value", "") for child in node.values]
            words = "".join(s if isinstance(s, str) else "X" for s in strings)
        else:
            words = node.value if isinstance(node, ast.Constant) else ""
        if isinstance(words, str) and words.count(" ") > 1 and id(node) not in parts:
            units += paragraphs(words, node.lineno)
    return units


def notebook(text: str) -> list[Unit]:
    """Returns the Markdown and the comments; the numbers are those of the cells."""
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(text)["cells"]]
    texts = ["\n\n".join(re.findall(r"(?m)^# (.*)$", s)) if t == "code" else s for t, s in cells]
    return [(n, words) for n, text in enumerate(texts, 1) for _, words in paragraphs(text)]


def configuration(text: str) -> list[Unit]:
    """Returns the comments and the longer strings of TOML, YAML, shell scripts and others."""
    lines = [re.search(r"# (.*)|[=,:] \"(.* .*)\"", line) for line in text.splitlines()]
    return paragraphs("\n".join(match[match.lastindex] if match else "" for match in lines))


READERS = {".md": paragraphs, ".rst": paragraphs, ".py": python, ".ipynb": notebook}


def register() -> dict[str, bool]:
    """Adds the rules to proselint's checks and returns the names of those to run."""
    for number, rule in enumerate(SETTINGS["rule"]):
        find = re.sub(r"^\^", "(?:¶ |[.!?;] )", rule["find"]).replace("[^", "[^¶")
        kind, path = types.ExistenceSimple(find.replace(" ", r"\s")), f"rule.{number}"
        check = Check(kind, engine.Fancy(), path, rule["write"], CheckFlags(allow_quotes=True))
        CheckRegistry().register(check)
    CheckRegistry().register_many(__register__)
    return {"rule": True, **dict.fromkeys(SETTINGS["proselint"], True)}


CHECKS = register()


def hits(units: list[Unit]) -> list[tuple[int, str, str]]:
    """Returns the line, the words around and the advice of each hit."""
    texts = [re.sub(r"(?:^|(?<=\n)) *|[ \t]+(?=\n)", "", words).strip() for _, words in units]
    linted = LintFile("", "\n¶\n".join(["", *(re.sub(" +", " ", words) for words in texts)]))
    starts = [match.end() for match in re.finditer("¶\n", linted.content)]
    found = []
    for result in linted.lint({"max_errors": 10_000, "checks": CHECKS}) if starts else []:
        start, end = result.check_result.span
        unit = bisect_right(starts, end - 1) - 1
        line = units[unit][0] + linted.content.count("\n", starts[unit], start)
        around = linted.content[max(start - 40, starts[unit]) : end + 40].split("¶")[0].split()
        found.append((line, " ".join(around), result.check_result.message))
    return sorted(found)


def main() -> None:
    """Prints the hits in the files named as arguments, or in the whole project."""
    names = ["*.md", "*.rst", "*.py", "*.ipynb", "*.toml", "*.cfg", "*.yml", ".ci/run"]
    listed = subprocess.check_output(["git", "ls-files", *names], cwd=ROOT, text=True).split()
    read = [ROOT / name for name in listed if not name.startswith(tuple(SETTINGS["skip"]))]
    count = 0
    for path in map(Path, sys.argv[1:] or read):
        for line, around, advice in hits(READERS.get(path.suffix, configuration)(path.read_text())):
            count += 1
            print(f"{path}:{line}: {around}\n    write {advice}")
    print(f"{count} hits; {SETTINGS['allowed']} are allowed.")
    sys.exit(count > SETTINGS["allowed"])


if __name__ == "__main__":
    main()
