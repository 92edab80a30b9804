"""The report on the map of when each stage is worth it: comparisons, tables, plots and chart."""

import itertools

import pytest


def rows(program):
    """Rows of all parts; SOSR costs twice and the CAE half as much as what they rival."""
    fields = program("worth_comparisons")
    cells = [
        ("model", name, 5000, hidden, 0.0, 1.0, "uniform", 1)
        for name, hidden in itertools.product(("mnist", "upsell"), ("linear", "256"))
    ]
    cells += [
        ("confidence", "mnist", 1250, "64", noise, 1.0, "uniform", beyond)
        for noise, beyond in itertools.product((0.0, 0.4), (1, 8))
    ]
    cells += [("labels", "mnist", size, "64x64", 0.0, 1.0, "uniform", 1) for size in (50, 10000)]
    made = []
    for cell, seed, matrix in itertools.product(cells, range(2), range(2)):
        factors = {"calibrated Bayes": 1.0, "Bayes": 1.0, "argmax": 1.5, "SOSR": 2.0}
        ways = ("none", "DAE on all", "CAE on all") if cell[0] == "labels" else ("none",)
        if cell[0] == "labels":
            factors = {"calibrated Bayes by likelihood": 1.0, "SOSR": 2.0}
        for (method, factor), way in itertools.product(factors.items(), ways):
            cost = (1 + seed + matrix) * factor * (0.5 if way.startswith("CAE") else 1.0)
            # Pairs differ by one percent, or intervals would have no width.
            cost *= 1.01 ** (seed - matrix) if method != "calibrated Bayes" else 1.0
            row = dict(zip(fields.CELL, cell, strict=True))
            row |= {"seed": seed, "matrix": matrix, "method": method, "pretraining": way}
            # By labels without the noise, SOSR costs half as much in place of twice as much.
            clean = cost / 4 if method == "SOSR" and row["noise"] else cost
            row |= {"average_cost": cost, "clean_cost": clean, "constant_cost": 9.0}
            row |= dict.fromkeys(("on_edge", "at_limit", "collapsed"), 0)
            row |= {
                "cost_scale": 1.0,
                "trials": 5,
                "seconds": 1.0,
                "overconfidence": 0.1,
                "error_rate": 0.2,
            }
            made.append({key: str(value) for key, value in (row | {"temperature": 1.0}).items()})
    return made


@pytest.fixture
def frame(program):
    return program("worth_comparisons").frame_of(rows(program))


class TestComparisons:
    def test_pairs_and_intervals(self, program, frame):
        module = program("worth_comparisons")
        costs = module.costs_of(frame[frame["part"] == "model"])
        found = module.compare(costs, "SOSR", "calibrated Bayes")
        # Two sets, two hidden layers, two seeds and two matrices; units are sets and seeds.
        assert (found.pairs, found.units, found.verdict) == (16, 4, 1)
        assert found.ratio.value == pytest.approx(2.0)
        # Two matrices of one seed share examples and networks, and give no interval.
        single = costs.query("set == 'mnist' and seed == 0")
        assert module.compare(single, "SOSR", "calibrated Bayes") is None
        found = module.compare(single, "SOSR", "calibrated Bayes", fewest=1)
        assert (found.pairs, found.units, found.verdict, found.p_value) == (4, 1, 0, 1.0)
        assert found.text() == f"{2 * 1.01**-0.5:.2f}"
        assert module.compare(costs, "Poisson", "Bayes") is None
        equal = module.compare(costs.assign(same=costs["Bayes"]), "same", "Bayes")
        assert equal.p_value == 1.0 and equal.verdict == 0

    def test_sets_with_other_numbers_of_classes_are_no_units_of_their_own(self, program):
        """They have the examples of the set that they are named after."""
        module = program("worth_comparisons")
        made = [row for row in rows(program) if row["part"] == "model" and row["set"] == "mnist"]
        made += [{**row, "set": "mnist in 2 classes"} for row in made]
        found = module.compare(module.costs_of(module.frame_of(made)), "SOSR", "calibrated Bayes")
        assert (found.pairs, found.units) == (16, 2)

    def test_rows_that_were_measured_twice_count_once(self, program, frame):
        again = program("worth_comparisons").frame_of(rows(program) * 2)
        assert len(again) == len(frame)

    def test_a_tally_counts_cells(self, program, frame):
        module = program("worth_comparisons")
        costs = module.costs_of(frame)
        won = module.tally(costs, "calibrated Bayes", "SOSR")
        assert (won.cells, won.less, won.below, won.above, len(won.sure)) == (8, 8, 8, 0, 8)
        lost = module.tally(costs, "SOSR", "calibrated Bayes")
        assert (lost.less, lost.below, lost.above) == (0, 0, 8)

    def test_conditions_in_words(self, program):
        module = program("worth_comparisons")
        values = ("ratio", "mnist", 2500.0, "linear", 0.4, 0.04, "1000", 8.0)
        assert module.words(dict(zip(module.CELL, values, strict=True))) == (
            "mnist, 2,500 labels, linear model, 40% label noise, a third of the classes with 4% of "
            "their examples, costs 1 to 1000, 8 times the best updates"
        )


