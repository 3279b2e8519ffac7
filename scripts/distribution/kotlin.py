"""The Kotlin jar with the native libraries of each glibc target, its sources and its documentation, and Android's sources."""

import os
import re
import shutil
import tempfile
from pathlib import Path

import archives
from project import TOP, run, version

BINDING = TOP / "bindings/kotlin"


def jar(out, targets):
    """Needs `bindings/kotlin/build` for the classes; the natives are made here, for each target."""
    run(BINDING / "build")
    classes = {name: path for name, path in archives.below(TOP / "build/kotlin/classes").items()
               if not name.startswith("META-INF/native/")}  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        for target, built in targets.items():
            environment = dict(os.environ)
            if built != TOP / "build":
                environment["TARGET"] = target
            run(BINDING / "natives", folder, env=environment)
        natives = archives.below(folder)
        return archives.jar(out / f"enrollkit-{version()}.jar", {**classes, **natives, "META-INF/LICENSE": TOP / "LICENSE"})


def sources(out):
    files = {name: path for folder in ("src/main/kotlin", "src/generated/kotlin") for name, path in archives.below(BINDING / folder).items()}
    files["META-INF/native/enroll_jni.c"] = BINDING / "src/main/c/enroll_jni.c"
    return archives.jar(out / f"enrollkit-{version()}-sources.jar", {**files, "META-INF/LICENSE": TOP / "LICENSE"})


def documentation(out):
    """The binding's page as one of HTML: Dokka is on no machine without Gradle. Each symbol's comment is in the sources."""
    page = run("lowdown", "-s", "-thtml", BINDING / "README.md")
    return archives.jar(out / f"enrollkit-{version()}-javadoc.jar", {"index.html": page.encode()})


def description(out):
    """What Maven reads: the versions are those of build.gradle.kts."""
    gradle = (BINDING / "build.gradle.kts").read_text()
    group = re.search(r'^group = "(.+)"', gradle, re.M)[1]
    needed = re.findall(r'^ +api\("(.+):(.+):(.+)"\)', gradle, re.M)
    needed.append(("org.jetbrains.kotlin", "kotlin-stdlib", re.search(r'kotlin\("jvm"\) version "(.+)"', gradle)[1]))
    dependencies = "".join(
        f"    <dependency><groupId>{group}</groupId><artifactId>{name}</artifactId><version>{number}</version>"
        "<scope>compile</scope></dependency>\n" for group, name, number in needed)  # fmt: skip
    path = out / f"enrollkit-{version()}.pom"
    path.write_text(f"""<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>{group}</groupId>
  <artifactId>enrollkit</artifactId>
  <version>{version()}</version>
  <name>EnrollKit</name>
  <description>Signs a user in through the browser (OAuth 2.0, OpenID Connect), then has a valid token for months</description>
  <licenses>
    <license><name>Apache-2.0</name><url>https://www.apache.org/licenses/LICENSE-2.0</url></license>
  </licenses>
  <dependencies>
{dependencies}  </dependencies>
</project>
""")
    return path


def android(out):
    """What Gradle and the NDK build: the binding, what Android adds, the header. Its folders are those of the repository."""
    root = f"enrollkit-android-{version()}"
    files = {"LICENSE": TOP / "LICENSE", "include/enroll.h": TOP / "include/enroll.h"}
    for folder in ("android", "src/main", "src/generated"):
        files |= {f"bindings/kotlin/{folder}/{name}": path for name, path in archives.below(BINDING / folder).items()}
    files["bindings/kotlin/README.md"] = BINDING / "README.md"
    return archives.tar(out / f"{root}-sources.tar.gz", root, files)


def cordova(out):
    """The plugin as npm packs it."""
    folder = TOP / "bindings/cordova"
    files = {"package.json": folder / "package.json", "README.md": folder / "README.md", "LICENSE": TOP / "LICENSE",
             "plugin.xml": folder / "plugin.xml"}  # fmt: skip
    for part in ("www", "src"):
        files |= {f"{part}/{name}": path for name, path in archives.below(folder / part).items()}
    return archives.tar(out / f"enrollkit-cordova-{version()}.tgz", "package", files)


def node(out):
    """The npm package of bindings/node, which packs itself."""
    pack = TOP / "bindings/node/pack"
    if not pack.exists():
        return []
    with tempfile.TemporaryDirectory() as folder:
        run(pack, folder)
        return [Path(shutil.copy(path, out)) for path in sorted(Path(folder).iterdir())]
