"""docs/gateway: the program accepts every configuration on its pages, every command is run, every example signs in,
and every test that the page about security names exists."""

import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
import unittest

import faces
from gateway import PROGRAM, Browser, Gateway, play, sandbox_for
from processes import TOP, Child, wait_until, workspace

FOLDER = TOP / "docs/gateway"
PAGES = sorted(FOLDER.glob("*.md"))
#: A code block, with the comment before it that names its kind.
BLOCK = re.compile(r"(?:^ *<!-- ([^\n]*?) -->\n)?^( *)```(\w*)\n(.*?)^ *```", re.S | re.M)


def blocks(name=None, kind=None):
    """The page, and the text of each block with this name or kind."""
    for page in PAGES:
        for named, indent, language, text in BLOCK.findall(page.read_text()):
            if name in (None, named) and kind in (None, language):
                yield page.name, textwrap.dedent(text)


def block(name):
    (_, text), = blocks(name)
    return text


class Installed(Gateway):
    """A gateway with a configuration from a page: the paths in it are moved to a folder of the test."""

    def __init__(self, settings):
        super().__init__()
        at_home = lambda path: str(self.home / path.rpartition("/")[2])  # noqa: E731
        self.settings = self.moved(settings, at_home)
        self.settings["keys"] = at_home("keys.json")
        self.settings["database"] = f"sqlite:{at_home('gateway.db')}"
        self.write()
        self.run("keys", "add", "--config", str(self.configuration))
        self.run("migrate", "--config", str(self.configuration))

    def moved(self, value, at_home):
        """Makes each file that the configuration names, readable only by its owner."""
        if not isinstance(value, dict):
            return value
        moved = {}
        for key, inner in value.items():
            if key.endswith("File") and isinstance(inner, str):
                moved[key] = at_home(inner)
                self.secret(key, moved[key])
            else:
                moved[key] = self.moved(inner, at_home)
        return moved

    @staticmethod
    def secret(key, path):
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            if key.endswith("KeyFile"):
                key = subprocess.run(
                    ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
                    capture_output=True, text=True, check=True)  # fmt: skip
                file.write(key.stdout)
            else:
                file.write("secret\n")

    def check(self, status=0):
        return self.run("check", "--offline", "--config", str(self.configuration), status=status)


class Configurations(unittest.TestCase):
    def base(self):
        return json.loads(block("configuration"))

    def test_every_block_of_json_is_json(self):
        count = 0
        for page, text in blocks(kind="json"):
            with self.subTest(page):
                json.loads(text)
                count += 1
        self.assertGreaterEqual(count, 5)

    def test_the_configuration_of_the_first_page_is_taken(self):
        self.assertIn("fine", Installed(self.base()).check())

    def test_the_parts_of_configurations_are_taken(self):
        """`<!-- part -->` marks members for the top level of a configuration."""
        for page, text in blocks("part"):
            with self.subTest(page, text=text[:60]):
                self.assertIn("fine", Installed({**self.base(), **json.loads(text)}).check())

    def test_the_theme_and_the_texts_are_taken(self):
        gateway = Installed({**self.base(), "theme": json.loads(block("theme"))})
        texts = gateway.home / "texts.json"
        texts.write_text(block("texts"))
        gateway.settings["textFiles"] = [str(texts)]
        gateway.write()
        self.assertIn("fine", gateway.check())

    def test_an_accent_that_cannot_be_read_is_refused_as_the_page_says(self):
        command, _, told = block("run: contrast").partition("\n")
        self.assertEqual(command, "$ enroll-gateway check --offline")
        gateway = Installed(self.base())
        gateway.settings["theme"]["light"] = {"accent": "#eeee00"}
        gateway.write()
        self.assertEqual(gateway.check(status=1), told)

    def test_the_apps_configuration_opens_a_client(self):
        face = faces.selected()[0]
        client = face.open(json.loads(block("app configuration")), workspace("store"))
        client.close()

    def test_the_colours_of_the_page_are_those_of_the_program(self):
        palette = (TOP / "Sources/EnrollGatewayPages/Theme/Palette.swift").read_text()
        # The theme's keys for colours that have another name in the program.
        keys = dict(re.findall(r'^  case (\w+) = "(\w+)"$', palette, re.M))
        colours = []
        for scheme in ("light", "dark"):
            given = re.search(rf"static let {scheme} = Palette\((.*?)\n    \]\)", palette, re.S)[1]
            pattern = r"\.(\w+): (?:Colour\(red: 0x(..), green: 0x(..), blue: 0x(..)\)|\.white)"
            found = re.findall(pattern, given)
            colours.append({keys.get(name, name): f"#{''.join(parts).lower() or 'ffffff'}" for name, *parts in found})
        page = (TOP / "docs/gateway/theming.md").read_text()
        rows = re.findall(r"^\| `(\w+)` \| `(#\w+)` \| `(#\w+)` \|", page, re.M)
        self.assertEqual(rows, [(name, colours[0][name], colours[1][name]) for name in colours[0]])


