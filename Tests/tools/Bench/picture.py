"""The picture of a run: a bar for each row with a goal, and one line that marks the goals. The picture is
readable on light and dark pages."""

from xml.sax.saxutils import escape

from table import figure, goal, verdict

WIDTH = 920
LABELS = 380
BARS = 300
LINE = 26
TOP = 64
#: The longest bar, as a multiple of the goal. A longer bar is cut, and its figure shows its length.
LONGEST = 2.0

STYLE = """
text { font: 13px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328; }
.title { font-size: 16px; font-weight: 600; }
.quiet { fill: #59636e; }
.met { fill: #1a7f4b; }
.missed { fill: #bc5a00; }
.goal { stroke: #1f2328; stroke-width: 1.5; stroke-dasharray: 4 3; }
.ground { fill: #ffffff; }
.rail { fill: #eaeef2; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .quiet { fill: #9198a1; }
  .met { fill: #3fb57a; }
  .missed { fill: #f0883e; }
  .goal { stroke: #e6edf3; }
  .ground { fill: #0d1117; }
  .rail { fill: #21262d; }
}
"""


def share(result):
    """The figure as a multiple of the goal: 1 is the goal itself, and less is better."""
    limit, value = result.row.limit, result.figure
    if result.row.wants_more:
        return limit / value if value else LONGEST
    if limit == 0:
        return 0 if value == 0 else LONGEST
    return max(value, 0) / limit


def draw(results, subtitle):
    """The picture as SVG."""
    bars = [one for one in results if one.is_met is not None]
    height = TOP + LINE * len(bars) + 40
    at_goal = LABELS + BARS / LONGEST
    met = sum(one.is_met for one in bars)
    told = f"{met} of {len(bars)} goals are met."
    misses = ", ".join(f"{one.row.what} ({figure(one)}, goal {goal(one)})" for one in bars if not one.is_met)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
        ' role="img" aria-labelledby="title description">',
        '<title id="title">EnrollKit: what was measured, against its goals</title>',
        f'<desc id="description">{escape(told)} {escape("Missed: " + misses + "." if misses else "")}</desc>',
        f"<style>{STYLE}</style>",
        f'<rect class="ground" width="{WIDTH}" height="{height}"/>',
        f'<text class="title" x="16" y="26">{escape(told)}</text>',
        f'<text class="quiet" x="16" y="46">{escape(subtitle)}</text>',
        f'<text class="quiet" x="{at_goal}" y="{TOP - 8}" text-anchor="middle">goal</text>',
    ]
    for number, one in enumerate(bars):
        y = TOP + LINE * number
        length = max(2, min(share(one), LONGEST) / LONGEST * BARS)
        mark = "✓" if one.is_met else "✗"
        parts += [
            f'<text x="{LABELS - 12}" y="{y + 17}" text-anchor="end">{escape(one.row.what)}</text>',
            f'<rect class="rail" x="{LABELS}" y="{y + 5}" width="{BARS}" height="16" rx="3"/>',
            f'<rect class="{verdict(one)}" x="{LABELS}" y="{y + 5}" width="{length:.1f}" height="16" rx="3"/>',
            f'<text x="{LABELS + BARS + 12}" y="{y + 17}">{mark} {escape(figure(one))}'
            f' <tspan class="quiet">goal {escape(goal(one))}</tspan></text>',
        ]
    bottom = TOP + LINE * len(bars)
    parts += [
        f'<line class="goal" x1="{at_goal}" y1="{TOP - 2}" x2="{at_goal}" y2="{bottom + 4}"/>',
        f'<text class="quiet" x="{LABELS}" y="{bottom + 26}">shorter is better; bars end at twice the goal</text>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"
