"""MkDocs hooks for pages that GitHub shows, too: pages from outside docs/, links to files of the repository, and
sequence diagrams, which are drawn here so that the site needs no script for them.

The links in a page are written for the repository. On the site, a link to a file that is not a page opens a page with
the file's text.
"""

import html
import os
import posixpath
import re
import sys
from pathlib import Path

from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).resolve().parent))

import sequence  # noqa: E402

TOP = Path(__file__).resolve().parents[2]
#: Pages outside docs/: {path in the repository: page of the site}.
OTHERS = {
    "README.md": "index", "CHANGELOG.md": "changelog", "CONTRIBUTING.md": "contributing", "SECURITY.md": "security",
    "Tests/README.md": "tests",
    **{f"bindings/{name}/README.md": f"bindings/{name}" for name in ("python", "kotlin", "node", "cordova")},
}  # fmt: skip
#: Pages that contain nearly every word: the search lists them after the pages that explain a word.
LAST = {"reference", "changelog", "tests", "contributing", *(f"reference/{name}" for name in ("c", "python", "kotlin", "typescript"))}
LINK = re.compile(r"(?<!\!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
IMAGE = re.compile(r"(!\[[^\]]*\]\()([^)\s]+)\)")
SOURCE = re.compile(r'\b(src|srcset)="([^"]+)"')
FENCE = re.compile(r"^(```+)(\w*)[^\n]*\n.*?^\1[ \t]*$", re.M | re.S)
SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.S)
WORDS = {".py": "python", ".swift": "swift", ".c": "c", ".h": "c", ".json": "json", ".js": "js", ".kt": "kotlin", ".ts": "ts"}

#: {path in the repository: page of the site}, and the reverse.
site, repository = {}, {}


def on_config(config):
    """Adds pages about the gateway and about providers, if mkdocs.yml does not name them, at the end of their parts."""
    for part in config.nav:
        for title, entries in part.items():
            folder = {"Gateway": "gateway", "Providers": "providers"}.get(title)
            if folder:
                named = {uri for entry in entries for uri in (entry.values() if isinstance(entry, dict) else [entry])}
                found = sorted(f"{folder}/{page.name}" for page in Path(config.docs_dir, folder).glob("*.md"))
                entries += [uri for uri in found if uri not in named]
    return config


def on_files(files, config):
    site.clear()
    for file in files:
        if file.src_uri.endswith(".md"):
            site[f"docs/{file.src_uri}"] = file.src_uri
    for path, name in OTHERS.items():
        site[path] = uri = f"{name}.md"
        files.append(File.generated(config, uri, content=(TOP / path).read_text()))
    for name in ("site.css", "site.js", "iframe-worker.js"):
        files.append(File.generated(config, f"assets/{name}", abs_src_path=str(TOP / "scripts/site" / name)))
    static = {f"docs/{file.src_uri}" for file in files}
    for path in sorted({one for page in list(site) for one in linked(page)} - set(site) - static):
        if (TOP / path).is_file():
            uri = f"source/{path}.md"
            site[path] = uri
            files.append(File.generated(config, uri, content=source_page(path)))
    repository.clear()
    repository.update({uri: path for path, uri in site.items()})
    return files


def linked(page):
    """Paths in the repository to which a page links."""
    for found in LINK.finditer(without_code((TOP / page).read_text())):
        target = found[2].partition("#")[0]
        if target and not re.match(r"[a-z]+:", target):
            yield posixpath.normpath(posixpath.join(posixpath.dirname(page), target))


def without_code(text):
    return SPAN.sub("", FENCE.sub("", text))


def source_page(path):
    text = (TOP / path).read_text(errors="replace")
    fence = "`" * (max([2, *(len(run) for run in re.findall(r"`+", text))]) + 1)
    word = WORDS.get(posixpath.splitext(path)[1], "text")
    return f"---\nsearch:\n  exclude: true\n---\n# {path}\n\nA file of the repository.\n\n{fence}{word}\n{text.rstrip()}\n{fence}\n"


