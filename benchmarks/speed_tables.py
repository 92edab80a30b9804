"""Formats the measurements of speed in Markdown."""

import pathlib
import sys

from committed import read
from formats import markdown_table

BACKENDS = {"tensorflow": "TensorFlow", "jax": "JAX", "torch": "PyTorch"}

sys.path.append(str(pathlib.Path(__file__).parent / "speed"))
import agreement  # noqa: E402


def rows(run: str = "") -> list[dict[str, str]]:
    """Reads the rows of the first run, or of that in another folder."""
    return read("speed", f"speed/{run}")


def entries() -> list[str]:
    """Returns the names of what is measured."""
    return list(dict.fromkeys(row["entry"] for row in rows()))


def entry_table(entry: str, run: str = "") -> list[str]:
    """Formats the figures of an entry by backend, bold if the goal is met."""
    own = [row for row in rows(run) if row["entry"] == entry]
    if entry == "pareto":
        own = [row for row in own if not row["x"]]
    cells: dict = {}
    for row in own:
        spread = f" ({row['low']}–{row['high']})" if row["low"] != row["high"] else ""
        value = f"**{row['value']}**" if row["met"] == "yes" else row["value"]
        case = (row["case"], row["measure"])
        goals, values = cells.setdefault(case, ([], {}))
        goals += [row["goal"]] if row["goal"] and row["goal"] not in goals else []
        values[row["backend"]] = value + spread
    body = [
        [f"{case}: {measure}", *(values.get(name, "") for name in BACKENDS), "; ".join(goals)]
        for (case, measure), (goals, values) in cells.items()
    ]
    return markdown_table(["what", *BACKENDS.values(), "goal"], body)


def agreement_table() -> list[str]:
    """Formats the agreement of a second run of the measurements of speed with the first."""
    found = agreement.summary(rows(), rows("second"))
    return markdown_table(["entry", *agreement.FIELDS], found)


def goals_table() -> list[str]:
    """Formats how many goals each measurement meets, by backend."""
    body = []
    for entry in entries():
        cells = []
        for backend in BACKENDS:
            met = [
                row["met"] == "yes"
                for row in rows()
                if (row["entry"], row["backend"]) == (entry, backend) and row["goal"]
            ]
            cells.append(f"{sum(met)} of {len(met)}" if met else "–")
        if set(cells) != {"–"}:
            body.append([f"`{entry}`", *cells])
    return markdown_table(["goals met", *BACKENDS.values()], body)


def missed_table() -> list[str]:
    """Formats the figures whose goal is not met."""
    body = [
        [f"{row['case']}: {row['measure']}", BACKENDS[row["backend"]], row["value"], row["goal"]]
        for row in rows()
        if row["met"] == "no"
    ]
    return markdown_table(["what", "backend", "value", "goal"], body, left=2)
