"""What makes KerasTuner's oracles go on where they were killed."""

import json
import pathlib
from typing import Any

from csdl_keras._replace_file import replace_file

COMPLETED = "COMPLETED"


class ResumableOracle:
    """Mixed into an oracle of KerasTuner, ahead of it.

    Files appear whole or not at all, and a trial that was finished when the
    search was killed, but not yet struck off the list of those under way, is
    not run again.
    """

    trials: dict[str, Any]

    def save(self: Any) -> None:
        """Writes the oracle's state."""
        write_json(self._get_oracle_fname(), self.get_state())

    def _save_trial(self: Any, trial: Any) -> None:
        folder = pathlib.Path(self._get_trial_dir(trial.trial_id))
        write_json(folder / "trial.json", trial.get_state())

    def reload(self: Any) -> None:
        """Reads the oracle's state and its trials; a ValueError if a file is damaged."""
        try:
            super().reload()  # type: ignore[misc]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"Expected the search beside {self._get_oracle_fname()} to be whole; received "
                f"damaged files ({type(error).__name__}: {error})."
            ) from error
        queue = dict.fromkeys(self._retry_queue)
        finished = [it for it in queue if self.trials[it].status == COMPLETED]
        self._retry_queue = [it for it in queue if it not in finished]
        for trial_id in finished:
            self.take_up(trial_id)

    def take_up(self, trial_id: str) -> None:
        """What is left to do for a trial that was finished but not struck off."""


def write_json(path: Any, state: Any) -> None:
    """Writes a JSON file that appears whole or not at all."""
    replace_file(pathlib.Path(path), json.dumps(state).encode())
