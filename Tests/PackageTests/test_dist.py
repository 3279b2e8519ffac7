"""What `make dist` makes: the same bytes each time, all of it listed, and each artefact used where there is no Swift."""

import hashlib
import json
import os
import re
import subprocess
import tarfile
import unittest
import zipfile

from cases import copy_of_the_checkout, distribution, only
from processes import TOP, workspace

# What no artefact of these holds: where it was made, and who made it.
HERE = str(TOP).encode()


class MadeArtefacts(unittest.TestCase):
    def test_two_builds_in_two_folders_have_equal_bytes(self):
        other = copy_of_the_checkout()
        out = workspace("again")
        # Nor does it matter how the second one's environment differs.
        environment = {**os.environ, "TZ": "Asia/Kolkata", "LANG": "C", "HOME": str(workspace("home")), "PREFIX": "/nowhere"}
        subprocess.run(["sh", "-c", 'umask 077 && exec "$0" "$1"', other / "scripts/dist", out], env=environment,
                       capture_output=True, text=True, check=True)  # fmt: skip
        first, second = ({path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
                         for folder in (distribution(), out))  # fmt: skip
        self.assertEqual(first.keys(), second.keys())
        self.assertEqual([name for name in first if first[name] != second[name]], [])
        self.assertGreater(len(first), 10)

    def test_the_sums_and_the_bill_of_materials_list_every_artefact(self):
        folder = distribution()
        made = {path.name for path in folder.iterdir()} - {"SHA256SUMS"}
        checked = subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=folder, capture_output=True, text=True)
        self.assertEqual((checked.returncode, checked.stdout), (0, ""), checked.stderr)
        listed = {line.split()[1] for line in (folder / "SHA256SUMS").read_text().splitlines()}
        self.assertEqual(listed, made)
        bill = json.loads(only("*.cdx.json").read_text())
        hashes = {one["name"]: one["hashes"][0]["content"] for one in bill["components"] if one["type"] == "file"}
        for name in made - {only("*.cdx.json").name}:
            self.assertEqual(hashes.pop(name), hashlib.sha256((folder / name).read_bytes()).hexdigest())
        self.assertEqual(hashes, {})
        self.assertLessEqual({"jansson", "swift-stdlib", "openssl", "curl"}, {one["name"] for one in bill["components"]})

    def test_a_bill_that_breaks_the_schema_is_refused(self):
        bad = workspace("bill") / "bad.cdx.json"
        text = only("*.cdx.json").read_text()
        for content, status in ((text, 0), (text.replace('"SHA-256"', '"SHA-255"', 1), 1)):
            bad.write_text(content)
            program = "import sys; sys.path[:0] = ['scripts/distribution']; import bill, pathlib; bill.check(*map(pathlib.Path, sys.argv[1:]))"
            told = subprocess.run(["python3", "-B", "-c", program, TOP / ".build/dist", bad], cwd=TOP, capture_output=True)
            self.assertEqual(told.returncode, status, told.stderr)

    def test_every_archive_has_a_licence_and_no_name_of_the_machine(self):
        for path in sorted(distribution().iterdir()):
            with self.subTest(path.name):
                if path.suffix in (".tgz", ".gz"):
                    with tarfile.open(path) as archive:
                        members = {one.name: archive.extractfile(one).read() for one in archive if one.isfile()}
                        self.assertEqual({(one.uid, one.gid, one.uname, one.mtime) for one in archive},
                                         {(0, 0, "", next(iter(archive)).mtime)})  # fmt: skip
                elif path.suffix in (".whl", ".jar"):
                    with zipfile.ZipFile(path) as archive:
                        members = {name: archive.read(name) for name in archive.namelist()}
                else:
                    continue
                if "javadoc" not in path.name:
                    self.assertTrue([name for name in members if re.search(r"(^|/)LICENSE$", name)])
                self.assertEqual([name for name, content in members.items() if HERE + b"/" in content], [])

    def test_a_wheels_tag_is_what_its_libraries_need(self):
        for wheel in distribution().glob("*.whl"):
            with self.subTest(wheel.name):
                if "musllinux" in wheel.name:
                    continue
                told = subprocess.check_output([TOP / ".build/dist/bin/auditwheel", "show", wheel], text=True)
                consistent = re.search(r'following platform tag:\s+"(\w+)"', told)[1]
                tag = wheel.stem.split("-")[-1]
                number = [tuple(map(int, found)) for found in (re.findall(r"manylinux_(\d+)_(\d+)", name) for name in (tag, consistent)) for found in found]
                self.assertTrue(tag == consistent or number[0] >= number[1], (tag, consistent))
