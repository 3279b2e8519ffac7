"""The blocks of the pages equal the files that they name. The README's lines and the programs of docs/programs.md
sign in to the sandbox here; the parts of the articles are separate tests."""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import unittest

import bad_input
from readme import ARTICLES, BLOCK, GUIDES, PAGES, PROGRAMS, README, ROOT, example
from sandbox import Sandbox

sys.path.insert(0, str(ROOT / "Tests/faces/CTests"))
from sign_in import play_user  # noqa: E402: the user of the sandbox is the same for every face


#: Variables for the Python package of this checkout.
PYTHON = {"PYTHONPATH": f"{ROOT}/bindings/python/src", "ENROLL_LIBRARY": f"{ROOT}/build/lib/libenroll.so.0"}


def swift_examples(page):
    """The names of a page's Swift blocks. Configurations are blocks in other languages, and are left out."""
    return [name for head, name, _, _ in BLOCK.findall(page.read_text()) if head.endswith("```swift\n")]


class ReadmeTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        sandbox = Sandbox()
        cls.addClassCleanup(sandbox.stop)
        cls.issuer = sandbox.issuer

    def test_every_block_is_its_file(self):
        for page in PAGES:
            for _, name, text, _ in BLOCK.findall(page.read_text()):
                self.assertEqual(text, example(name), f"{page.name}, {name}: run readme.py --write")
        self.assertGreaterEqual(len(BLOCK.findall(PROGRAMS.read_text())), 6)

    def test_the_articles_show_no_code_that_is_not_run(self):
        self.assertGreaterEqual(len(ARTICLES), 5)
        for page in (*ARTICLES, *GUIDES):
            shown = re.sub(r"<!-- manifest -->\n```swift", "", page.read_text()).count("```swift")
            self.assertEqual(shown, len(swift_examples(page)), page.name)

    def test_the_articles_show_every_example_that_is_meant_for_them(self):
        source = "Tests/units/EnrollKitTests/ArticleExampleTests.swift"
        meant = re.findall(r"// example: (\S+)", (ROOT / source).read_text())
        shown = {name for page in (*ARTICLES, *GUIDES) for name in swift_examples(page)}
        # Programs are run by other tests: the gateway's by Tests/system/GatewayTests, the others below.
        programs = {name for name in shown if not name.startswith(f"{source}#")}
        self.assertEqual(shown - programs, {f"{source}#{name}" for name in meant})
        self.assertIn("Examples/GatewayApp/main.swift", programs)

    def signs_in(self, *command, environment=None):
        with tempfile.TemporaryDirectory() as home:
            program = subprocess.Popen(
                [*map(str, command), self.issuer, f"{home}/store"], stdout=subprocess.PIPE, text=True, env=environment)
            line = program.stdout.readline()
            self.assertIn("http", line, "the example prints the URL to open")
            play_user(line[line.index("http"):].strip())
            rest = program.stdout.read()
            self.assertEqual(program.wait(30), 0, rest)
            program.stdout.close()
            self.assertIn("Hello, Alice", rest)
            self.assertRegex(rest, r"A valid token of \d+ bytes")
            self.assertIn("end the browser's session", rest)

    def says_what_is_wrong(self, name, *command, environment=None, usage=2):
        """Without arguments, and without a provider, the program prints one line."""
        def run(*words):
            done = subprocess.run([*map(str, command), *words], capture_output=True, text=True, env=environment, timeout=60)
            # A daemon writes its own log.
            said = [line for line in done.stderr.splitlines(keepends=True) if not line.startswith("enrolld: ")]
            self.assertEqual((done.stdout, len(said)), ("", 1), done.stderr)
            return done.returncode, said[0]

        status, words = run()
        self.assertEqual(status, usage, words)
        self.assertRegex(words, rf"^usage: \S*{name} (ENROLLD )?ISSUER STORE\n$")
        with tempfile.TemporaryDirectory() as home, socket.create_server(("127.0.0.1", 0)) as closed:
            port = closed.getsockname()[1]
            closed.close()
            daemon = [ROOT / "build/bin/enrolld"] if "ENROLLD" in words else []
            status, words = run(*daemon, f"http://127.0.0.1:{port}", f"{home}/store")
            self.assertEqual(status, 1, words)
            self.assertIn(f"no connection to http://127.0.0.1:{port}", words)

    def manifest(self, folder):
        dumped = subprocess.run(
            ["swift", "package", "--package-path", folder, "--scratch-path", f"{folder}/.build", "dump-package"],
            capture_output=True, text=True)
        self.assertEqual(dumped.returncode, 0, dumped.stderr)
        return json.loads(dumped.stdout)

    def test_the_package_example_names_a_product_that_there_is(self):
        page = PROGRAMS.read_text()
        text = re.search(r"<!-- manifest -->\n```swift\n(.*?)```", page, re.S)[1]
        address, path = re.search(r"\.package\(url: .*?\)", text)[0], re.search(r"`(\.package\(path: .*?\))`", page)[1]
        with tempfile.TemporaryDirectory() as home:
            ours = (ROOT / "Package.swift").read_text()
            manifests = {"hello": text, "beside": text.replace(address, path), "enrollkit": ours}
            for name, manifest in manifests.items():
                pathlib.Path(home, name).mkdir()
                pathlib.Path(home, name, "Package.swift").write_text(manifest)
            hello, beside, ours = (self.manifest(f"{home}/{name}") for name in manifests)
        (remote,), (local,) = hello["dependencies"][0]["sourceControl"], beside["dependencies"][0]["fileSystem"]
        (product, package, *_), = [one["product"] for target in hello["targets"] for one in target["dependencies"]]
        identities = remote["identity"], local["identity"], pathlib.Path(local["path"]).name
        self.assertEqual(identities, (package, package, package))
        self.assertIn(product, [one["name"] for one in ours["products"]])
        # Checks that the version of these sources is in the range that the example requires.
        (wanted,) = remote["requirement"]["range"]
        version = re.search(r'let string = "(.*)"', (ROOT / "Sources/EnrollHost/LibraryVersion.swift").read_text())[1]
        bounds = wanted["lowerBound"], version, wanted["upperBound"]
        lowest, here, end = (tuple(map(int, one.split("."))) for one in bounds)
        self.assertTrue(lowest <= here < end, (lowest, here, end))

    def test_the_table_of_installing_has_the_commands_that_the_page_of_installing_explains(self):
        page = (ROOT / "docs/install.md").read_text().splitlines()
        rows = re.findall(r"^\| (pip|apt|npm|tar|C) \| `(.*?)` \|", README.read_text(), re.M)
        self.assertEqual([name for name, _ in rows], ["pip", "apt", "npm", "tar", "C"])
        for name, command in rows:
            for part in command.split(" && "):
                explained = re.sub(r"(\./)?build/dist", '"$DIST"', part).replace("app.c", "sign_in.c")
                self.assertTrue(any(line.startswith(explained) for line in page), f"{name}: {explained}")

    def test_gradles_lines_name_the_libraries_that_the_binding_is_built_with(self):
        built = re.findall(r'^ +api\("(.*)"\)', (ROOT / "bindings/kotlin/build.gradle.kts").read_text(), re.M)
        self.assertEqual(len(built), 2)
        for page in ("docs/install.md", "bindings/kotlin/README.md"):
            self.assertEqual(re.findall(r'^ +implementation\("(.*)"\)', (ROOT / page).read_text(), re.M), built, page)

    def test_the_swift_example_signs_in(self):
        self.signs_in(ROOT / ".build/debug/sign-in-example")

    def test_the_swift_example_says_what_is_wrong(self):
        self.says_what_is_wrong("sign-in-example", ROOT / ".build/debug/sign-in-example")

    def test_the_c_example_signs_in(self):
        library = ROOT / "build/lib"
        with tempfile.TemporaryDirectory() as out:
            program = f"{out}/sign_in"
            subprocess.run(
                ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include", ROOT / "Examples/sign_in.c", "-o",
                 program, f"-L{library}", "-lenroll", f"-Wl,-rpath,{library}"], check=True)
            self.signs_in(program)
            self.says_what_is_wrong("sign_in", program)

    def test_the_python_example_signs_in(self):
        example = sys.executable, ROOT / "Examples/sign_in.py"
        self.signs_in(*example, environment={**os.environ, **PYTHON})
        self.says_what_is_wrong("sign_in.py", *example, environment={**os.environ, **PYTHON}, usage=1)

    def test_the_five_lines_of_the_readme_sign_in(self):
        lines = re.search(r"<!-- run: python -->\n```python\n(.*?)```", README.read_text(), re.S)[1]
        self.assertLessEqual(len(lines.splitlines()), 5)
        with tempfile.TemporaryDirectory() as home:
            browser = pathlib.Path(home, "browser")
            browser.write_text(f"""#!{sys.executable}
import sys
sys.path.insert(0, {str(ROOT / 'Tests/faces/CTests')!r})
from sign_in import play_user
play_user(sys.argv[1])
""")
            browser.chmod(0o755)
            self.assertEqual(lines.count("http://127.0.0.1:4280"), 1)
            lines = lines.replace("http://127.0.0.1:4280", self.issuer).replace("/tmp/first", f"{home}/store")
            done = subprocess.run(
                [sys.executable, "-c", lines], input="Yes\n", capture_output=True, text=True, timeout=60,
                env={**os.environ, **PYTHON, "BROWSER": f"{browser} %s", "DISPLAY": ":0"})  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^Are you Alice Example\? \[y/n\] You have a token until 2\S+ \S+\+00:00\n$")

    def test_the_first_screen_of_the_readme_has_the_demo_and_the_tests(self):
        lines = README.read_text().splitlines()
        self.assertLessEqual(len(lines), 130)
        for command in ("make demo ", "make test "):
            self.assertTrue(any(line.startswith(command) for line in lines[:15]), command)

    def test_the_recording_is_what_the_picture_shows(self):
        sys.path.insert(0, str(ROOT / "scripts"))
        loader = importlib.machinery.SourceFileLoader("record_terminal", str(ROOT / "scripts/record-terminal"))
        recorder = importlib.util.module_from_spec(importlib.util.spec_from_loader("record_terminal", loader))
        loader.exec_module(recorder)
        head, *events = map(json.loads, (ROOT / "docs/pictures/terminal.cast").read_text().splitlines())
        self.assertEqual((head["version"], {kind for _, kind, _ in events}), (2, {"o"}))
        drawn = recorder.picture([(seconds, text) for seconds, _, text in events])
        self.assertEqual((ROOT / "docs/pictures/terminal.svg").read_text(), drawn, "run scripts/record-terminal")

    def test_the_pictures_are_what_their_program_draws(self):
        done = subprocess.run([sys.executable, ROOT / "scripts/site/pictures.py", "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_mistakes_of_a_first_sign_in_say_what_the_page_quotes(self):
        text = bad_input.PAGE.read_text()
        part = text[text.index(bad_input.START) + len(bad_input.START) : text.index(bad_input.END)]
        # Compares case by case, so that a failure shows one message.
        now, then = bad_input.page(bad_input.recorded()).split("### "), part.split("### ")
        self.assertEqual(len(now), len(bad_input.CASES) + 1)
        for told, quoted in zip(now, then, strict=True):
            self.assertEqual(told, quoted, "run bad_input.py --write, and read what the page says")

    def test_a_taken_port_is_found_by_the_words_of_its_message(self):
        section = re.search(r"### (.* taken by another program)\n(.*?)\n### ", bad_input.PAGE.read_text(), re.S)
        self.assertTrue(section)
        self.assertEqual(section[2].count("is taken by another program: end that program"), 3)

    def test_what_the_page_of_the_daemon_asks_from_a_shell_is_answered(self):
        line = re.search(r"<!-- run: daemon -->\n```\n(.*?)```", (ROOT / "docs/json-rpc.md").read_text(), re.S)[1]
        path = f"{ROOT}/build/bin:{os.environ['PATH']}"
        told = subprocess.run(["sh", "-euc", line], capture_output=True, text=True, env={**os.environ, "PATH": path})
        self.assertEqual(json.loads(told.stdout)["result"]["name"], "EnrollKit", told.stderr)

    def test_the_json_rpc_example_signs_in(self):
        example = sys.executable, ROOT / "Examples/json_rpc.py"
        self.signs_in(*example, ROOT / "build/bin/enrolld")
        self.says_what_is_wrong("json_rpc.py", *example, usage=1)

    def test_the_json_rpc_example_says_that_there_is_no_daemon(self):
        told = subprocess.run(
            [sys.executable, ROOT / "Examples/json_rpc.py", "/no/enrolld", self.issuer, "/no/store"],
            capture_output=True, text=True)
        self.assertEqual((told.returncode, told.stderr),
                         (1, "json_rpc.py: /no/enrolld does not start: No such file or directory\n"))
