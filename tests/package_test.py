"""What the package says of itself: its version everywhere, and files that others read."""

import configparser
import re

import pytest
import yaml

import csdl_keras as csdl
from tests.support.fresh_process import REPOSITORY


def test_the_version_is_that_of_changelog_and_citation():
    changelog = (REPOSITORY / "CHANGELOG.md").read_text()
    unreleased, (version, date), *_ = re.findall(r"^## \[([\w.]+)\](?: - (\S+))?$", changelog, re.M)
    citation = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text())
    assert unreleased == ("Unreleased", "")
    assert version == citation["version"] == csdl.__version__
    assert date == str(citation["date-released"])


@pytest.mark.parametrize(
    "path", sorted((REPOSITORY / ".github").rglob("*.yml")), ids=lambda path: path.name
)
def test_files_of_github(path):
    content = yaml.safe_load(path.read_text())
    if path.parent.name == "workflows":
        steps = [step for job in content["jobs"].values() for step in job["steps"]]
        commands = " ".join(step.get("run", "") for step in steps)
        assert ".ci/run" in commands or "sphinx-build" in commands
    elif path.name != "config.yml":
        assert {"name", "description", "body"} <= set(content)
        fields = [field["id"] for field in content["body"]]
        assert len(fields) == len(set(fields)) > 0


def test_every_extra_is_named_where_it_is_explained():
    """No extra of setup.cfg is without a comment that says what it is for."""
    config = configparser.ConfigParser()
    config.read(REPOSITORY / "setup.cfg")
    lines = (REPOSITORY / "setup.cfg").read_text().splitlines()
    for extra in config["options.extras_require"]:
        assert lines[lines.index(f"{extra} =") - 1].startswith("# "), extra
