"""The artefacts of `make dist`: the same bytes each time, all of them listed, their contents, and the files that are
left out."""

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import tarfile
import unittest
import xml.etree.ElementTree
import zipfile

from archived import members
from cases import VERSION, built, copy_of_the_checkout, distribution, only, torture_only
from processes import TOP, workspace

#: The folder in which the artefacts are made; no artefact may contain it.
HERE = str(TOP).encode() + b"/"
#: Variables that change the results of other commands that build, pack or install. None of the variables may change
#: an artefact.
ELSEWHERE = {
    "PREFIX": "/nowhere", "LIBDIR": "/nowhere/lib", "DESTDIR": "/nowhere", "BUILT": "nowhere",
    "BUILD": "/nowhere", "TARGET": "aarch64-linux-musl", "VERSION": "9.9.9", "OPENSSL": "static", "HTTP": "host",
    "ENROLLKIT_SYSTEM_LIBRARY": "1", "ENROLLKIT_WHEEL_PLATFORM": "nowhere", "DH_OPTIONS": "-Nlibenroll0",
    "DEB_BUILD_OPTIONS": "nodoc",
}  # fmt: skip
#: Folders from which only files in git are packed. The tests add other files to them.
UNPACKED = ("bindings/node/src", "bindings/node/examples", "bindings/cordova/www", "bindings/python/src/enrollkit",
            "bindings/kotlin/src/main/kotlin", "bindings/kotlin/android", "packaging/debian")  # fmt: skip
TARGETS = "x86_64-linux-gnu", "aarch64-linux-gnu", "x86_64-linux-musl", "aarch64-linux-musl"


def digests(folder, names):
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


