"""The bill of materials: CycloneDX 1.6, with the artefacts, and the third-party parts that they contain, need or open.

Each version is read from the part's source: the toolchain, the header of the jansson that was compiled,
scripts/sysroot, bindings/kotlin/build.gradle.kts.
"""

import hashlib
import json
import re
import uuid
from datetime import datetime, timezone

import kotlin
from archives import epoch
from project import TOP, run, version

APACHE = {"license": {"id": "Apache-2.0"}}
MIT = {"license": {"id": "MIT"}}
SWIFT = {"expression": "Apache-2.0 WITH Swift-exception"}
GCC = {"expression": "GPL-3.0-or-later WITH GCC-exception-3.1"}
LGPL = {"license": {"id": "LGPL-2.1-or-later"}}


def others(targets):
    """The third-party parts."""
    return [*of_swift(), *of_every_build(targets), *of_other_platforms(targets), *opened(), *of_kotlin()]


def of_swift():
    swift = re.search(r"Swift version ([\d.]+)", run("swift", "--version"))[1]
    yield part(
        "swift-stdlib", swift, "pkg:github/swiftlang/swift", SWIFT, "Parts are in every native library and program."
    )


def of_every_build(targets):
    """The entries of each version of jansson in the targets, and of the parts that this machine's compiler
    links into programs."""
    versions = {}
    for target, built in targets.items():
        header = TOP / ".build/targets" / target / "sysroot/usr/include/jansson.h"
        if built == TOP / "build":
            versions.setdefault(run("pkg-config", "--modversion", "jansson").strip(), set()).add(
                "linked by those that are built for this machine"
            )
        else:
            number = re.search(r'#define JANSSON_VERSION "(.+)"', header.read_text())[1]
            versions.setdefault(number, set()).add("inside those of `make lib TARGET=…`")
    for number, ways in sorted(versions.items()):
        yield part(
            "jansson",
            number,
            "pkg:github/akheron/jansson",
            MIT,
            f"Of the native libraries and programs: {', '.join(sorted(ways))}.",
        )
    if TOP / "build" in targets.values():
        gcc = run("gcc", "-dumpfullversion").strip()
        yield part("gcc", gcc, "pkg:generic/gcc", GCC,
                   "Start-up objects and parts of libgcc: in those that are built for this machine.")  # fmt: skip


def of_other_platforms(targets):
    """The entries of the parts that scripts/sysroot takes from the ziglang package."""
    cross = [target for target, built in targets.items() if built != TOP / "build"]
    text = (TOP / "scripts/sysroot").read_text()
    if cross:
        zig = re.search(r'^ZIG = "ziglang==(.+)"', text, re.M)[1]
        yield part(
            "ziglang",
            zig,
            "pkg:pypi/ziglang",
            MIT,
            "Its compiler_rt: parts are in the libraries and programs of `make lib TARGET=…`.",
        )
    if any(target.endswith("-gnu") for target in cross):
        yield part("glibc", re.search(r'"gnu\.([\d.]+)"', text)[1], "pkg:generic/glibc", LGPL,
                   "Start-up objects and libc_nonshared.a, which may be linked with everything: in programs for glibc.")  # fmt: skip
    if any(target.endswith("-musl") for target in cross):
        yield part(
            "musl",
            None,
            "pkg:generic/musl",
            MIT,
            "Start-up objects, of the version that the ziglang package has: in the programs for musl.",
        )


def opened():
    """The entries of the system's libraries, each with the lowest version that works."""
    for name, number, address, licence, description in (
        ("openssl", "3", "pkg:github/openssl/openssl", APACHE,
         "libcrypto.so.3 of the system, opened when it is needed."),
        ("curl", "7.66", "pkg:github/curl/curl", {"license": {"id": "curl"}},
         "libcurl.so.4 of the system, this version or later, opened when it is needed."),
        ("libsecret", None, "pkg:generic/libsecret", LGPL,
         "libsecret-1.so.0 of the system, opened if keys are in a keyring."),
    ):  # fmt: skip
        yield part(name, number, address, licence, description, is_inside=False)


def of_kotlin():
    for group, name, number in kotlin.needed():
        yield part(name, number, f"pkg:maven/{group}/{name}", APACHE, "Needed by the jar; not in it.", is_inside=False)


def part(name, number, address, licence, description, is_inside=True):
    """The entry of one part. `number` is its version; None if the version is unknown."""
    address += f"@{number}" if number else ""
    return {
        "type": "library", "bom-ref": address, "name": name, **({"version": number} if number else {}), "purl": address,
        "description": description, "licenses": [licence], "scope": "required" if is_inside else "optional",
    }  # fmt: skip


def artefact(path):
    content = path.read_bytes()
    return {
        "type": "file", "bom-ref": path.name, "name": path.name, "version": version(),
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(content).hexdigest()}],
    }  # fmt: skip


def make(out, artefacts, targets):
    name = f"pkg:generic/enrollkit@{version()}"
    everything = "".join(hashlib.sha256(path.read_bytes()).hexdigest() for path in artefacts)
    external = others(targets)
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        # The serial number is computed from the artefacts, so that two builds with the same artefacts have the same
        # serial number.
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, name + everything)}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch(), timezone.utc).isoformat(),
            "component": {
                "type": "library", "bom-ref": name, "name": "enrollkit", "version": version(), "purl": name,
                "licenses": [APACHE],
            },
        },
        "components": [*(artefact(path) for path in artefacts), *external],
        "dependencies": [
            {"ref": name, "dependsOn": sorted(one["bom-ref"] for one in external)},
            *({"ref": path.name, "dependsOn": [name]} for path in artefacts),
        ],
    }  # fmt: skip
    path = out / f"enrollkit-{version()}.cdx.json"
    path.write_text(json.dumps(document, indent=2) + "\n")
    return path


def check(tools, path):
    """Checks the file against the schema that comes with cyclonedx-python-lib."""
    program = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read())
sys.exit(f"{sys.argv[1]}: {fault}" if fault else 0)
"""
    run(tools / "bin/python", "-c", program, path)