class Commands(unittest.TestCase):
    def test_the_commands_of_the_first_page_lead_to_a_gateway_that_runs(self):
        *commands, serve = [line.partition("#")[0].strip() for line in block("run: gateway").splitlines()]
        gateway = Gateway()
        sandbox = sandbox_for(gateway)
        self.addCleanup(sandbox.stop)
        gateway.write()
        program = gateway.home / "enroll-gateway"
        program.write_text(f'#!/bin/sh\nexec {PROGRAM} "$@" --config {gateway.configuration}\n')
        program.chmod(0o755)
        environment = {**os.environ, "PATH": f"{gateway.home}:{os.environ['PATH']}"}
        self.assertGreaterEqual(len(commands), 2)
        for command in commands:
            done = subprocess.run(["sh", "-euc", command], env=environment, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, f"{command}: {done.stdout}{done.stderr}")
        self.assertEqual(serve, "enroll-gateway serve")
        child = Child([program, "serve"], gateway.home / "log")
        self.addCleanup(child.stop)
        wait_until(lambda: "listening" in gateway.log(), "the gateway listens")
        self.assertEqual(Browser(gateway.base).open("/signup").status, 200)

    def test_a_backup_of_sqlite_is_restored_by_the_commands_of_the_page(self):
        gateway = Gateway()
        sandbox = sandbox_for(gateway)
        self.addCleanup(sandbox.stop)
        gateway.start()
        self.addCleanup(gateway.stop)
        url = f"{gateway.base}/v1/auth/sandbox"
        before, after = Browser(gateway.base), Browser(gateway.base)
        play(sandbox, url, before)
        subprocess.run(["sh", "-euc", block("run: backup")], cwd=gateway.home, check=True)
        play(sandbox, url, after)
        gateway.stop()
        subprocess.run(["sh", "-euc", block("run: restore")], cwd=gateway.home, check=True)
        gateway.start()
        self.assertEqual([browser.open("/account").status for browser in (before, after)], [200, 303])

    def test_every_command_that_a_page_names_is_one_of_the_program(self):
        found = set()
        for page in PAGES:
            text = page.read_text()
            spans = re.findall(r"`([^`\n]+)`", text) + [line for _, block in blocks() for line in block.splitlines()]
            for span in spans:
                if match := re.match(r"(?:\$ |sudo )*enroll-gateway ((?:--?)?[a-z][^#|&;]*)", span.strip()):
                    found.add(match[1].strip())
        self.assertGreaterEqual(len(found), 5)
        for command in sorted(found):
            with self.subTest(command):
                words = shlex.split(command)
                names = []
                for word in words:
                    if not re.fullmatch(r"[a-z][a-z-]*", word):
                        break
                    names.append(word)
                told = self.help(names)
                for option in (word for word in words if word.startswith("--")):
                    self.assertIn(option.partition("=")[0], told)

    def help(self, names):
        """The help of a command; the last of `names` may be arguments, which are then left out."""
        while names:
            done = subprocess.run([PROGRAM, *names, "--help"], capture_output=True, text=True)
            usage = " ".join(["enroll-gateway", *names])
            if done.returncode == 0 and f"Usage: {usage}" in done.stdout:
                return done.stdout
            if len(names) == 1:
                self.fail(f"{usage} is no command: {done.stdout}{done.stderr}")
            names = names[:-1]
        return ""


