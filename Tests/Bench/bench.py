"""Runs the programs of the bench and says what came of it (scripts/bench)."""

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

TOP = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
OUT = TOP / "build/bench"
HISTORY = TOP / "docs/performance-history.tsv"
PICTURE = TOP / "docs/performance.svg"
PAGE = TOP / "docs/performance.md"


def read_arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Measures beside what others do, in one run.")
    parser.add_argument("--flavour", choices=("small", "standard"), default="small", help="of library and daemon; small")
    parser.add_argument("--only", metavar="WORD", help="only the programs with this in their name, or in a row of theirs")
    parser.add_argument("--record", metavar="VERSION", help="keep the figures in docs, as those of this release")
    arguments = parser.parse_args()
    if arguments.record and (arguments.only or arguments.flavour != "small"):
        parser.error("--record needs the whole table of the small flavour")
    return arguments


def measure(program, rows, flavour):
    """The results of one program, by row. If it fails, its rows without a figure say so."""
    wanted = {what: row for what, row in rows.items() if row.program == program}
    results, why = {}, "not printed by its program"
    done = subprocess.run(
        [sys.executable, "-B", HERE / program], stdout=subprocess.PIPE, text=True, env={**os.environ, "FLAVOUR": flavour})  # fmt: skip
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


def compare_with_last(lines, results, rows, flavour):
    """What fell back since the last release, each measured twice; tells of rows that were not measured."""
    suspects = history.fallen(lines, results.values())
    for program in dict.fromkeys(one.row.program for one, _ in suspects):
        print(f"measured again: {program}", file=sys.stderr)
        again = measure(program, rows, flavour)
        for one, _ in suspects:
            if one.row.program == program:
                results[one.row.what] = again[one.row.what]
    return history.fallen(lines, results.values())


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
    results = {}
    programs = dict.fromkeys(row.program for row in rows.values())
    if arguments.only:
        rows_of = {name: [what for what, row in rows.items() if row.program == name] for name in programs}
        programs = [name for name in programs if any(arguments.only in text for text in [name, *rows_of[name]])]
    for program in programs:
        print(f"measuring: {program}", file=sys.stderr)
        results.update(measure(program, rows, arguments.flavour))
    compared = lines if arguments.flavour == "small" and not arguments.record else []
    fallen = compare_with_last(compared, results, rows, arguments.flavour)
    # In the order of the table, then what it does not name.
    ordered = [results[what] for what in [*rows, *(what for what in results if what not in rows)] if what in results]
    show(ordered)
    write_out(ordered, stamp()[2])
    if compared and not arguments.only:
        for what in history.missing(compared, ordered):
            print(f"no figure this time: {what}, which the last release has")
    for result, before in fallen:
        print(f"fell back by more than {history.SLACK:.0%}: {result.row.what}: {number(before)}, now {number(result.kept)}")
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
