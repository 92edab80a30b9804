"""What the report says of searches, collapsed networks, twice the epochs and missing results."""

import numpy as np
import pytest

from csdl_keras.experiments.csv_files import read_rows
from csdl_keras.experiments.reporting.doubled import read_doubled
from csdl_keras.experiments.reporting.record_text import search_line, searched, setting
from csdl_keras.experiments.reporting.render import read_contents, render_markdown, render_page
from csdl_keras.experiments.reporting.searches import read_searches
from csdl_keras.experiments.reporting.table import read_table
from tests.experiments.reporting.made_up_folder import DATA, SEEDS, write_csv, write_folder

TRIALS = "dataset imbalanced algorithm cost_seed parameter value given collapsed chosen "
TRIALS += "train_seconds cell validation"


@pytest.fixture
def folder(tmp_path):
    write_folder(tmp_path, DATA[:1])
    return tmp_path


def change_decisions(folder, **changes):
    path = folder / "test_decisions" / "mnist.npz"
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **(arrays | changes))
    return arrays


def rows_of(folder):
    return read_rows(folder / "results.csv")


def write_rows(path, rows):
    write_csv(path, " ".join(rows[0]), [list(row.values()) for row in rows])


def test_several_ways_of_computing(folder):
    table = read_table(folder)
    plain = {"backend": "jax", "arguments": {"mixed_precision": "False"}, "machine": {"cores": 2}}
    on_gpu = plain | {"machine": {"accelerators": "H100"}}
    in_half = plain | {"arguments": {"mixed_precision": "True"}}
    assert "computed" not in setting(table, [], [plain, plain])
    assert setting(table, [], [on_gpu, in_half, plain, on_gpu]).endswith(
        "; computed in 3 ways: jax on H100, jax in bfloat16 on the processor, jax on the processor."
    )


def test_searches(folder):
    key = ("mnist", False, "csdnn", 1000)
    rows = [
        (*key, "learning_rate", 0.2, "optimizer_name=sgd", True, False, 1800, "b", 0.4),
        (*key, "learning_rate", 0.1, "optimizer_name=sgd", False, True, 1800, "a", 0.3),
        (*key, "learning_rate", 0.001, "optimizer_name=adam", False, False, 1800, "c", 0.3),
        (*key, "beta", 0.0, "", False, True, 1800, "a", 0.3),
        (*key, "beta", 1.0, "", False, False, 1800, "d", 0.3),
        (*key, "corruption", 0.25, "", False, False, 1800, "a", 0.3),
        (*key, "corruption", 0.4, "", False, True, 1800, "e", 0.3),
    ]
    write_csv(folder / "choices.csv", TRIALS, rows)
    (search,) = read_searches(folder)
    # The chosen rate is the lowest one of its optimizer; values of beta are the paper's.
    assert search_line(search) == ["CSDNN", "5", "2.50", "1", "1 of 1"]
    page = render_page(read_contents(folder))
    assert "5 trials of values on validation in 2.5 hours" in page
    assert "Chosen corruptions that are the highest of those, 0.4: 1 of 1." in page
    assert "Chosen corruptions" not in searched([])
    # Both rates come to the same decision, so that none of them is the better one.
    rows[0] = (*rows[0][:-1], 0.3)
    write_csv(folder / "choices.csv", TRIALS, rows)
    assert search_line(*read_searches(folder))[-1] == "1 of 1, 1 tied"


def test_collapsed_networks_are_marked(folder):
    """In the cells, in the notes and in what verdicts rest on."""
    arrays = change_decisions(folder)
    constant = np.zeros_like(arrays["labels"])
    change_decisions(folder, csdnn_1000=constant, **{"csdnn_1000_beta_0.4": constant})
    rows = rows_of(folder)
    for row in rows:
        if (row["algorithm"], row["cost_seed"]) == ("csdnn", "1000"):
            costs = arrays["matrix_1000"][arrays["labels"], constant]
            row["average_cost"] = costs.mean()
    write_rows(folder / "results.csv", rows)
    assert read_table(folder).columns[0].cell("csdnn").collapsed == 1
    contents = read_contents(folder)
    text = render_markdown(contents)
    assert "CSDNN on MNIST (1 of 3)" in text and "1 with a collapsed network" in text
    assert "Collapsed at β = 0.4" in render_page(contents)


