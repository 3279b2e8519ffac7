"""The bill of materials: CycloneDX 1.6, with the artefacts, and what of others is in them or is opened by them."""

import hashlib
import json
import re
import uuid
from datetime import datetime, timezone

from archives import epoch
from project import TOP, run, version

APACHE = {"license": {"id": "Apache-2.0"}}


def others(targets):
    """What is not ours: in the artefacts, or opened where they run."""
    swift = re.search(r"Swift version ([\d.]+)", run("swift", "--version"))[1]
    parser = re.search(r'swift-argument-parser", \.upToNextMinor\(from: "([\d.]+)"', (TOP / "Package.swift").read_text())[1]
    jansson = run("pkg-config", "--modversion", "jansson").strip()
    is_inside = any(built != TOP / "build" for built in targets.values())
    return [
        part("swift-stdlib", swift, "pkg:github/swiftlang/swift", {"expression": "Apache-2.0 WITH Swift-exception"},
             "Parts of the standard library are in every native library and program."),
        part("swift-argument-parser", parser, "pkg:github/apple/swift-argument-parser",
             {"expression": "Apache-2.0 WITH Swift-exception"}, "In the full program of the command enroll."),
        part("jansson", jansson, "pkg:github/akheron/jansson", {"license": {"id": "MIT"}},
             "In the native libraries." if is_inside else "Linked by the native libraries; not in them."),
        part("openssl", "3", "pkg:github/openssl/openssl", APACHE, "libcrypto.so.3 of the system, opened when it is needed.", False),
        part("curl", "7.66", "pkg:github/curl/curl", {"license": {"id": "curl"}},
             "libcurl.so.4 of the system, this version or later, opened when it is needed.", False),
    ]  # fmt: skip


def part(name, number, address, licence, description, is_inside=True):
    return {
        "type": "library", "bom-ref": f"{address}@{number}", "name": name, "version": number, "purl": f"{address}@{number}",
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
    external = others(targets)
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        # Decided by what it lists, so that two builds agree.
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, name + ''.join(hashlib.sha256(path.read_bytes()).hexdigest() for path in artefacts))}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch(), timezone.utc).isoformat(),
            "component": {
                "type": "library", "bom-ref": name, "name": "enrollkit", "version": version(), "purl": name, "licenses": [APACHE],
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
    """Held against the schema that comes with cyclonedx-python-lib."""
    program = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read())
sys.exit(f"{sys.argv[1]}: {fault}" if fault else 0)
"""
    run(tools / "bin/python", "-c", program, path)
