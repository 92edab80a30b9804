"""Files that are replaced as a whole."""

import pathlib


def replace_file(path: pathlib.Path, content: bytes) -> None:
    """Puts `content` in the place of a file, so that it holds the old or the new, never half."""
    unfinished = path.with_name(f"unfinished-{path.name}")
    unfinished.write_bytes(content)
    unfinished.replace(path)