def test_no_better_than_one_decision_on_test_examples_is_collapsed(folder):
    """Decisions that differ, but cost as much as the best single one; errors for blind ones."""
    arrays = change_decisions(folder)
    labels, matrix = arrays["labels"], arrays["matrix_1000"]
    single = matrix[labels].mean(axis=0).argmin()
    better, worse = np.full_like(labels, single), np.full_like(labels, single)
    others, own = np.flatnonzero(labels != single), np.flatnonzero(labels == single)
    better[others[0]] = labels[others[0]]
    worse[own[0]] = (single + 1) % len(matrix)
    rows = rows_of(folder)
    for decisions, expected in ((better, 0), (worse, 1)):
        change_decisions(folder, csdnn_1000=decisions)
        for row in rows:
            if (row["algorithm"], row["cost_seed"]) == ("csdnn", "1000"):
                row["average_cost"] = matrix[labels, decisions].mean()
        write_rows(folder / "results.csv", rows)
        assert read_table(folder).columns[0].cell("csdnn").collapsed == expected
    # One decision that is almost free costs less than networks that err less.
    matrix = 1 - np.eye(len(matrix))
    matrix[:, 0] *= 0.01
    arrays = change_decisions(folder, matrix_1000=matrix)
    for row in rows:
        if row["cost_seed"] == "1000":
            row["average_cost"] = matrix[labels, arrays[f"{row['algorithm']}_1000"]].mean()
    write_rows(folder / "results.csv", rows)
    cells = read_table(folder).columns[0].cells
    assert cells["dnn_blind"].collapsed == 0 and cells["dnn_bayes"].collapsed == 1


def test_betas_that_collapse_on_validation(folder):
    """The trials know of them; the claims about beta say so."""
    assert "with a collapsed" not in claims_about_beta(folder)[0].summary
    key = ("mnist", False, "csdnn", 1000, "beta")
    rows = [(*key, beta, "", beta == 0, beta == 0.4, 60, f"{beta}", 1) for beta in (0.0, 0.4, 1.0)]
    write_csv(folder / "choices.csv", TRIALS, rows)
    less_than_0, less_than_1 = claims_about_beta(folder)
    assert "1 with a collapsed network" in less_than_0.summary
    assert "with a collapsed" not in less_than_1.summary
    assert "Collapsed at β = 0:" in render_page(read_contents(folder))


def claims_about_beta(folder):
    return [it for it in read_contents(folder).claims if "some β" in it.statement]


def test_results_that_were_tried_again_are_named(folder):
    rows = [{**row, "tried_again": 0} for row in rows_of(folder)]
    rows[0]["tried_again"] = 2
    write_rows(folder / "results.csv", rows)
    text = render_markdown(read_contents(folder))
    assert "had collapsed on validation: DNN blind on MNIST (1 of 3)." in text


def test_several_seeds_are_one_cell(folder):
    rows = [{**row, "seed": 0} for row in rows_of(folder)]
    arrays = change_decisions(folder)
    always_right = {f"csdnn_{seed}_seed_1": arrays["labels"] for seed in SEEDS}
    change_decisions(folder, **always_right)
    more = [{**row, "seed": 1, "average_cost": 0.0} for row in rows if row["algorithm"] == "csdnn"]
    write_rows(folder / "results.csv", [*rows, *more])
    one_seed = [float(row["average_cost"]) for row in rows if row["algorithm"] == "csdnn"]
    cell = read_table(folder).columns[0].cell("csdnn")
    assert (cell.matrices, cell.seeds, cell.results) == (3, 2, 6)
    assert cell.cost == pytest.approx(np.mean(one_seed) / 2)
    assert "MNIST (n = 3 × 2)" in render_markdown(read_contents(folder))
    # Without the last training, a matrix has one seed, and counts as much as the others.
    write_rows(folder / "results.csv", rows_of(folder)[:-1])
    assert more[-1]["cost_seed"] == str(SEEDS[2])
    expected = (one_seed[0] / 2 + one_seed[1] / 2 + one_seed[2]) / 3
    assert read_table(folder).columns[0].cell("csdnn").cost == pytest.approx(expected)
    lines = render_markdown(read_contents(folder)).splitlines()
    (line,) = [line for line in lines if line.startswith("|  | CSDNN |")]
    assert f"{expected:.3f} ± " in line and "(n = 5 runs)" in line


