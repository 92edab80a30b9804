"""Measures in another process."""

import json
import os
import subprocess
import sys
from typing import Any


def printed(*arguments: str, **environment: str) -> Any:
    """Runs Python with these arguments and returns the JSON of the last line that it prints."""
    done = subprocess.run(
        [sys.executable, *arguments],
        check=True,
        stdout=subprocess.PIPE,
        env={**os.environ, **environment},
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1])
