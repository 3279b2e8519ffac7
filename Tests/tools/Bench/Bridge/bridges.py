"""Compares `enroll mcp` with other bridges between stdio and Streamable HTTP: sign-ins and renewals at a strict
authorization server, messages, memory and time.

    scripts/bench-mcp [--only WORD]… [--contender NAME]… [--tries N] [--seconds N] [--documents N]

Prints a table. The results are kept in .build/bench-mcp/results.json, so a run of some rows completes an earlier run.
"""

import argparse
import functools
import json
import os
import re
import subprocess
import sys
import time

from parties import CONTENDERS, REAL, TOP, Provider
import renewing
import signing_in
import wire

RESULTS = TOP / ".build/bench-mcp/results.json"
PAGE = TOP / "docs/mcp-figures.md"
MARK = "<!-- figures: scripts/bench-mcp --record writes everything up to the next mark -->"
END = "<!-- end of the figures -->"
FEW = 3
ONE_TAB = re.compile(r"\b1 tabs\b")

#: The goal of each row.
GOALS = {
    "8 together, empty store": "1 tab, 1 reg, all ready within 2 s",
    "32 together, empty store": "1 tab, 1 reg, all ready within 2 s",
    "8 running, signed out at the server": "1 tab, 8 of 8",
    "step-up of 3 at once": "1 tab, 3 of 3",
    "step-up of 8 at once": "1 tab, 8 of 8",
    "kill -9 of the waiting process, 3 restarts": "1 tab, 0 dead",
    "kill -9 of the waiting group, 3 restarts": "1 tab, 0 dead",
    "sign-in that takes 70 s": "answered in words; then ready",
    "tab closed, a request after 130 s": "2 tabs",
    "callback with a wrong state": "404, goes on",
    "session lost by kill -9 of the process in the renewal": "0",
    "session lost by kill -9 of the group in the renewal": "0",
    "session lost by SIGTERM to the process in the renewal": "0",
    "session lost by SIGTERM to the group in the renewal": "0",
    "401 for 8, token endpoint takes 3 s": "8 of 8 within 3.5 s, 1 ren",
    "longest call in 30 s, 20 s tokens, token endpoint takes 3 s": "no wait",
    "token endpoint 503 twice, running": "answered, 0 tabs",
    "token endpoint 503 four times, start": "answered, 0 tabs",
    "authorization server forgot clients and tokens": "answered, 1 tab, 1 reg",
    "one answer of the token endpoint lost": "answered, 1 tab",
    "renewals sent by 8 for one refused refresh token": "1",
    "first answered tools/list, stored token": "≤ 30 ms over the server's own, ≤ 1/5 of the best",
    "first answered tools/list over TLS, no token": "≤ 1/5 of the best",
    "further requests before the first tools/list": "0",
    "RSS of an idle instance": "≤ 8 MiB",
    "RSS for each of 16 open streams": "≤ 1024 KiB",
    "one 40 MB answer": "≤ 0.8 s, ≤ 96 MiB",
    "one 40 MB request": "answered",
    "one 80 MB request": "an error, goes on",
    "ping beside a 3 s call": "≤ 20 ms over alone",
    "end of input in a call": "≤ 2 s, DELETE",
    "answer stream cut": "an error at once",
    "answer stream empty": "an error at once",
    "202 to a request": "an error at once",
    "random documents up to 100 deep, changed": "0, 0",
    "random documents up to 400 deep, changed": "0, 0",
}
STANDARD_GOALS = {"8 ×": "0 tabs, ≤ 2 for each lifetime, every call", "kill storm": "0 tabs, 0 reuse, every call",
                  "host that": "≤ +8 MiB"}  # fmt: skip


def read_arguments():
    parser = argparse.ArgumentParser(prog="bench-mcp")
    parser.add_argument(
        "--only", action="append", default=[], metavar="WORD", help="scenarios with this word in their name")
    parser.add_argument("--contender", action="append", choices=CONTENDERS, default=[])
    parser.add_argument("--tries", type=int, default=20, help="kills in a renewal, for each kind; of others 3")
    parser.add_argument("--seconds", type=int, default=60, help="of the long runs")
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument(
        "--record", action="store_true", help="only writes the table of the kept results into the page")
    parser.add_argument("--table", action="store_true", help="only prints the table of the kept results")
    return parser.parse_args()