def test_tables(program, frame):
    text = program("worth_table").report(frame)
    assert "## How wrong the model is" in text and "## How few the labels are" in text
    line = "| mnist, 5,000 labels, linear model | 2 | **1.50 (1.41–1.60)** | 1.00 (0.94–1.07) |"
    before, clean = text.split("## How few")[0].split("test labels without noise")
    assert line in text and "| **0.50 (" not in before and clean.count("| **0.50 (") == 1


def test_the_chart_says_what_the_ratios_say(program, frame):
    text = program("worth_chart").chart(frame)
    assert "| costs differ, all conditions | → use Bayes | Bayes / argmax | **0.67" in text
    assert "- **Use Bayes rather than argmax**. Bayes / argmax: 0.67 if costs differ, all" in text
    assert "- **Use calibrated Bayes rather than SOSR**. SOSR / calibrated Bayes: 2.00 if" in text
    assert "| tables, 64x64 units, 10,000 labels | not known: too few pairs |" in text
    assert "| the model is linear | → keep to calibrated Bayes | SOSR / calibrated Bayes" in text
    assert "| 50 to 10,000 labels | → use CAE on all | CAE on all / DAE on all | **0.50" in text
    assert "**SOSR against calibrated Bayes**: 6 comparisons" in text
    assert "No condition in which it wins was found among 6." in text
    by_clean_labels = "**SOSR against calibrated Bayes, by test labels without the noise**"
    (line,) = [line for line in text.splitlines() if by_clean_labels in line]
    assert "1 comparison, for one condition. The ratio is below 1 in 1, its interval in 1" in line
    # With one of the two sets collapsed, the last column is of the other one.
    collapsed = (frame["set"] == "upsell") & (frame["method"] == "SOSR")
    edge = ((frame["method"] == "SOSR") & (frame["seed"] == 0)).astype(int)
    flags = {"collapsed": collapsed.astype(int), "on_edge": edge}
    text = program("worth_chart").chart(frame.assign(**flags))
    line = next(it for it in text.splitlines() if it.startswith("| the model is linear"))
    on_edge = edge[(frame["hidden"] == "linear") & (frame["method"] == "SOSR")].sum()
    assert f"| 8 in 2 | 4 | {on_edge} | **2.00 (" in line and 0 < on_edge < 8


def test_of_many_conditions_those_that_stay_are_listed(program, frame, monkeypatch):
    module, comparisons = program("worth_chart"), program("worth_comparisons")
    found = comparisons.tally(comparisons.costs_of(frame), "calibrated Bayes", "SOSR")
    lines = module._list("calibrated Bayes against SOSR", found)
    assert len(lines) == 9 and "multiplied by 8, 8 stay below .05." in lines[0]
    monkeypatch.setattr(module, "MOST_LISTED", 7)
    lines = module._list("calibrated Bayes against SOSR", found._replace(sure=found.sure[:1]))
    assert len(lines) == 2 and "1 stays below .05. The others of the 8 are not" in lines[0]


def test_plots(program, frame, tmp_path):
    pytest.importorskip("matplotlib")
    module = program("worth_plots")
    drawn = {plot.name: module.draw(frame, plot) for plot in module.PLOTS}
    drawn["overconfidence"] = program("worth_scatter").draw_overconfidence(frame)
    empty = {name for name, figure in drawn.items() if figure is None}
    assert empty == {"ratio", "rare", "classes"}
    lines = {line.get_label(): line.get_color() for line in drawn["model"].axes[0].get_lines()}
    for name in drawn.keys() - empty:
        drawn[name].savefig(tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").stat().st_size > 10_000
    assert module.COLOURS["SOSR"] in lines.values()
