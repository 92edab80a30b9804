import configparser
import fnmatch
import json
import pathlib
import sys

import numpy as np
import pytest

from csdl_keras.experiments import reporting
from csdl_keras.experiments.commands.report import report
from tests.experiments.reporting.made_up_folder import DATA, write_folder
from tests.experiments.reporting.page_parser import Page
from tests.experiments.results_test import make_result
from tests.support.fresh_process import REPOSITORY

image = pytest.importorskip("matplotlib.image")

FILES = ["report.html", "table2.md", "table2.tex", "figures/costs.png", "figures/beta_curve.png"]


class TestReport:
    def test_only_results(self, tmp_path):
        """A folder of `csdl-keras compare`: no decisions, no curves, a record of one run."""
        results = [make_result(name, seed) for name in ("csdnn", "min") for seed in (1000, 1001)]
        names = list(vars(results[0]))
        lines = [",".join(str(getattr(result, name)) for name in names) for result in results]
        (tmp_path / "results.csv").write_text("\n".join([",".join(names), *lines]) + "\n")
        (tmp_path / "run.json").write_text(json.dumps({"command": "csdl-keras compare"}))
        paths = report(tmp_path, tmp_path)
        assert [path.relative_to(tmp_path).as_posix() for path in paths] == FILES[:-1]
        texts = Page(paths[0].read_text()).texts
        assert "csdl-keras compare" in texts and "Cost by β" not in texts
        assert "Nothing to compare" in paths[1].read_text()
        assert "not known" in paths[1].read_text()

    def test_costs_of_zero(self, tmp_path):
        write_folder(tmp_path, data=DATA[:1], errors={"csdnn": 0.0, "dnn_sosr": 0.5})
        page, *_ = report(tmp_path, tmp_path / "out")
        assert "nan" not in page.read_text().lower()

    def test_files_are_replaced_and_nothing_is_left_over(self, tmp_path):
        write_folder(tmp_path, data=DATA[:1])
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "report.html").write_text("old")
        report(tmp_path, tmp_path / "out")
        found = [
            p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*.*")
        ]
        assert sorted(found) == sorted(FILES)
        assert (tmp_path / "out" / "report.html").read_text() != "old"

    def test_the_same_again(self, tmp_path):
        write_folder(tmp_path, data=DATA[:1])
        first, second = (report(tmp_path, tmp_path / name) for name in "ab")
        for one, two in zip(first[:3], second[:3], strict=True):
            assert one.read_text() == two.read_text()
        assert np.array_equal(image.imread(first[3]), image.imread(second[3]))

    def test_a_folder_that_is_none(self, tmp_path):
        with pytest.raises(ValueError, match="Expected a folder of results"):
            report(tmp_path / "missing", tmp_path)
        with pytest.raises(ValueError, match="Expected the file .*results.csv"):
            report(tmp_path, tmp_path)

    def test_out_cannot_be_written(self, tmp_path):
        write_folder(tmp_path, data=DATA[:1])
        (tmp_path / "file").write_text("precious")
        with pytest.raises(ValueError, match="report's folder to be one that can be written"):
            report(tmp_path, tmp_path / "file")
        assert (tmp_path / "file").read_text() == "precious"

    def test_nothing_is_written_for_wrong_results(self, tmp_path):
        write_folder(tmp_path)
        (tmp_path / "run.json").write_text("{")
        with pytest.raises(ValueError, match="run.json"):
            report(tmp_path, tmp_path / "out")
        assert not (tmp_path / "out").exists()

    @pytest.mark.parametrize("package", ["jinja2", "matplotlib"])
    def test_a_missing_package_is_named_before_anything_is_written(
        self, tmp_path, monkeypatch, package
    ):
        write_folder(tmp_path, data=DATA[:1])
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(ModuleNotFoundError, match=r"pip install 'csdl_keras\[compare\]'"):
            report(tmp_path, tmp_path / "out")
        assert not (tmp_path / "out").exists()

    def test_files_of_the_report_are_installed_with_the_package(self):
        """Every file of the room but Python's, by the patterns of setup.cfg."""
        setup = configparser.ConfigParser()
        assert setup.read(REPOSITORY / "setup.cfg")
        patterns = setup["options.package_data"]["csdl_keras.experiments.reporting"].split()
        room = pathlib.Path(reporting.__file__).parent
        files = [path for path in room.rglob("*.*") if path.suffix not in (".py", ".pyc")]
        assert len(files) == 5
        for path in files:
            name = path.relative_to(room).as_posix()
            assert any(fnmatch.fnmatch(name, pattern) for pattern in patterns), name
