"""The figures of the releases: a file with one line for each figure (docs/performance-history.tsv), and the figures
that are worse than in the last release.

Only ratios, sizes and counts are kept: a plain time depends on the machine.
"""

from dataclasses import dataclass
from datetime import date

from table import Malformed

COLUMNS = ["date", "version", "commit", "what", "figure"]
#: How much worse a figure may get, because the rounds of a run vary.
SLACK = 0.10


@dataclass(frozen=True)
class Line:
    date: str
    version: str
    commit: str
    what: str
    figure: float


def read(path):
    """The lines of the history, oldest first; empty if there is no file."""
    if not path.exists():
        return []
    lines = []
    for number, text in enumerate(path.read_text().splitlines(), 1):
        parts = text.split("\t")
        if number == 1:
            if parts != COLUMNS:
                raise Malformed(f"{path.name}: line 1 has to name the columns {', '.join(COLUMNS)}")
            continue
        try:
            if len(parts) != len(COLUMNS):
                raise ValueError(f"{len(COLUMNS)} columns, separated by tabs, not {len(parts)}")
            date.fromisoformat(parts[0])
            if not all(parts):
                raise ValueError("something in each column")
            lines.append(Line(*parts[:4], float(parts[4])))
        except ValueError as fault:
            raise Malformed(f"{path.name}: line {number} is not a figure; expected {fault}") from None
    return lines


def write(path, lines):
    path.write_text("\n".join("\t".join(map(str, line)) for line in [
        COLUMNS, *((one.date, one.version, one.commit, one.what, f"{one.figure:g}" if one.figure < 1e5 else f"{one.figure:.0f}")
                   for one in lines)]) + "\n")  # fmt: skip


def record(lines, version, day, commit, results):
    """The lines of the history with the lines of a release added. If the history already has this release,
    its old lines are replaced."""
    new = [Line(day, version, commit, one.row.what, one.kept) for one in results if one.kept is not None]
    return [line for line in lines if line.version != version] + new


def versions(lines):
    return list(dict.fromkeys(line.version for line in lines))


def last(lines):
    """The figures of the last release, by row."""
    return {line.what: line.figure for line in lines if line.version == lines[-1].version}


def fallen(before, results):
    """The results that are worse than the earlier figures (`before`, by row) by more than the slack. If a row
    has quartiles, the better quartile counts: on a busy machine the quartiles lie far apart, and only if both
    are worse did the row really get worse.

    - Returns: each such result, with its earlier figure."""
    found = []
    for result in results:
        old, now = before.get(result.row.what), result.kept_at_best
        if old is None or now is None:
            continue
        if now < old * (1 - SLACK) if result.row.wants_more else now > old * (1 + SLACK):
            found.append((result, old))
    return found


def missing(lines, results):
    """The rows for which the last release has a figure, but this run has no figure."""
    measured = {result.row.what for result in results if result.kept is not None}
    return [what for what in last(lines) if what not in measured]