class Examples(unittest.TestCase):
    """The apps of docs/gateway/app.md."""

    @classmethod
    def setUpClass(cls):
        loopback = {"redirectUris": ["http://127.0.0.1/callback"]}
        cls.gateway = Gateway(apps={name: {"title": name, **loopback} for name in ("c-app", "python-app", "swift-app")})
        cls.sandbox = sandbox_for(cls.gateway)
        cls.addClassCleanup(cls.sandbox.stop)
        cls.gateway.start()
        cls.addClassCleanup(cls.gateway.stop)

    def test_the_export_has_the_members_that_the_page_shows(self):
        def shape(value):
            if isinstance(value, list):
                return [shape(value[0])]
            return {key: shape(inner) for key, inner in value.items()} if isinstance(value, dict) else type(value)

        browser = Browser(self.gateway.base)
        url = f"{self.gateway.base}/v1/auth/sandbox"
        play(self.sandbox, url, browser)
        mark = browser.open("/account").text.partition('name="token" value="')[2].partition('"')[0]
        told, shown = browser.open("/account/export", {"token": mark}).json, json.loads(block("export"))
        # Some members are absent: a browser's session has no app, this browser named no device, and not every entry has
        # a detail.
        for part, key in (("sessions", "app"), ("sessions", "device"), ("audit", "detail")):
            shown[part][0].pop(key)
            told[part][0].pop(key, None)
        self.assertEqual(shape(told), shape(shown))

    def run_app(self, *command, browser=None, **environment):
        """The output of the app. With `browser` the app signs in; without it the app must not ask for a sign-in."""
        program = subprocess.Popen(
            [*map(str, command), self.gateway.base, self.store, "sandbox"], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, env={**os.environ, **environment})  # fmt: skip
        self.addCleanup(program.stdout.close)
        line = program.stdout.readline()
        if browser:
            self.assertIn("http", line, line)
            returned = play(self.sandbox, line[line.index("http") :].strip(), browser)
            Browser().open(returned.location)
            line = program.stdout.read()
        self.assertEqual(program.wait(30), 0, line)
        return line

    def check(self, *command, **environment):
        self.store = str(workspace("store"))
        browser = Browser(self.gateway.base)
        told = self.run_app(*command, browser=browser, **environment)
        account = re.fullmatch(r"Signed in as Alice Example, account ([\w-]{36})\.\n", told)
        self.assertIsNotNone(account, told)
        self.assertEqual(self.run_app(*command, **environment), told, "the session is in the store")
        # The session ends on the account page; then the app signs in again.
        play(self.sandbox, f"{self.gateway.base}/v1/auth/sandbox", browser)
        page = browser.open("/account").text
        mark = page.partition('name="token" value="')[2].partition('"')[0]
        browser.open("/account/sessions/end-all", {"token": mark})
        self.assertEqual(self.run_app(*command, browser=browser, **environment), told)

    def test_the_app_in_python(self):
        self.check(
            sys.executable, TOP / "Examples/gateway_app.py", PYTHONPATH=f"{TOP}/bindings/python/src",
            ENROLL_LIBRARY=f"{TOP}/build/lib/libenroll.so.0")  # fmt: skip

    def test_the_app_in_c(self):
        program, library = workspace("c") / "gateway_app", TOP / "build/lib"
        subprocess.run(
            ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{TOP}/include", TOP / "Examples/gateway_app.c", "-o",
             program, f"-L{library}", "-lenroll", f"-Wl,-rpath,{library}"], check=True)  # fmt: skip
        self.check(program)

    def test_the_app_in_swift(self):
        self.check(TOP / ".build/debug/gateway-app-example")


class Threats(unittest.TestCase):
    def test_every_test_that_the_page_of_security_names_is_there(self):
        rows = re.findall(r"^\|.*\| ([^|]*) \|$", (TOP / "docs/gateway/security.md").read_text(), re.M)
        named = [found for row in rows for found in re.findall(r"`([\w.]+)` ((?:“[^”]+”(?:, )?)+)", row)]
        self.assertGreaterEqual(len(named), 40)
        for name, titles in named:
            stem = name.removesuffix(".py")
            files = [path for kind in ("swift", "py") for path in (TOP / "Tests").rglob(f"{stem}.{kind}")]
            text = "".join(path.read_text() for path in files)
            tests = re.findall(r'@Test\(\s*"((?:[^"\\]|\\.)*)"', text)
            tests += [test.replace("_", " ") for test in re.findall(r"def test_(\w+)", text)]
            for title in re.findall(r"“([^”]+)”", titles):
                with self.subTest(name, title=title):
                    words = re.sub(r"[',.]", "", title) if name.endswith(".py") else title
                    self.assertTrue(any(test.startswith(words) for test in tests), f"{name} has no test “{title}”")


