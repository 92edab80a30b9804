"""The rules of `.ci/prose.toml` each find their bad sentence, and the texts are found in files."""

import importlib.util

import pytest

from tests.support.fresh_process import REPOSITORY

spec = importlib.util.spec_from_file_location("prose", REPOSITORY / ".ci" / "prose.py")
prose = importlib.util.module_from_spec(spec)
spec.loader.exec_module(prose)


@pytest.mark.parametrize("rule", prose.SETTINGS["rule"], ids=lambda rule: rule["bad"][:40])
def test_a_rule_finds_its_bad_sentence_and_no_good_one(rule):
    found = prose.hits([(1, rule["bad"])])
    assert rule["write"] in [advice for _, _, advice in found]
    assert prose.hits([(1, rule["good"])]) == []


def test_rules_work_across_lines_and_in_quotes():
    wrapped = 'First line.\n    The "cost in place\n    of accuracy" is shown.'
    assert [line for line, _, _ in prose.hits([(7, wrapped)])] == [8]


def test_no_more_than_40_hits_are_allowed():
    assert prose.SETTINGS["allowed"] <= 40


def test_few_messages_begin_with_expected():
    """Messages state the fact first; only where two values are meant do they compare them."""
    rooms = (REPOSITORY / name for name in ("csdl_keras", "csdl_keras_cli"))
    files = [path for room in rooms for path in room.rglob("*.py")]
    texts = [words for path in files for _, words in prose.python(path.read_text())]
    assert len(texts) > 1000
    assert sum(words.startswith("Expected ") for words in texts) <= 150


def test_markdown_without_its_code():
    text = "---\na: beside\n---\n# T\n\n```py\nbeside\n```\nText `beside`\n[a](beside.md).\n"
    assert prose.paragraphs(text) == [(4, "# T\n"), (9, "Text X\n[a]X.\n")]


def test_docstrings_comments_and_messages_of_python():
    text = '''"""A docstring of words."""

# A comment
# of two lines.
value = f"a message {of} two " "parts and" f" {more}"
short = "key"
'''
    assert sorted(prose.python(text)) == [
        (1, "A docstring of words."),
        (3, "A comment\nof two lines.\n"),
        (5, "a message X two parts and X"),
    ]
