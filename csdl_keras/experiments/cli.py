"""The command `csdl-keras` for `python -m csdl_keras.experiments.cli`, and for Python."""

import sys

from csdl_keras_cli.main import main

if __name__ == "__main__":
    sys.exit(main())
