"""Draws Mermaid's sequence diagrams as SVG in the page, without a script and in the page's colours. GitHub shows
the same diagrams.

The program reads `participant A as B`, `A->>B: text` and `A-->>B: text`. The diagram of the states is
docs/pictures/states-*.svg.
"""

import re

import draw

COLOURS = {
    "ink": "currentColor", "soft": "currentColor", "line": "currentColor", "edge": "currentColor", "box": "none", "own": "none",
    "ownedge": "currentColor", "accent": "currentColor", "ground": "none",
}  # fmt: skip
STATES = (
    '<p><picture><source media="(prefers-color-scheme: dark)" srcset="pictures/states-dark.svg">'
    '<img src="pictures/states-light.svg" alt="An ordinary life of a registration; the table below has every transition."></picture></p>'
)


def figure(block):
    """HTML for a fenced block of Mermaid."""
    body = block.split("\n")[1:-1]
    if body[0].strip() == "stateDiagram-v2":
        return STATES
    if body[0].strip() != "sequenceDiagram":
        raise ValueError(f"scripts/site/sequence.py draws no {body[0].strip()!r}: write a sequenceDiagram, or teach it")
    names, messages = {}, []
    for line in map(str.strip, body[1:]):
        if found := re.fullmatch(r"participant (\w+) as (.+)", line):
            names[found[1]] = found[2]
        elif found := re.fullmatch(r"(\w+)(--?)>>(\w+): (.+)", line):
            messages.append(found.groups())
        elif line:
            raise ValueError(f"scripts/site/sequence.py does not know {line!r}: teach it")
    return svg(names, messages)


def svg(names, messages):
    column, row, top = 200, 38, 70
    width, height = column * len(names), top + row * len(messages) + 20
    words = "; ".join(f"{names[a]} to {names[b]}: {text}" for a, _, b, text in messages)
    picture = draw.Picture(width, height, "Sequence: " + ", ".join(names.values()), words)
    middle = {key: column * number + column / 2 for number, key in enumerate(names)}
    for key, name in names.items():
        picture.box(middle[key] - 75, 8, 150, 34, name)
        picture.line(middle[key], 42, middle[key], height - 8, dashed=True)
    for number, (a, dash, b, text) in enumerate(messages):
        y = top + row * number + 14
        if a == b:
            x = middle[a]
            picture.parts.append(
                f'<path d="M{x} {y - 10}H{x + 28}V{y + 6}H{x + 2}" fill="none" stroke="currentColor" stroke-width="1.6" '
                'marker-end="url(#head)"/>')
            picture.text(x + 36, y + 3, text, anchor="start")
        else:
            picture.arrow(middle[a], y, middle[b], y, text, dashed=dash == "--")
    draw.COLOURS["page"] = COLOURS
    text = picture.svg("page").replace('id="title"', "").replace('id="description"', "")
    text = re.sub(r' aria-labelledby="[^"]*"', f' aria-label="{draw.plain(picture.title)}"', text)
    # The HTML is on one line, so that Markdown treats it as one block.
    body = text.replace("\n", "")
    return f'<div class="diagram" tabindex="0" role="group" aria-label="Diagram">{body}</div>'
