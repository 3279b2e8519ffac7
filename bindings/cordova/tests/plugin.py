#!/usr/bin/env python3
"""Compares plugin.xml with the files of this folder, with their classes, and with package.json."""

import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
NAMESPACE = "{http://apache.org/cordova/ns/plugins/1.0}"
# These files are built on the systems of their platforms, and are not in this repository.
BUILT_ELSEWHERE = {"libs/ios/Enroll.xcframework"}

root = ElementTree.parse(HERE / "plugin.xml").getroot()
package = json.loads((HERE / "package.json").read_text())
faults = []


def expect(condition, words):
    if not condition:
        faults.append(words)


expect(root.get("id") == package["name"] == package["cordova"]["id"], "one id in plugin.xml and package.json")
expect(root.get("version") == package["version"], "one version in plugin.xml and package.json")
version = re.search(r'enrollkit? (\d+\.\d+\.\d+)', (HERE / "www/enroll.d.ts").read_text(), re.I)
expect(version and version[1] == package["version"], "the version of the manifest")

named = set()
for element in root.iter():
    source = element.get("src")
    if source is None or (element.tag == f"{NAMESPACE}framework" and element.get("custom") != "true"):
        continue
    named.add(source)
    expect((HERE / source).exists() or source in BUILT_ELSEWHERE, f"{source} is there")
for folder in ("src", "www"):
    for file in (HERE / folder).rglob("*"):
        name = str(file.relative_to(HERE))
        expect(file.is_dir() or name in named or name.endswith(".d.ts"), f"{name} is named in plugin.xml")

text = (HERE / "plugin.xml").read_text()
variables = {element.get("name") for element in root.findall(f"{NAMESPACE}preference")}
used = set(re.findall(r"\$([A-Z_]+)", text))
expect(variables == used == {"URL_SCHEME", "APP_LINK_HOST", "APP_LINK_PATH"}, f"variables {variables} are used: {used}")

kotlin = (HERE / "src/android/EnrollPlugin.kt").read_text()
swift = (HERE / "src/ios/EnrollPlugin.swift").read_text()
script = (HERE / "www/enroll.js").read_text()
bridge = (HERE / "shell/bridge.c").read_text()
expect("package org.enrollkit.cordova" in kotlin and "class EnrollPlugin" in kotlin, "the Android class")
expect("@objc(EnrollPlugin)" in swift, "the iOS class")
actions = set(re.findall(r"native\('(\w+)'", script)) | {"listen"}
for name, found in {
    "bridge.c": set(re.findall(r'\{"(\w+)", \d, do_\w+\}', bridge)),
    "EnrollPlugin.kt": set(re.findall(r'^ +"(\w+)" ->', kotlin.partition("fun execute")[2].partition("private")[0], re.M)),
    "EnrollPlugin.swift": set(re.findall(r"@objc\((\w+):\)", swift)),
}.items():
    expect(found == actions, f"{name} has the actions {sorted(actions)}, not {sorted(found)}")
for name, source in {"EnrollPlugin.kt": kotlin, "EnrollPlugin.swift": swift}.items():
    expect("Unbuilt" in source, f"{name} says that it is unbuilt")

for fault in faults:
    print(f"expected: {fault}", file=sys.stderr)
sys.exit(bool(faults))