class MadeArtefacts(unittest.TestCase):
    @torture_only
    def test_two_packagings_of_one_build_have_equal_bytes_and_say_what_is_left_out(self):
        other = copy_of_the_checkout()
        # A file that git does not know must not be packed.
        for folder in UNPACKED:
            (other / folder / "secret-of-the-packer.txt").write_text("unknown to git")
        out = workspace("again")
        environment = {**os.environ, **ELSEWHERE, "TZ": "Asia/Kolkata", "LANG": "C", "HOME": str(workspace("home"))}
        done = subprocess.run(["sh", "-c", 'umask 077 && exec "$0" "$1"', other / "scripts/dist", out], env=environment,
                              capture_output=True, text=True)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        first, second = (
            digests(folder, sorted(path.name for path in folder.iterdir())) for folder in (distribution(), out)
        )
        self.assertEqual(first.keys(), second.keys())
        self.assertEqual([name for name in first if first[name] != second[name]], [])
        self.assertGreater(len(first), 10)
        missing = [target for target in TARGETS if not list(out.glob(f"*-{target}.tar.gz"))]
        last = [line for line in done.stderr.splitlines() if "LEFT OUT" in line]
        self.assertEqual(
            last,
            [f"dist: LEFT OUT: {target}, because it is not built; run make lib TARGET={target}" for target in missing],
        )

    def test_the_sums_and_the_bill_of_materials_list_every_artefact(self):
        folder = distribution()
        made = {path.name for path in folder.iterdir()} - {"SHA256SUMS"}
        checked = subprocess.run(
            ["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=folder, capture_output=True, text=True
        )
        self.assertEqual((checked.returncode, checked.stdout), (0, ""), checked.stderr)
        listed = {line.split()[1] for line in (folder / "SHA256SUMS").read_text().splitlines()}
        self.assertEqual(listed, made)
        bill = json.loads(only("*.cdx.json").read_text())
        hashes = {one["name"]: one["hashes"][0]["content"] for one in bill["components"] if one["type"] == "file"}
        for name in made - {only("*.cdx.json").name}:
            self.assertEqual(hashes.pop(name), hashlib.sha256((folder / name).read_bytes()).hexdigest())
        self.assertEqual(hashes, {})

    def test_the_bill_names_what_is_inside_and_its_version(self):
        bill = json.loads(only("*.cdx.json").read_text())
        listed = {one["name"]: one for one in bill["components"] if one["type"] == "library"}
        inside = {name for name, one in listed.items() if one["scope"] == "required"}
        self.assertLessEqual({"swift-stdlib", "jansson"}, inside)
        # Every linked part comes from this repository, the toolchain or the system's libraries.
        self.assertLessEqual(inside, {"swift-stdlib", "jansson", "gcc", "ziglang", "glibc", "musl"})
        self.assertLessEqual({"openssl", "curl", "libsecret", "kotlin-stdlib"}, listed.keys() - inside)
        cross = [target for target, folder in built().items() if folder != TOP / "build"]
        self.assertEqual("ziglang" in inside, bool(cross))
        self.assertEqual("musl" in inside, any("musl" in target for target in cross))
        for target in cross:
            header = (TOP / ".build/targets" / target / "sysroot/usr/include/jansson.h").read_text()
            self.assertEqual(listed["jansson"]["version"], re.search(r'#define JANSSON_VERSION "(.+)"', header)[1])
        is_of_this_machine = f"{platform.machine()}-linux-gnu" not in cross
        self.assertEqual("gcc" in inside, is_of_this_machine)
        if is_of_this_machine:
            compiler = subprocess.check_output(["gcc", "-dumpfullversion"], text=True).strip()
            self.assertEqual(listed["gcc"]["version"], compiler)

    def test_a_folder_that_holds_something_else_is_left_alone(self):
        thesis = workspace("thesis")
        (thesis / "thesis.txt").write_text("years of work")
        for words, told in (([""], "one folder is expected"), (["."], "holds this checkout"), (["/"], "holds this checkout"),
                            ([str(thesis)], "has something else in it"), (["a", "b"], "one folder is expected")):  # fmt: skip
            with self.subTest(words):
                done = subprocess.run([TOP / "scripts/dist", *words], cwd=TOP, capture_output=True, text=True)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(told, done.stderr)
        self.assertEqual((thesis / "thesis.txt").read_text(), "years of work")

    def test_sources_of_pythons_own_take_nothing_from_the_folders_above_them(self):
        distribution()
        planted = workspace("planted")
        own = planted / "bindings/python"
        shutil.copytree(TOP / "bindings/python", own, ignore=shutil.ignore_patterns("build", ".*", "tests"))
        program = (
            "import sys, pathlib; sys.path.insert(0, sys.argv[1]); import build_library;"
            " print(build_library.checkout_of(pathlib.Path(sys.argv[2])))"
        )

        def checkout(root):
            words = [TOP / ".build/dist/bin/python", "-B", "-c", program, TOP / "bindings/python", root]
            return subprocess.check_output(list(map(str, words)), text=True).strip()

        self.assertEqual(checkout(TOP / "bindings/python"), str(TOP))
        self.assertEqual(checkout(own), "None")
        (planted / "scripts").mkdir()
        (planted / "scripts/build").touch()
        self.assertEqual(checkout(own), str(planted))
        (own / "PKG-INFO").touch()
        self.assertEqual(checkout(own), "None")
        # pip unpacks sources below a folder that everybody may write to.
        elsewhere = planted / "pip-install-x/enrollkit_y"
        shutil.copytree(own, elsewhere)
        self.assertEqual(checkout(elsewhere), "None")

    def test_a_bill_that_breaks_the_schema_is_refused(self):
        bad = workspace("bill") / "bad.cdx.json"
        text = only("*.cdx.json").read_text()
        for content, status in ((text, 0), (text.replace('"SHA-256"', '"SHA-255"', 1), 1)):
            bad.write_text(content)
            program = (
                "import sys; sys.path[:0] = ['scripts/distribution']; import bill, pathlib;"
                " bill.check(*map(pathlib.Path, sys.argv[1:]))"
            )
            told = subprocess.run(
                ["python3", "-B", "-c", program, TOP / ".build/dist", bad], cwd=TOP, capture_output=True
            )
            self.assertEqual(told.returncode, status, told.stderr)

    def test_every_archive_has_a_licence_no_owner_and_no_path_of_the_checkout(self):
        archives = [
            path for path in sorted(distribution().iterdir()) if path.suffix in (".tgz", ".gz", ".whl", ".jar", ".deb")
        ]
        self.assertGreater(len(archives), 10)
        for path in archives:
            with self.subTest(path.name):
                found = members(path)
                if "javadoc" not in path.name:
                    licence = r"(^|/)copyright$" if path.suffix == ".deb" else r"(^|/)LICENSE$"
                    self.assertTrue([name for name in found if re.search(licence, name)])
                self.assertEqual([name for name, content in found.items() if HERE in content], [])
                if path.suffix in (".tgz", ".gz"):
                    with tarfile.open(path) as archive:
                        self.assertEqual({(one.uid, one.gid, one.uname, one.mtime) for one in archive},
                                         {(0, 0, "", next(iter(archive)).mtime)})  # fmt: skip

    def test_a_wheels_tag_is_what_its_libraries_need(self):
        for wheel in distribution().glob("*.whl"):
            with self.subTest(wheel.name):
                if "musllinux" in wheel.name:
                    continue
                told = subprocess.check_output([TOP / ".build/dist/bin/auditwheel", "show", wheel], text=True)
                consistent = re.search(r'following platform tag:\s+"(\w+)"', told)[1]
                tag = wheel.stem.split("-")[-1]
                number = [
                    tuple(map(int, found))
                    for found in (re.findall(r"manylinux_(\d+)_(\d+)", name) for name in (tag, consistent))
                    for found in found
                ]
                self.assertTrue(tag == consistent or number[0] >= number[1], (tag, consistent))


class MavenFiles(unittest.TestCase):
    def test_the_pom_has_what_maven_central_asks_for_and_the_jar_needs(self):
        space = {"": "http://maven.apache.org/POM/4.0.0"}
        pom = xml.etree.ElementTree.parse(only("*.pom")).getroot()
        asked = ("groupId", "artifactId", "version", "name", "description", "url", "licenses/license/name",
                 "licenses/license/url", "developers/developer/name", "developers/developer/email",
                 "scm/connection", "scm/url")  # fmt: skip
        self.assertEqual([path for path in asked if not (pom.findtext(path, "", space) or "").strip()], [])
        self.assertEqual(
            (pom.findtext("artifactId", "", space), pom.findtext("version", "", space)), ("enrollkit", VERSION)
        )
        self.assertTrue(pom.findtext("scm/connection", "", space).startswith("scm:git:https://"))
        needed = {":".join(one.findtext(part, "", space) for part in ("groupId", "artifactId", "version"))
                  for one in pom.findall("dependencies/dependency", space)}  # fmt: skip
        gradle = (TOP / "bindings/kotlin/build.gradle.kts").read_text()
        stdlib = re.search(r'kotlin\("jvm"\) version "(.+)"', gradle)[1]
        self.assertEqual(
            needed, {*re.findall(r'\bapi\("(.+)"\)', gradle), f"org.jetbrains.kotlin:kotlin-stdlib:{stdlib}"}
        )

    def test_the_documentation_jar_says_where_the_comments_of_symbols_are(self):
        with zipfile.ZipFile(only("*-javadoc.jar")) as jar:
            page = jar.read("index.html").decode()
        named = re.search(r"This jar has the page of the Kotlin binding.*?<code>(.+?)</code>", page, re.S)[1]
        with zipfile.ZipFile(distribution() / named) as jar:
            self.assertIn(b"/**", jar.read("org/enrollkit/EnrollClient.kt"))


@torture_only
class CompiledTwice(unittest.TestCase):
    def test_one_target_compiled_in_two_folders_has_equal_bytes(self):
        target = "x86_64-linux-gnu"
        # SwiftPM reads the folder of jansson from a pkg-config file, and splits it at spaces.
        other = copy_of_the_checkout().rename(workspace("compiled") / "enrollkit")
        shutil.rmtree(other / "build" / target, ignore_errors=True)
        (other / ".build/targets").unlink()
        (other / ".build/targets").mkdir()
        # zig and the downloaded sources are reused; the C library's stubs, jansson and all modules are made again.
        for name in ("zig", "sources"):
            (other / ".build/targets" / name).symlink_to(TOP / ".build/targets" / name)
        environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", *ELSEWHERE)}
        environment["TARGET"] = target
        for folder, command in ((TOP, f"make lib TARGET={target}"), (other, "scripts/build")):
            done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        names = "lib/libenroll.so.0", "lib/enrolld", "lib/enroll", "lib/libenroll.a"
        self.assertEqual(*(digests(folder / "build" / target, names) for folder in (TOP, other)))