def on_page_markdown(markdown, page, config, files):
    uri = page.file.src_uri
    path = repository.get(uri, f"docs/{uri}")
    if uri.startswith("source/"):
        return markdown
    if uri.removesuffix(".md") in LAST:
        page.meta["search"] = {"boost": 0.2}
    folder = posixpath.dirname(path)

    def moved(target):
        """The target as seen from this page of the site; None if the target is a folder, or is not a part
        of the site."""
        if re.match(r"[a-z]+:|#", target):
            return target
        name, mark, anchor = target.partition("#")
        whole = posixpath.normpath(posixpath.join(folder, name))
        there = site.get(whole) or (whole.removeprefix("docs/") if (TOP / whole).is_file() and whole.startswith("docs/") else None)
        return there and posixpath.relpath(there, posixpath.dirname(uri) or ".") + mark + anchor

    def link(found):
        target = moved(found[2])
        return f"[{found[1]}]({target})" if target else found[1]

    def prose(text):
        text = LINK.sub(link, text)
        text = IMAGE.sub(lambda found: f"{found[1]}{moved(found[2])})", text)
        text = SOURCE.sub(lambda found: f'{found[1]}="{moved(found[2])}"', text)
        return separated(text)

    if uri == "reference.md" and os.environ.get("SWIFT"):
        here = '<a href="swift/documentation/enrollkit/">they are here, too, if a web server serves the site</a>'
        markdown = markdown.replace("into `build/docs`", f"into `build/docs` ({here})", 1)
    return by_parts(markdown, prose)


def by_parts(markdown, prose):
    """Applies `prose` to everything outside code blocks, and draws the diagrams."""
    out, end = [], 0
    for block in FENCE.finditer(markdown):
        out.append(prose(markdown[end : block.start()]))
        # A block of the language `text` is a message, whose lines wrap as prose does (site.css).
        text = block[0].replace(f"{block[1]}text", f"{block[1]} {{ .text .message }}", 1) if block[2] == "text" else block[0]
        out.append(sequence.figure(text) if block[2] == "mermaid" else text)
        end = block.end()
    return "".join([*out, prose(markdown[end:])])


def separated(text):
    """Adapts lists: GitHub begins a list after a line of text, Python-Markdown only after an empty line. On GitHub
    the text of an item is indented to the item's first word, in Python-Markdown by 4 spaces."""
    lines, out, width = text.split("\n"), [], 0
    for number, line in enumerate(lines):
        item = re.match(r"(?:[-*]|\d+\.) +(?=\S)", line)
        before = lines[number - 1] if number else ""
        if item:
            if before.strip() and not width:
                out.append("")
            width = len(item[0])
        elif width and line.startswith(" " * width):
            line = " " * (4 - width) + line
        elif line.strip() and not before.strip():
            width = 0
        out.append(line)
    return "\n".join(out)


def on_page_content(content, page, config, files):
    # A wide table scrolls inside a frame, which the keyboard can reach.
    content = re.sub(r"<table>(.*?)</table>", lambda found: frame(found[1]), content, flags=re.S)
    # A picture also scrolls inside a frame: if it were scaled to a narrow screen, its text would be too small.
    content = re.sub(r"<p>(<picture>.*?</picture>|<img [^>]*\.svg\"[^>]*>)</p>", scrolled, content, flags=re.S)
    return re.sub(r"<th([^>]*)></th>", r"<td\1></td>", content)


def frame(rows):
    words = html.unescape(re.sub(r"<[^>]+>", " ", (re.search(r"<tr>(.*?)</tr>", rows, re.S) or ["", ""])[1]))
    words = html.escape(" ".join(words.split()) or "overview")
    if rows.partition("</tr>")[0].count("<th") > 2:
        rows = re.sub(
            r"<td>(.*?)</td>", lambda found: f'<td class="long">{found[1]}</td>' if is_long(found[1]) else found[0], rows, flags=re.S)
    return f'<div class="table" tabindex="0" role="group" aria-label="Table: {words}"><table class="data">{rows}</table></div>'


def is_long(cell):
    """Whether the cell's words would fill many lines of a narrow column."""
    return len(html.unescape(re.sub(r"<[^>]+>", "", cell))) > 60


def scrolled(found):
    kind = "diagram has-narrow" if "-narrow-" in found[1] else "diagram"
    return f'<div class="{kind}" tabindex="0" role="group" aria-label="Picture">{found[1]}</div>'


def on_post_page(output, page, config):
    # A dialog must have a name (WCAG 4.1.2).
    return output.replace('data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"')
