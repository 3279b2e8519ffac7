"""The generated part of docs/performance.md: the figures of the last release, and of the releases before it."""

from history import versions
from table import Malformed, figure, goal, number, shown, verdict

BEGIN = "<!-- figures: scripts/bench --record writes everything up to the next mark -->"
END = "<!-- end of the figures -->"
#: The number of releases that the page shows; the history has all of them.
SHOWN = 5


def table(results):
    lines = ["| what | compared with | ours | theirs | figure | goal | |", "| --- | --- | --- | --- | --- | --- | --- |"]
    for one in results:
        cells = [one.row.what, one.row.beside, shown(one.ours, one.unit), shown(one.theirs, one.unit), figure(one),
                 goal(one), verdict(one)]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |".replace("  ", " "))
    return lines


def releases(lines):
    shown_versions = versions(lines)[-SHOWN:]
    head = [f"| what | {' | '.join(shown_versions)} |", f"| --- |{' --- |' * len(shown_versions)}"]
    figures = {(line.what, line.version): number(line.figure) for line in lines}
    names = dict.fromkeys(line.what for line in lines if line.version in shown_versions)
    return head + [f"| {what} | {' | '.join(figures.get((what, one), '') for one in shown_versions)} |" for what in names]


def section(results, lines, stamp):
    return "\n".join([BEGIN, f"Measured {stamp}.", "", *table(results), "", "### From release to release", "",
                      *releases(lines), END])  # fmt: skip


def put(text, new):
    """The page with its generated part replaced."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise Malformed(f"docs/performance.md lost the marks of its figures: {BEGIN} … {END}")
    return before + new + after