def scenarios(arguments):
    """The scenarios, each with the contenders that take part: the contenders with a sign-in, or all."""
    signing = ("enroll", "mcp-remote", "mcp-stdio")
    seconds = arguments.seconds
    found = [(signing_in.eight_together, signing), (signing_in.crowd_together, ("enroll", "mcp-remote"))]
    found += [(scenario, signing) for scenario in (
        signing_in.signed_out, signing_in.step_up_three, signing_in.step_up_eight, signing_in.killed_while_waiting,
        signing_in.slow_person, signing_in.closed_tab, signing_in.wrong_state, signing_in.forgotten,
        signing_in.lost_answer, renewing.slow_endpoint, renewing.calls_beside, renewing.unavailable,
        renewing.one_refused, wire.first_answer)]  # fmt: skip
    found += [(scenario, CONTENDERS) for scenario in (
        wire.over_tls, wire.memory, wire.large_answer, wire.large_request, wire.ping_beside, wire.end_in_call,
        wire.broken_streams, wire.throughput, functools.partial(wire.unread, seconds=seconds))]  # fmt: skip
    for lifetime in (10, 60):
        found.append((functools.partial(renewing.soak, lifetime=lifetime, seconds=seconds), signing))
    found.append((functools.partial(renewing.storm, seconds=seconds), signing))
    # mcp-proxy does not take part: it sends its own requests to the server, with other ids.
    for name in signing:
        count = arguments.documents if name == "enroll" else min(arguments.documents, 500)
        for deepest in (100, 400):
            found.append((functools.partial(wire.bytes_unchanged, count=count, deepest=deepest), (name,)))
        tries = arguments.tries if name == "enroll" else FEW
        found.append((functools.partial(signing_in.killed_in_renewal, tries=tries), (name,)))
    return [(scenario, contenders) for scenario, contenders in found if is_wanted(name_of(scenario), arguments.only)]


def name_of(scenario):
    function = getattr(scenario, "func", scenario)
    more = "".join(f"-{value}" for value in getattr(scenario, "keywords", {}).values())
    return function.__name__ + more


def is_wanted(name, words):
    return not words or any(word in name for word in words)


def keep(rows, contender):
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for row, cell in rows.items():
        results.setdefault(row, {})[contender] = cell
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False))


def table():
    """The lines of the table of all kept results."""
    results = json.loads(RESULTS.read_text())
    columns = [name for name in CONTENDERS if any(name in cells for cells in results.values())]
    lines = ["| what | goal | " + " | ".join(columns) + " |", "| --- " * (len(columns) + 2) + "|"]
    order = list(GOALS)
    for row in sorted(results, key=lambda row: order.index(row) if row in order else len(order)):
        goal = GOALS.get(row) or next((goal for name, goal in STANDARD_GOALS.items() if row.startswith(name)), "")
        cells = [ONE_TAB.sub("1 tab", results[row].get(name, "-")) for name in columns]
        lines.append(f"| {row} | {goal} | " + " | ".join(cells) + " |")
    return lines


def record():
    """Writes the table into the page."""
    before, mark, rest = PAGE.read_text().partition(MARK)
    if not mark:
        sys.exit(f"{PAGE}: the mark of the figures is missing")
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=TOP, capture_output=True, text=True, check=True).stdout.strip()
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    text = [f"Measured {when}, commit {commit}, {os.cpu_count()} processors.", "", *table()]
    _, end, after = rest.partition(END)
    PAGE.write_text(before + mark + "\n" + "\n".join(text) + "\n" + end + after)


def main():
    arguments = read_arguments()
    if arguments.record:
        return record()
    if arguments.table:
        return print("\n".join(table()))
    if not REAL.is_dir():
        print(f"skipped: {REAL} is not there, so nothing is measured; ENROLLKIT_REAL names another folder")
        return None
    provider = Provider()
    for scenario, names in scenarios(arguments):
        for name in names:
            contender = CONTENDERS[name]
            if (arguments.contender and name not in arguments.contender) or not contender.is_there:
                continue
            begun = time.monotonic()
            print(f"{name_of(scenario)}, {name} (load {os.getloadavg()[0]:.1f}):", flush=True)
            try:
                rows = scenario(contender, provider)
            except Exception as error:  # noqa: BLE001: the other rows are measured all the same
                print(f"  {type(error).__name__}: {error}", flush=True)
                provider.restart()
                continue
            for row, cell in rows.items():
                print(f"  {row}: {cell}", flush=True)
            print(f"  {time.monotonic() - begun:.0f} s", flush=True)
            keep(rows, name)
    return print("", *table(), sep="\n")


if __name__ == "__main__":
    sys.exit(main())