def test_sizes_are_told_beside_those_of_the_paper(tmp_path):
    write_folder(tmp_path, [("mnist", False), ("bg_img_rot_synthetic", False)])
    small = {"mnist": "500-500-500", "bg_img_rot_synthetic": "3000-3000-3000"}
    rows = [{**row, "hidden_units": small[row["dataset"]]} for row in rows_of(tmp_path)]
    write_rows(tmp_path / "results.csv", rows)
    told = setting(read_table(tmp_path), [])
    assert (
        "3000-3000-3000, 500-500-500 (the paper's are 3000-3000-3000, as here on bg-img-rot" in told
    )
    assert "(the paper's sets have more: 60,000 of MNIST, 12,000 of bg-img-rot" in told
    assert "3 cost matrices, 1 training seed." in told


def test_few_matrices_have_no_standard_error(tmp_path):
    write_folder(tmp_path, DATA[:1], seeds=SEEDS[:2])
    assert np.isnan(read_table(tmp_path).columns[0].cell("csdnn").standard_error)


def test_twice_the_epochs(folder):
    """A verdict that the longer training turns is named."""
    assert read_doubled(folder) is None
    arrays = change_decisions(folder)
    names = ("dnn_bayes", "dnn_sosr")
    rows = [{**it, "epochs": 10} for it in rows_of(folder)]
    write_rows(folder / "results.csv", rows)
    first = [it for it in rows if it["algorithm"] in names and it["cost_seed"] == "1000"]
    write_rows(folder / "doubled.csv", [{**row, "epochs": 20} for row in first])
    same = {f"{name}_1000_doubled": arrays[f"{name}_1000"] for name in names}
    change_decisions(folder, **same)
    doubled = read_doubled(folder)
    assert (len(doubled.cells), doubled.claims, doubled.changed) == (2, 1, {})
    page = render_page(read_contents(folder))
    assert "On these cells alone no verdict changes, of 1 claim that they bear on." in page
    assert "Collapsed on validation" not in page
    # With twice the epochs SOSR is always right.
    change_decisions(folder, dnn_sosr_1000_doubled=arrays["labels"])
    better = [{**it, "average_cost": 0.0} if it["algorithm"] == "dnn_sosr" else it for it in first]
    better = [{**it, "collapsed": it["algorithm"] == "dnn_bayes"} for it in better]
    write_rows(folder / "doubled.csv", [{**row, "epochs": 20} for row in better])
    ((statement, verdicts),) = read_doubled(folder).changed.items()
    assert statement.startswith("algorithms of the SOSR series")
    assert verdicts == ("not supported", "supported")
    text = render_markdown(read_contents(folder))
    assert f"the verdict changes on: {statement}: from not supported to supported." in text
    changed = "Comparisons that end otherwise, of 1: DNN SOSR and DNN Bayes on MNIST (from"
    assert changed in text
    assert text.count("; on single cells not supported, with twice the epochs supported") == 1
    cost = float(first[0]["average_cost"])
    assert f"| DNN Bayes | 10 | {cost:.3f} | 20 | {cost:.3f}&#42; |" in text
    assert "| DNN SOSR | 10 |" in text and "| 20 | 0.000 |" in text
