"""The rows of the bench (rows.tsv), and the lines that its programs print.

A program prints one JSON object on each line. `what` names the row; `ours`, `theirs` and `ratio` are medians, `low`
and `high` the quartiles of the ratios, `unit` the unit of `ours` and `theirs`. If there is no figure, the line has
only `what` and `note`; the note says why. A figure that is not in the table is shown, too, but it has no goal and is
not kept.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

ROWS = Path(__file__).resolve().parent / "rows.tsv"
COLUMNS = ["what", "beside", "judged", "goal", "kept", "program"]
GOAL = re.compile(r"([≤≥]) (\d+(?:\.\d+)?)")
NUMBERS = ("ours", "theirs", "ratio", "low", "high")


class Malformed(Exception):
    """The error for a malformed file or line. Its text says where, and what was expected."""


@dataclass(frozen=True)
class Row:
    what: str
    beside: str
    judged: str
    goal: str
    kept: str
    program: str

    @property
    def wants_more(self):
        """Whether a larger figure is the better one."""
        return self.goal.startswith("≥")

    @property
    def limit(self):
        return float(GOAL.fullmatch(self.goal)[2]) if self.goal else None


@dataclass(frozen=True)
class Result:
    """The measurement of one row."""

    row: Row
    ours: Optional[float] = None
    theirs: Optional[float] = None
    ratio: Optional[float] = None
    low: Optional[float] = None
    high: Optional[float] = None
    unit: str = ""
    note: str = ""

    @property
    def figure(self):
        """The figure that the goal is about."""
        if self.row.judged == "difference":
            return None if None in (self.ours, self.theirs) else self.ours - self.theirs
        return self.ratio if self.row.judged == "ratio" else self.ours

    @property
    def kept(self):
        """The figure that the history keeps; None for no figure."""
        return {"ratio": self.ratio, "ours": self.ours, "": None}[self.row.kept]

    @property
    def kept_at_best(self):
        """The figure that the history keeps. A ratio is replaced by the better quartile of the rounds, if known."""
        best = self.high if self.row.wants_more else self.low
        return best if self.row.kept == "ratio" and best is not None else self.kept

    @property
    def is_met(self):
        """Whether the goal is reached; None without a goal or a figure."""
        if self.figure is None or not self.row.goal:
            return None
        return self.figure >= self.row.limit if self.row.wants_more else self.figure <= self.row.limit


def read_rows(path=ROWS):
    """The rows, by name, in the order of the table."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    if not lines or lines[0].split("\t") != COLUMNS:
        raise Malformed(f"{path.name}: the first line has to name the columns {', '.join(COLUMNS)}")
    rows = {}
    for line in lines[1:]:
        parts = line.split("\t")
        if len(parts) != len(COLUMNS):
            raise Malformed(f"{path.name}: {parts[0]!r} has {len(parts)} columns instead of {len(COLUMNS)}")
        row = Row(*parts)
        if row.what in rows:
            raise Malformed(f"{path.name}: {row.what!r} is there twice")
        if row.judged not in ("ratio", "ours", "difference") or row.kept not in ("ratio", "ours", ""):
            raise Malformed(
                f"{path.name}: {row.what!r} is judged by `ratio`, `ours` or `difference`, and keeps `ratio`, `ours` or nothing")
        if row.goal and not GOAL.fullmatch(row.goal):
            raise Malformed(f"{path.name}: the goal of {row.what!r} is ≤ or ≥, a space and a number, not {row.goal!r}")
        rows[row.what] = row
    return rows


def read_line(line, rows):
    """The result in a program's line."""
    try:
        told = json.loads(line)
    except ValueError:
        raise Malformed(f"a program of the bench printed {line!r}, which is not JSON") from None
    if not isinstance(told, dict) or not isinstance(told.get("what"), str):
        raise Malformed(f"a program of the bench printed {line!r}, which has no text `what`")
    what = told["what"]
    row = rows.get(what) or Row(what, "", "ratio" if told.get("ratio") is not None else "ours", "", "", "")
    for name in NUMBERS:
        value = told.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise Malformed(f"{row.what!r}: `{name}` is a number, not {value!r}")
    numbers = {name: told.get(name) for name in NUMBERS}
    if numbers["ratio"] is None and numbers["ours"] is not None and numbers["theirs"]:
        numbers["ratio"] = numbers["ours"] / numbers["theirs"]
    result = Result(row, **numbers, unit=told.get("unit") or "", note=told.get("note") or "")
    if result.figure is None and not result.note:
        raise Malformed(f"{row.what!r}: the line has neither `{row.judged}` nor a note that says why")
    return result


def number(value):
    """A figure as people read it: three significant digits, or all digits of an integer."""
    if value is None:
        return ""
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.3g}"


def shown(value, unit):
    return f"{number(value)} {unit}".strip() if value is not None else ""


def figure(result):
    """The figure that the goal is about, with its unit or ×; a difference with its sign."""
    text = shown(result.figure, "×" if result.row.judged == "ratio" else result.unit)
    return f"+{text}" if result.row.judged == "difference" and (result.figure or -1) > 0 else text


def goal(result):
    """The goal with its unit or ×."""
    if not result.row.goal:
        return ""
    limit = f"{result.row.limit:,.10g}"
    return f"{result.row.goal[0]} {limit} {'×' if result.row.judged == 'ratio' else result.unit}".strip()


def verdict(result):
    if result.figure is None:
        return result.note
    return {None: "", True: "met", False: "missed"}[result.is_met]


def spread(result):
    """The quartiles of the ratios, if the goal is about a ratio."""
    if result.row.judged != "ratio":
        return ""
    return f"{number(result.low)} to {number(result.high)}" if result.low is not None else ""
