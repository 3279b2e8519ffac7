"""Runs the programs of the bench and reports their figures (scripts/bench)."""

import argparse
import os
import platform
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

import history
import page
import picture
from table import Malformed, Result, figure, goal, number, read_line, read_rows, shown, spread, verdict

TOP = Path(__file__).resolve().parents[3]
BENCH = "Tests/tools/Bench"
# The folder of these programs in earlier checkouts.
EARLIER = "Tests/Bench"
OUT = TOP / "build/bench"
HISTORY = TOP / "docs/performance-history.tsv"
PICTURE = TOP / "docs/performance.svg"
PAGE = TOP / "docs/performance.md"


def read_arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Measures beside what others do, in one run.")
    parser.add_argument("--only", metavar="WORD", help="only the programs with this in their name, or in a row of theirs")
    parser.add_argument("--before", metavar="TREE", type=Path, help="measure the build in this checkout in the same run; fail if ours is worse")
    parser.add_argument("--record", metavar="VERSION", help="keep the figures in docs, as those of this release")
    arguments = parser.parse_args()
    if arguments.record and arguments.only:
        parser.error("--record needs the whole table; leave out --only")
    if arguments.before and not folder_of(arguments.before).is_dir():
        parser.error(f"--before names a checkout of EnrollKit in which `make lib` was run; {arguments.before} has no {BENCH}")
    return arguments


def folder_of(tree):
    """The folder of the bench in a checkout."""
    return tree / (EARLIER if (tree / EARLIER).is_dir() else BENCH)


def measure(program, rows, tree):
    """The results of one program of a checkout, by row. If the program fails, the rows without a figure say so."""
    wanted = {what: row for what, row in rows.items() if row.program == program}
    results, why = {}, "not printed by its program"
    done = subprocess.run([sys.executable, "-B", folder_of(tree) / program], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        why = f"{program} failed"
    try:
        for line in done.stdout.splitlines():
            result = read_line(line, rows)
            results[result.row.what] = result
    except Malformed as fault:
        print(f"bench: {program}: {fault}", file=sys.stderr)
        why = f"{program} failed"
    missing = {what: Result(row, note=why) for what, row in wanted.items() if what not in results}
    return {**results, **missing}


def show(results):
    print()
    columns = [("what", lambda one: one.row.what), ("beside", lambda one: one.row.beside), ("ours", lambda one: shown(one.ours, one.unit)),
               ("theirs", lambda one: shown(one.theirs, one.unit)), ("figure", figure), ("quartiles", spread),
               ("goal", goal), ("", verdict)]  # fmt: skip
    cells = [[name for name, _ in columns]] + [[cell(one) for _, cell in columns] for one in results]
    widths = [max(map(len, column)) for column in zip(*cells)]
    for row in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    goals = [one.is_met for one in results if one.is_met is not None]
    print(f"\n{sum(goals)} of {len(goals)} goals are met")


def stamp():
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=TOP, capture_output=True, text=True).stdout.strip()
    now = datetime.now(timezone.utc)
    return now.date().isoformat(), commit or "-", f"{now:%Y-%m-%d %H:%M} UTC, commit {commit}, {os.cpu_count()} processors"


def measure_both(programs, rows, before):
    """The results of this checkout and, if it is given, of an earlier checkout; their programs run in alternation."""
    ours, theirs = {}, {}
    for program in programs:
        print(f"measuring: {program}", file=sys.stderr)
        ours.update(measure(program, rows, TOP))
        if before:
            theirs.update(measure(program, rows, before))
    return ours, theirs


def compare(results, earlier, rows, before):
    """Rows that are worse than in the earlier build. A row fails only if it is worse twice: both builds are measured
    again."""
    suspects = history.fallen(figures_of(earlier), results.values())
    again = dict.fromkeys(one.row.program for one, _ in suspects)
    new, old = measure_both(again, rows, before)
    for one, _ in suspects:
        results[one.row.what], earlier[one.row.what] = new[one.row.what], old[one.row.what]
    return history.fallen(figures_of(earlier), results.values())


def figures_of(results):
    return {what: one.kept for what, one in results.items() if one.kept is not None}


def report(lines, results, is_whole):
    """Prints how the figures differ from the last release. Another machine measured that release, so nothing fails."""
    for result, before in history.fallen(history.last(lines), results):
        print(f"worse than in the docs, which another machine measured: {result.row.what}: {number(before)}, now {number(result.kept)}")
    if is_whole:
        for what in history.missing(lines, results):
            print(f"no figure this time: {what}, which the last release has")


def write_out(results, text):
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "performance.svg").write_text(picture.draw(results, text))
    (OUT / "performance.md").write_text("\n".join(page.table(results)) + "\n")


def keep(version, lines, results):
    day, commit, text = stamp()
    lines = history.record(lines, version, day, commit, results)
    text = f"{version}, {text}"
    history.write(HISTORY, lines)
    PICTURE.write_text(picture.draw(results, text))
    PAGE.write_text(page.put(PAGE.read_text(), page.section(results, lines, text)))
    print(f"kept as {version} in docs/performance.md, docs/performance.svg and docs/performance-history.tsv")


def run():
    arguments = read_arguments()
    rows, lines = read_rows(), history.read(HISTORY)
    programs = dict.fromkeys(row.program for row in rows.values())
    if arguments.only:
        rows_of = {name: [what for what, row in rows.items() if row.program == name] for name in programs}
        programs = [name for name in programs if any(arguments.only in text for text in [name, *rows_of[name]])]
    results, earlier = measure_both(programs, rows, arguments.before)
    fallen = compare(results, earlier, rows, arguments.before)
    # The rows are in the order of the table; rows that the table does not name come last.
    ordered = [results[what] for what in [*rows, *(what for what in results if what not in rows)] if what in results]
    show(ordered)
    write_out(ordered, stamp()[2])
    if not arguments.record:
        report(lines, ordered, is_whole=not arguments.only)
    if arguments.before:
        for what in sorted(figures_of(results).keys() - figures_of(earlier).keys()):
            print(f"not compared: {what}, for which the build in {arguments.before} has no figure")
    for result, figure_before in fallen:
        print(f"worse by more than {history.SLACK:.0%} than the build in {arguments.before}: "
              f"{result.row.what}: {number(figure_before)}, now {number(result.kept)}")  # fmt: skip
    failed = dict.fromkeys(one.note for one in ordered if one.note.endswith((" failed", "by its program")))
    for note in failed:
        print(note)
    if arguments.record and not failed:
        keep(arguments.record, lines, ordered)
    return 1 if fallen or failed else 0


def main():
    try:
        return run()
    except Malformed as fault:
        return f"bench: {fault}"
