"""Chooses values for an algorithm on validation examples."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from csdl_keras.experiments.cell import Cell, Outcome
from csdl_keras.experiments.choice import Choice
from csdl_keras.experiments.files import CURVE_ALGORITHM, GridFiles
from csdl_keras.experiments.search import Search
from csdl_keras.training.settings import Settings

#: The choice whose curve over all its values is kept.
_BETA = "pretraining.beta"

Trial = tuple[Search, Choice]


@dataclasses.dataclass
class Choosing:
    """Makes the choices of an algorithm on a data set, one field after the other.

    Args:
        settings: the settings so far; each choice changes them.
        make: returns the cell that tries settings.
        run: runs cells, and leaves out those that fail.
        files: finds what was tried before, and keeps what is tried.
    """

    settings: Settings
    make: Callable[[Settings], Cell]
    run: Callable[[Iterable[Cell]], Iterator[Outcome]]
    files: GridFiles
    _tried: list[tuple[Choice, Settings]] = dataclasses.field(default_factory=list)

    def choose(self, searches: Sequence[Search]) -> Choice | None:
        """Chooses the value with the lowest figure on validation, and keeps all that was tried.

        Each search goes on beyond its values while its best one is at an edge. A value whose
        network collapsed is chosen only if all of them did.

        Args:
            searches: the searches, all of the same field.

        Returns:
            The record of the chosen value, or `None` if a value could not be tried.
        """
        found: list[Trial] = []
        waiting = [(search, value) for search in searches for value in search.values]
        while waiting:
            new = self._try(waiting, found)
            if len(new) < len(waiting):
                return None  # The runner has kept why.
            found += new
            waiting = [
                (search, value)
                for search in searches
                for value in [search.next_value(_values(found, search), _best(found, search).value)]
                if value is not None
            ]
        search, best = min(found, key=lambda trial: trial[1].rank)
        edge = search.edge(_values(found, search), best.value)
        chosen = dataclasses.replace(best, chosen=True, edge=edge)
        self._write(((it, chosen if one is best else one) for it, one in found), complete=True)
        self.settings = self.settings.replace(search.choices(best.value))
        return chosen

    @property
    def ranking(self) -> list[Settings]:
        """The chosen settings, then all others that did not diverge, the best first."""
        ordered = sorted(self._tried, key=lambda pair: pair[0].rank)
        others = [it for choice, it in ordered if choice.validation < float("inf")]
        return list(dict.fromkeys([self.settings, *others]))

    def _try(self, values: Sequence[tuple[Search, Any]], before: Sequence[Trial]) -> list[Trial]:
        """Returns a record for each value, unless it fails; each is on disk at once."""
        searches = {self._cell(search, value): (search, value) for search, value in values}
        found: dict[Cell, Trial] = {}
        for cell, (search, value) in searches.items():
            row = self.files.find("choices.csv", [cell])
            if row is not None and (not _on_curve(search, cell) or self.files.has_point(cell)):
                found[cell] = search, Choice.on_file(row, cell, search, value)
        for outcome in self.run([cell for cell in searches if cell not in found]):
            cell = outcome.cell
            search, value = searches[cell]
            found[cell] = search, Choice.of(outcome, search, value)
            if _on_curve(search, cell):
                self.files.write_point(outcome)
            self._write([*before, *found.values()], complete=False)
        self._tried += [(choice, cell.settings) for cell, (_, choice) in found.items()]
        return [found[cell] for cell in searches if cell in found]

    def _cell(self, search: Search, value: object) -> Cell:
        return self.make(self.settings.replace(search.choices(value)))

    def _write(self, trials: Iterable[Trial], complete: bool) -> None:
        cell = self.make(self.settings)
        choices = [choice for _, choice in trials]
        self.files.write_choices(cell.source, cell.algorithm.name, choices, complete)


def _values(trials: Iterable[Trial], search: Search) -> list[Any]:
    return [choice.value for it, choice in trials if it is search]


def _best(trials: Iterable[Trial], search: Search) -> Choice:
    return min((choice for it, choice in trials if it is search), key=lambda choice: choice.rank)


def _on_curve(search: Search, cell: Cell) -> bool:
    return (search.field, cell.algorithm.name) == (_BETA, CURVE_ALGORITHM)
