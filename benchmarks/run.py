"""Runs a benchmark and writes its results.

    python benchmarks/run.py peers --out benchmarks/results/peers
    python benchmarks/run.py tables --help

The benchmarks are `peers`, `tables`, `effort`, `calibration_maps`, `streams` and `speed`. Each
writes a CSV file row by row, from which a later call continues, and tables of its rows in Markdown,
including those that `docs/research` shows.
"""

import argparse
import importlib
import pathlib
import sys
import warnings

HERE = pathlib.Path(__file__).parent
#: The module of each benchmark. It has its columns `FIELDS`, `add_options(parser)`,
#: `measure(arguments, results)`, `table(rows)` and `guide_tables(rows)`.
BENCHMARKS = {name: name for name in ("peers", "tables", "effort", "calibration_maps")}
BENCHMARKS |= {"streams": "streams", "speed": "entries"}


def main(arguments: list[str] | None = None) -> None:
    """Runs the benchmark that the first argument names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="name", required=True)
    sys.path.append(str(HERE / "speed"))
    for name, module in BENCHMARKS.items():
        benchmark = importlib.import_module(module)
        command = commands.add_parser(name, help=benchmark.__doc__.splitlines()[0])
        command.add_argument("--out", type=pathlib.Path, required=True, help="folder of results")
        benchmark.add_options(command)
    options = parser.parse_args(arguments)
    from results import Results

    benchmark = importlib.import_module(BENCHMARKS[options.name])
    results = Results(options.out, options.name, benchmark.FIELDS)
    warnings.simplefilter("ignore")
    failed = benchmark.measure(options, results)
    rows = results.rows()
    results.report(benchmark.table(rows))
    for title, lines in benchmark.guide_tables(rows).items():
        results.write_table(title, lines)
    if failed:
        sys.exit(f"Failed: {failed}")


if __name__ == "__main__":
    main()
