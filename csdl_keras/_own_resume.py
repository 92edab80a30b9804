"""Training of a stage that goes on where it was killed, whatever became of its state."""

from typing import Any

from csdl_keras._array_file import DamagedFileError, OtherFitError
from csdl_keras.resume import Resume
from csdl_keras.stage_cache import warn_of_damage


class OwnResume(Resume):
    """Begins anew where the file is damaged or of another fit, with a warning.

    The file of a stage is the package's own: nobody else would delete it.
    """

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        try:
            super().on_train_begin(logs)
        # What a file of another version lacks is found missing in many ways.
        except (DamagedFileError, OtherFitError, LookupError, TypeError) as error:
            warn_of_damage(self.path, error)
            self.path.unlink(missing_ok=True)
            super().on_train_begin(logs)
