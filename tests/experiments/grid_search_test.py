"""The searches of a grid: they widen, and leave networks that collapsed."""

import dataclasses
import shutil

from csdl_keras.experiments.cell import Outcome
from csdl_keras.experiments.search import MOST_ADDED, Search
from tests.experiments.grid_runs import SHORT, read, run


class TestCollapsed:
    """Networks that decide for one class alone."""

    def test_another_choice_is_taken_and_tried(self, tmp_path, monkeypatch):
        """Where the chosen learning rate collapses with one matrix, the next one is tried."""
        searches = (Search("mlp.learning_rate", (0.01, 0.1, 0.5)),)
        profile = dataclasses.replace(
            SHORT, algorithms=("dnn_bayes",), searches=searches, cost_seeds=2
        )
        run(tmp_path / "before", profile)
        rows = read(tmp_path / "before", "choices.csv")
        order = sorted(rows, key=lambda row: (row["collapsed"], float(row["validation"])))
        best, second = (float(row["value"]) for row in order[:2])
        collapses = {(best, 1001), (order[2]["value"], 1000)}

        def collapsed(outcome):
            cell = outcome.cell
            return (cell.settings.mlp.learning_rate, cell.cost_seed) in collapses

        monkeypatch.setattr(Outcome, "collapsed", property(collapsed))
        run(tmp_path / "after", profile, cache=tmp_path / "before" / "stages")
        found = [
            (float(row["learning_rate"]), row["tried_again"], row["collapsed"])
            for row in read(tmp_path / "after")
        ]
        assert found == [(best, "0", "False"), (second, "1", "False")]

    def test_twice_the_epochs_follow_the_choice_of_the_result(self, tmp_path, monkeypatch):
        searches = (Search("mlp.learning_rate", (0.01, 0.1)),)
        profile = dataclasses.replace(SHORT, algorithms=("dnn_bayes",), searches=searches)
        run(tmp_path / "before", profile)
        (before,) = read(tmp_path / "before")
        chosen = float(before["learning_rate"])
        choosing = [True]

        def collapsed(outcome):
            rate = outcome.cell.settings.mlp.learning_rate
            return rate == chosen and not (choosing and choosing.pop())

        monkeypatch.setattr(Outcome, "collapsed", property(collapsed))
        run(tmp_path / "after", profile, cache=tmp_path / "before" / "stages", doubled=True)
        (result,) = read(tmp_path / "after")
        (double,) = read(tmp_path / "after", "doubled.csv")
        assert float(result["learning_rate"]) != chosen
        assert double["learning_rate"] == result["learning_rate"]

    def test_all_collapse(self, tmp_path):
        """Then the first choice stays, and says so."""
        settings = SHORT.settings.replace({"mlp.learning_rate": 1e-9})
        searches = (Search("mlp.learning_rate", (1e-9, 1e-8), widens=True),)
        profile = dataclasses.replace(
            SHORT, algorithms=("dnn_blind",), settings=settings, searches=searches
        )
        run(tmp_path, profile)
        (row,) = read(tmp_path)
        assert row["collapsed"] == "True" and row["tried_again"] == "0"
        assert {row["collapsed"] for row in read(tmp_path, "choices.csv")} == {"True"}

    def test_collapsed_on_test_examples_alone(self, tmp_path, monkeypatch):
        """The result says so, but nothing else is tried, since test examples choose nothing."""
        settings = SHORT.settings.replace({"mlp.learning_rate": 1e-9})
        profile = dataclasses.replace(SHORT, algorithms=("dnn_bayes",), settings=settings)
        monkeypatch.setattr(Outcome, "collapsed", property(lambda outcome: False))
        run(tmp_path, profile)
        (row,) = read(tmp_path)
        assert row["collapsed"] == "True" and row["tried_again"] == "0"


def test_searches_widen_until_the_best_value_has_neighbours(tmp_path):
    searches = (
        Search("mlp.learning_rate", (1e-4, 1e-3), True, {"mlp.optimizer_name": "sgd"}),
        Search("mlp.learning_rate", (1e-5, 1e-4), True, {"mlp.optimizer_name": "adam"}),
    )
    profile = dataclasses.replace(SHORT, algorithms=("dnn_blind",), searches=searches)
    run(tmp_path, profile)
    rows = read(tmp_path, "choices.csv")
    (chosen,) = [row for row in rows if row["chosen"] == "True"]
    for given in ("optimizer_name=sgd", "optimizer_name=adam"):
        own = [row for row in rows if row["given"] == given]
        values = sorted(float(row["value"]) for row in own)
        assert 2 < len(values) <= 2 + MOST_ADDED
        if chosen in own:
            inside = values[0] < float(chosen["value"]) < values[-1]
            assert (chosen["edge"] == "") == inside
    assert len({row["cell"] for row in rows}) == len(rows)


def test_a_search_that_grew_keeps_what_it_added_before(tmp_path):
    """Values beyond the first ones are found in CSV files, too, after others were tried."""
    sgd = Search("mlp.learning_rate", (1e-4, 1e-3), True, {"mlp.optimizer_name": "sgd"})
    adam = Search("mlp.learning_rate", (1e-5, 1e-4), True, {"mlp.optimizer_name": "adam"})
    profile = dataclasses.replace(SHORT, algorithms=("dnn_blind",), searches=(sgd,))
    run(tmp_path / "before", profile)
    before = read(tmp_path / "before", "choices.csv")
    assert len(before) > len(sgd.values)
    shutil.copytree(tmp_path / "before", tmp_path / "after", ignore=lambda *_: ["stages"])
    watcher = run(tmp_path / "after", dataclasses.replace(profile, searches=(sgd, adam)))
    rows = read(tmp_path / "after", "choices.csv")
    assert {row["cell"] for row in before} < {row["cell"] for row in rows}
    assert watcher.trained == sum(row["given"] == "optimizer_name=adam" for row in rows)
