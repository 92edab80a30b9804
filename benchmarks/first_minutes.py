"""Records what `csdl-keras compare` shows in its first two minutes, and the seconds to a row.

    pip install pyte && python benchmarks/first_minutes.py

runs four comparisons, of the packaged digits, of a table with a cost matrix, of one with known
amounts, and of a folder of images, each on a terminal of 80 columns and in a pipe. It writes
`first_minutes.csv` with the seconds to the first row, to the first row of a model and to the end,
a row for each run, and the text of the first run of each to `results/first_minutes`. Nothing else
should run on the machine.
"""

import argparse
import codecs
import contextlib
import csv
import datetime
import fcntl
import os
import pathlib
import platform
import pty
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from importlib import metadata

import numpy as np
import pyte
from PIL import Image
from sklearn.datasets import load_breast_cancer, load_digits

OUT = pathlib.Path(__file__).parent / "results" / "first_minutes"
LINES, COLUMNS = 50, 80
#: Seconds at which the screen is written down.
MOMENTS = (2, 5, 10, 15, 30, 45, 60, 90, 120)
FIELDS = ["job", "shown", "run", "first_row", "first_model", "end", "cores", "date", "command"]
FIELDS += ["csdl_keras", "keras", "tensorflow", "scikit-learn", "python", "processor"]


def jobs(folder: pathlib.Path) -> dict[str, list[str]]:
    """Writes data of users to a folder; returns the arguments of each comparison."""
    frame = load_breast_cancer(as_frame=True).frame
    frame["target"] = frame["target"].map({0: "malignant", 1: "benign"})
    frame["amount"] = np.random.default_rng(0).lognormal(4, 1, len(frame)).round(2)
    frame.to_csv(folder / "patients.csv", index=False)
    (folder / "costs.csv").write_text(",malignant,benign\nmalignant,0,50\nbenign,5,0\n")
    digits = load_digits()
    for number, (image, label) in enumerate(zip(digits.images, digits.target, strict=True)):
        place = folder / "digits" / f"digit {label}"
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray((image * 255 / 16).astype("uint8")).save(place / f"{number}.png")
    table = ["--data", "patients.csv", "--label", "target"]
    known = ["--cost", "decide=benign,label=malignant: amount"]
    known += ["--cost", "decide=malignant,label=benign: 5"]
    return {
        "packaged": [],
        "table": [*table, "--drop", "amount", "--cost-matrix", "costs.csv"],
        "amounts": [*table, *known],
        "images": ["--data", "digits"],
    }


def recorded(command: list[str], folder: pathlib.Path, terminal: bool) -> tuple[str, dict]:
    """Runs a command; returns what it showed, and seconds."""
    ours, theirs = pty.openpty() if terminal else os.pipe()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
    if terminal:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    start = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, stdout=theirs, stderr=subprocess.STDOUT, env=environment
    )
    os.close(theirs)
    screen, decoder = pyte.Screen(COLUMNS, LINES), codecs.getincrementaldecoder("utf-8")("replace")
    stream, told, text, line = pyte.Stream(screen), [], "", ""
    moments, seconds = list(MOMENTS), dict[str, float]()
    while True:
        now = time.perf_counter() - start
        if terminal and moments and now >= moments[0]:
            told.append(f"--- after {moments.pop(0)} s\n{shown(screen)}")
        ready, _, _ = select.select([ours], [], [], 0.05)
        content = b""
        with contextlib.suppress(OSError):  # A terminal whose program has ended.
            content = os.read(ours, 65536) if ready else b"-"
        if not content:
            break
        if not ready:
            continue
        part = decoder.decode(content)
        stream.feed(part)
        text += part
        now = time.perf_counter() - start
        for name, words in (("first_row", "always "), ("first_model", "logistic  ")):
            if words in text.split("results in", 1)[-1] and name not in seconds:
                seconds[name] = round(now, 1)
        if not terminal and now <= MOMENTS[-1]:
            line += part
            *whole, line = line.split("\n")
            told += [f"{now:6.1f} s  {one}" for one in whole]
    process.wait()
    seconds["end"] = round(time.perf_counter() - start, 1)
    if terminal:
        told.append(f"--- at the end, after {seconds['end']} s\n{shown(screen)}")
    return "\n".join(told) + "\n", seconds


def shown(screen: pyte.Screen) -> str:
    """Returns the lines of a screen that are not empty at its end."""
    return "\n".join(line.rstrip() for line in screen.display).rstrip()


def main() -> None:
    """Runs the comparisons that are not in the file of results yet."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3, help="runs of each (default 3)")
    runs = parser.parse_args().runs
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / "first_minutes.csv"
    rows = list(csv.DictReader(path.open())) if path.exists() else []
    done = {(row["job"], row["shown"], int(row["run"])) for row in rows}
    with tempfile.TemporaryDirectory() as name, path.open("a", newline="") as file:
        folder, writer = pathlib.Path(name), csv.DictWriter(file, FIELDS)
        if not rows:
            writer.writeheader()
        for run in range(1, runs + 1):
            for job, arguments in jobs(folder).items():
                for where in ("terminal", "pipe"):
                    if (job, where, run) in done:
                        continue
                    program = [sys.executable, "-m", "csdl_keras_cli.main", "compare", *arguments]
                    text, seconds = recorded(program, folder, where == "terminal")
                    if run == 1:
                        (OUT / f"{job}_{where}.txt").write_text(text)
                    versions = {it: metadata.version(it) for it in FIELDS[9:13]}
                    row = {"job": job, "shown": where, "run": run, **seconds, **versions}
                    row |= {"cores": os.cpu_count(), "python": platform.python_version()}
                    row |= {"date": f"{datetime.date.today()}", "processor": platform.machine()}
                    row |= {"command": " ".join(["csdl-keras compare", *arguments])}
                    writer.writerow(row)
                    file.flush()
                    print(job, where, run, seconds, flush=True)


if __name__ == "__main__":
    main()
