"""Makes the Kotlin jar with the native libraries of each glibc target, its sources and documentation, and
Android's sources."""

import os
import re
import tempfile

import archives
from project import TOP, run, version

BINDING = TOP / "bindings/kotlin"
#: The project's page and its repository, as Maven Central shows them.
HOME = "https://enrollkit.org"
REPOSITORY = "https://enrollkit.org/enrollkit.git"


def jar(out, targets):
    """Makes the jar. `bindings/kotlin/build` makes the classes; the native libraries are made here, for each target."""
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
        return archives.jar(
            out / f"enrollkit-{version()}.jar", {**classes, **natives, "META-INF/LICENSE": TOP / "LICENSE"}
        )


def sources(out):
    files = {
        name: path
        for folder in ("src/main/kotlin", "src/okhttp/kotlin", "src/generated/kotlin")
        for name, path in archives.known(BINDING / folder).items()
    }
    files["META-INF/native/enroll_jni.c"] = BINDING / "src/main/c/enroll_jni.c"
    return archives.jar(out / f"enrollkit-{version()}-sources.jar", {**files, "META-INF/LICENSE": TOP / "LICENSE"})


def documentation(out):
    """Makes the documentation: the binding's page as HTML, with a note that says where the symbols' comments are.
    Dokka, which would include the comments, needs Gradle."""
    heading, _, rest = (BINDING / "README.md").read_text().partition("\n")
    note = (
        "*This jar has the page of the Kotlin binding. The comment of each symbol is in"
        f" `enrollkit-{version()}-sources.jar`, where editors find it.*"
    )
    page = run("lowdown", "-s", "-thtml", input=f"{heading}\n\n{note}\n{rest}")
    return archives.jar(out / f"enrollkit-{version()}-javadoc.jar", {"index.html": page.encode()})


def gradle():
    return (BINDING / "build.gradle.kts").read_text()


def needed():
    """The group, the name and the version of each library that the jar needs."""
    stdlib = re.search(r'kotlin\("jvm"\) version "(.+)"', gradle())[1]
    return [
        *re.findall(r'^ +api\("(.+):(.+):(.+)"\)', gradle(), re.M),
        ("org.jetbrains.kotlin", "kotlin-stdlib", stdlib),
    ]


def description(out):
    """Writes the POM for Maven, with all that Maven Central requires. The versions come from
    build.gradle.kts."""
    dependencies = "".join(
        f"    <dependency><groupId>{group}</groupId><artifactId>{name}</artifactId><version>{number}</version>"
        "<scope>compile</scope></dependency>\n" for group, name, number in needed())  # fmt: skip
    group = re.search(r'^group = "(.+)"', gradle(), re.M)[1]
    control = (TOP / "packaging/debian/control").read_text()
    developer, address = re.search(r"^Maintainer: (.+) <(.+)>$", control, re.M).groups()
    path = out / f"enrollkit-{version()}.pom"
    path.write_text(f"""<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>{group}</groupId>
  <artifactId>enrollkit</artifactId>
  <version>{version()}</version>
  <name>EnrollKit</name>
  <description>Signs a user in through the browser (OAuth 2.0, OpenID Connect), then has a valid token for months</description>
  <url>{HOME}</url>
  <licenses>
    <license><name>Apache-2.0</name><url>https://www.apache.org/licenses/LICENSE-2.0</url></license>
  </licenses>
  <developers>
    <developer><name>{developer}</name><email>{address}</email></developer>
  </developers>
  <scm>
    <connection>scm:git:{REPOSITORY}</connection>
    <url>{REPOSITORY}</url>
    <tag>{version()}</tag>
  </scm>
  <dependencies>
{dependencies}  </dependencies>
</project>
""")
    return path


def android(out):
    """Packs the sources that Gradle and the NDK build: the binding, its Android parts and the header, in the
    repository's folders."""
    root = f"enrollkit-android-{version()}"
    files = {"LICENSE": TOP / "LICENSE", "include/enroll.h": TOP / "include/enroll.h"}
    for folder in ("android", "src/main", "src/generated"):
        files |= {f"bindings/kotlin/{folder}/{name}": path for name, path in archives.known(BINDING / folder).items()}
    files["bindings/kotlin/README.md"] = BINDING / "README.md"
    return archives.tar(out / f"{root}-sources.tar.gz", root, files)
