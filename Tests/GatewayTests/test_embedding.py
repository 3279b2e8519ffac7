"""The library is untouched: a program that embeds EnrollKit neither fetches nor builds anything of the gateway."""

import json
import re
import subprocess
import unittest

from processes import TOP, workspace

#: What only the gateway, or the sandbox, needs.
FOREIGN = re.compile(r"Gateway|swift-nio|/NIO|CSQLite|CPostgreSQL|FlyingFox|EnrollSandbox")


def embedder(traits=""):
    """A package whose one program imports the library."""
    folder = workspace("embedder")
    (folder / "Sources/embedder").mkdir(parents=True)
    (folder / "Sources/embedder/main.swift").write_text("import EnrollKit\n")
    (folder / "Package.swift").write_text(f"""// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "embedder", dependencies: [.package(name: "enrollkit", path: "{TOP}"{traits})],
  targets: [.executableTarget(name: "embedder", dependencies: [.product(name: "EnrollKit", package: "enrollkit")])])
""")
    return folder


def swift(folder, *words):
    done = subprocess.run(["swift", *words], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"swift {' '.join(words)}: {done.stderr}")
    return done.stdout


def files_of_the_build(folder):
    """Every file that `swift build` reads or makes, by its plan; nothing is compiled."""
    swift(folder, "build", "--print-manifest-job-graph")
    plan = (folder / ".build/debug.yaml").read_text()
    (wanted,) = re.findall(r'^  "main": (\[.*\])$', plan, re.M)
    makers = {}
    for inputs, outputs in re.findall(r"^    inputs: (\[.*\])\n    outputs: (\[.*\])$", plan, re.M):
        for output in json.loads(outputs):
            makers[output] = json.loads(inputs)
    found, waiting = set(), json.loads(wanted)
    while waiting:
        if (file := waiting.pop()) not in found:
            found.add(file)
            waiting += makers.get(file, [])
    return found


class Embedding(unittest.TestCase):
    def test_nothing_of_the_gateway_is_fetched_without_the_trait(self):
        for traits, is_fetched in (("", False), (', traits: ["Gateway"]', True)):
            packages = swift(embedder(traits), "package", "show-dependencies", "--format", "flatlist")
            self.assertIn("swift-argument-parser", packages)
            self.assertEqual("swift-nio" in packages, is_fetched, packages)

    def test_nothing_of_the_gateway_is_built(self):
        files = files_of_the_build(embedder())
        for module in ("EnrollKit", "EnrollHost", "EnrollCore", "embedder"):
            self.assertTrue(any(f"/{module}.build/" in file for file in files), f"the plan has no {module}")
        self.assertEqual([file for file in sorted(files) if FOREIGN.search(file.replace(str(TOP), ""))], [])
