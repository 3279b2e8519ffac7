"""Boxes and arrows as SVG, each picture in a light and a dark form: shared by pictures.py and sequence.py.

Text uses the fonts of the reader's system. Colours have a contrast of at least 4.5 to 1 on their ground (WCAG 1.4.3).
"""

import html

COLOURS = {
    "light": {"ink": "#1b2330", "soft": "#4b5567", "line": "#5b6678", "box": "#eef2f8", "edge": "#9aa7bb",
              "own": "#dff0e6", "ownedge": "#2d7a4f", "accent": "#1f6b45", "ground": "#ffffff"},
    "dark": {"ink": "#e8edf5", "soft": "#b4bfd0", "line": "#93a0b4", "box": "#232b38", "edge": "#5f6d83",
             "own": "#17382a", "ownedge": "#58b985", "accent": "#7fd3a5", "ground": "#12161d"},
}  # fmt: skip
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"


class Picture:
    def __init__(self, width, height, title, description):
        self.size = width, height
        self.title, self.description = title, description
        self.parts = []

    def box(self, x, y, width, height, *lines, own=False):
        """A box with lines of text: the first line is the name, the others say more."""
        kind = "own" if own else "box"
        edge = "ownedge" if own else "edge"
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="10" fill="{{{kind}}}" stroke="{{{edge}}}" '
            'stroke-width="1.5"/>')
        top = y + height / 2 - (len(lines) - 1) * 9 + 5
        for number, line in enumerate(lines):
            weight, colour, size = ("600", "ink", 14.5) if number == 0 else ("400", "soft", 12.5)
            self.text(x + width / 2, top + number * 18, line, size=size, colour=colour, weight=weight)

    def text(self, x, y, text, size=12.5, colour="soft", weight="400", anchor="middle"):
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size}" font-weight="{weight}" fill="{{{colour}}}" '
            f'text-anchor="{anchor}">{escape(text)}</text>')

    def line(self, x1, y1, x2, y2, dashed=False, colour="edge", width=1.2):
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.parts.append(
            f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" stroke="{{{colour}}}" stroke-width="{width}"{dash} fill="none"/>')

    def arrow(self, x1, y1, x2, y2, text="", both=False, dashed=False, above=7, anchor="middle", at=None, accent=False):
        """A line with an arrowhead at its end, and with `both` also at its beginning."""
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        start = ' marker-start="url(#head)"' if both else ""
        colour = "accent" if accent else "line"
        self.parts.append(
            f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" stroke="{{{colour}}}" stroke-width="1.6"{dash} fill="none"{start} '
            'marker-end="url(#head)"/>')
        if text:
            x, y = at or ((x1 + x2) / 2, (y1 + y2) / 2 - above)
            for number, line in enumerate(text.split("\n")):
                self.text(x, y + number * 16, line, anchor=anchor)

    def svg(self, scheme):
        width, height = self.size
        colours = COLOURS[scheme]
        body = "\n".join(part.format_map(colours) for part in self.parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img" aria-labelledby="title description" font-family="{FONT}">\n'
            f'<title id="title">{plain(self.title)}</title>\n<desc id="description">{plain(self.description)}</desc>\n'
            '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
            f'orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill="{colours["line"]}"/></marker></defs>\n'
            f'<rect width="{width}" height="{height}" fill="{colours["ground"]}"/>\n{body}\n</svg>\n')


def escape(text):
    # Braces are doubled, because single braces mark the colours of a part.
    return html.escape(text).replace("{", "{{").replace("}", "}}")


def plain(text):
    """Text of a picture's head, in which no colours are replaced."""
    return html.escape(text)
