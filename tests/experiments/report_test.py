import configparser
import json
import pathlib
import sys

import pytest

from csdl_keras.experiments import reporting
from csdl_keras.experiments.commands.report import report
from tests.experiments.reporting.made_up_folder import DATA, RESULTS, write_csv, write_folder
from tests.experiments.reporting.page_parser import Page
from tests.support.fresh_process import REPOSITORY

FILES = ["report.html", "table2.md", "table2.tex", "figures/costs.png", "figures/beta_curve.png"]


class TestReport:
    def test_only_results(self, tmp_path):
        """A folder of `csdl-keras compare`: no decisions, no curves, a record of one run."""
        rows = [["digits", False, name, 1000, 0.0, 0.5, 400] for name in ("csdnn", "min")]
        write_csv(tmp_path / "results.csv", RESULTS, rows)
        (tmp_path / "run.json").write_text(json.dumps({"command": "csdl-keras compare"}))
        paths = report(tmp_path, tmp_path)
        assert [path.relative_to(tmp_path).as_posix() for path in paths] == FILES[:-1]
        page, markdown = (path.read_text() for path in paths[:2])
        texts = Page(page).texts
        assert "csdl-keras compare" in texts and "Cost by β" not in texts
        assert "nan" not in page.lower()  # though costs are 0
        assert "Nothing to compare" in markdown and "not known" in markdown

    def test_files_are_replaced_by_the_same(self, tmp_path):
        write_folder(tmp_path, data=DATA[:1])
        out = tmp_path / "out"
        paths = report(tmp_path, out)
        before = {path: path.read_bytes() for path in out.rglob("*.*")}
        assert sorted(before) == sorted(paths) == sorted(out / name for name in FILES)
        paths[0].write_text("old")
        report(tmp_path, out)
        assert {path: path.read_bytes() for path in out.rglob("*.*")} == before

    def test_wrong_folders(self, tmp_path):
        with pytest.raises(ValueError, match="Expected a folder of results"):
            report(tmp_path / "missing", tmp_path)
        with pytest.raises(ValueError, match="Expected the file .*results.csv"):
            report(tmp_path, tmp_path)
        write_folder(tmp_path, data=DATA[:1])
        (tmp_path / "file").write_text("precious")
        with pytest.raises(ValueError, match="Expected --out to be a folder that can be written"):
            report(tmp_path, tmp_path / "file")
        assert (tmp_path / "file").read_text() == "precious"
        (tmp_path / "run.json").write_text("{")
        with pytest.raises(ValueError, match="run.json"):
            report(tmp_path, tmp_path / "out")
        assert not (tmp_path / "out").exists()

    @pytest.mark.parametrize("package", ["jinja2", "matplotlib"])
    def test_a_missing_package_is_named_first(self, tmp_path, monkeypatch, package):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(ModuleNotFoundError, match=r"pip install 'csdl_keras\[compare\]'"):
            report(tmp_path / "missing", tmp_path)

    def test_files_of_the_report_are_installed_with_the_package(self):
        """Every file of the room but Python's, by the patterns of setup.cfg."""
        setup = configparser.ConfigParser()
        assert setup.read(REPOSITORY / "setup.cfg")
        patterns = setup["options.package_data"]["csdl_keras.experiments.reporting"].split()
        room = pathlib.Path(reporting.__file__).parent
        files = {path for path in room.rglob("*.*") if path.suffix not in (".py", ".pyc")}
        assert {path for pattern in patterns for path in room.glob(pattern)} == files
        assert len(files) == 5
