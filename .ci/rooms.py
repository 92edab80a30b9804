"""Prints the lines of each room of the package next to its budget in CONTRIBUTING.md."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROW = re.compile(r"^\| `(\w+)` \|(?: (\d+) \|)? (?:[\d,]+ → )?([\d,]+) \|", re.MULTILINE)


def lines(folder: Path) -> int:
    """Counts the lines of the Python files in a folder."""
    return sum(len(path.read_text().splitlines()) for path in folder.rglob("*.py"))


def main() -> None:
    """Prints a line for each room, marks those over their budget, and prints the sum."""
    budgets = {
        name: int(budget.replace(",", ""))
        for name, _, budget in ROW.findall((ROOT / "CONTRIBUTING.md").read_text())
    }
    package = ROOT / "csdl_keras"
    total = 0
    for name, budget in budgets.items():
        folder = ROOT / name if (ROOT / name).is_dir() else package / name
        number = lines(folder)
        total += number if name not in ("tests", "benchmarks") else 0
        over = "  over its budget" if number > budget else ""
        print(f"{name:16} {number:6,} of {budget:6,}{over}")
    door = sum(len(path.read_text().splitlines()) for path in package.glob("*.py"))
    print(f"{'package, command':16} {total + door:6,}")


if __name__ == "__main__":
    main()
