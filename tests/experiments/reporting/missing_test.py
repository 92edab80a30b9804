"""What the report says of results that are missing."""

import json
import shutil

import pytest

from csdl_keras.experiments.reporting.missing import absent_sets, missing_lines
from csdl_keras.experiments.reporting.render import read_contents, render_markdown, render_page
from csdl_keras.experiments.reporting.table import read_table
from csdl_keras.experiments.run_folder import read_run_records
from tests.experiments.reporting.made_up_folder import DATA, write_folder


@pytest.fixture
def folder(tmp_path):
    write_folder(tmp_path, DATA[:1])
    return tmp_path


def test_missing_results_are_named(folder, tmp_path):
    planned = {"csdnn": 3, "dnn_bayes": 5, "seae_bayes": 2}
    settings = {"datasets": ["mnist", "cifar10_imb"], "planned": planned}
    settings["unavailable"] = {"svhn": "No pixels."}
    (folder / "run.json").write_text(json.dumps({"runs": [{"settings": settings}]}))
    lines = missing_lines(read_table(folder), read_run_records(folder))
    still = "DNN Bayes (2 of 5 results), SEAE Bayes (2 of 2 results)"
    assert lines[0] == f"Still to run on MNIST: {still}."
    still = "Still to run on CIFAR-10, imbalanced: CSDNN (3 of 3 results), DNN Bayes (5 of 5"
    assert lines[1].startswith(still)
    assert lines[2] == "Not run, since its data were not at hand: SVHN. No pixels."
    rows = "SDAE blind, SDAE Bayes, SCAE Bayes, SDAE SOSR"
    assert lines.pop(3).startswith(f"Not run on MNIST: {rows}")
    # Of a set without any result all other rows are named.
    assert lines[3].startswith("Not run on CIFAR-10, imbalanced: DNN blind, SDAE blind")
    sets = "bg-img-rot; CIFAR-10; MNIST, imbalanced; bg-img-rot, imbalanced"
    assert lines[4:] == [f"Not run of the paper's data sets: {sets}."]
    contents = read_contents(shutil.copytree(folder, tmp_path / "copy"))
    assert lines[0] in render_page(contents)
    whys = dict(absent_sets(contents.table, contents.runs))
    assert whys["CIFAR-10, imbalanced"] == "still to run" and whys["CIFAR-10"] == "not run"
    assert whys["SVHN"] == whys["SVHN, imbalanced"] == "not run, its data were not at hand"
    assert "MNIST" not in whys and len(whys) == 7
    assert "| SVHN | not run, its data were not at hand | – |" in render_markdown(contents)
    assert '<td>SVHN</td><td class="number">not run, its data' in render_page(contents)


def test_fewer_seeds_than_others_had_are_missing(folder):
    """A network lacks the seeds that another one was asked for; a kernel machine needs one."""
    runs = [
        {"settings": {"datasets": ["mnist"], "planned": planned, "seeds": seeds}}
        for planned, seeds in (({"csdnn": 3, "csosr": 3}, 1), ({"dnn_bayes": 9}, 3))
    ]
    (still,) = [it for it in missing_lines(read_table(folder), runs) if "Still" in it]
    left = "CSDNN (6 of 9 results), DNN Bayes (6 of 9 results)"
    assert still == f"Still to run on MNIST: {left}."
