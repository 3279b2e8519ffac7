"""A program that embeds EnrollKit needs nothing of the gateway: it builds on a system without libevent and SQLite."""

import re
import subprocess
import unittest

from processes import TOP, workspace

#: Headers of libraries that only the server side needs.
HEADERS = ("event2/event.h", "event2/listener.h", "sqlite3.h", "libpq-fe.h")


def embedder():
    """A package with one program that imports the library."""
    folder = workspace("embedder")
    (folder / "Sources/embedder").mkdir(parents=True)
    (folder / "Sources/embedder/main.swift").write_text("import EnrollKit\n\nprint(EnrollClient.self)\n")
    (folder / "Package.swift").write_text(f"""// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "embedder", dependencies: [.package(name: "enrollkit", path: "{TOP}")],
  targets: [.executableTarget(name: "embedder", dependencies: [.product(name: "EnrollKit", package: "enrollkit")])])
""")
    return folder


def missing(folder):
    """A folder of headers that precedes the system's headers. Including one of its headers is an error."""
    for header in HEADERS:
        path = folder / "headers" / header
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#error {header} is not on this machine\n")
    return folder / "headers"


class Embedding(unittest.TestCase):
    def test_a_program_that_embeds_the_library_builds_without_libevent_and_sqlite(self):
        folder = embedder()
        done = subprocess.run(
            ["swift", "build", "--disable-index-store", "-Xcc", f"-I{missing(folder)}"], cwd=folder,
            capture_output=True, text=True)
        told = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, told)
        self.assertIsNone(re.search(r"warning:|libevent|sqlite|libpq", told, re.I), told)
        program = folder / ".build/debug/embedder"
        self.assertEqual(subprocess.check_output([program], text=True), "EnrollClient\n")
        needed = subprocess.check_output(["readelf", "--dynamic", program], text=True)
        self.assertIn("libjansson", needed)
        self.assertIsNone(re.search(r"event|sqlite|libpq", needed), needed)
        modules = {path.stem for path in (folder / ".build/debug/Modules").glob("*.swiftmodule")}
        self.assertLessEqual({"EnrollKit", "EnrollHost", "EnrollRules", "EnrollSteps"}, modules)
        self.assertEqual([name for name in modules if re.search("Gateway|HTTP|Sandbox|Arguments", name)], [])

    def test_the_server_does_not_build_without_libevent(self):
        """Checks that the headers of `missing` prevent a build. Otherwise the test above would prove nothing."""
        folder = embedder()
        done = subprocess.run(
            ["swiftc", "-typecheck", "-", "-Xcc", f"-I{missing(folder)}", "-I", TOP / "Sources/CEvent"],
            input="import CEvent\n", capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("event2/event.h is not on this machine", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
