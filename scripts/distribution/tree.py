"""A tar of the files that `make install` installs, for one target; the files work wherever the tar is unpacked."""

import os
import re
import tempfile
from pathlib import Path

import archives
from project import TOP, libc, run, version


def make(out, target, built):
    root = f"enrollkit-{version()}-{target}"
    with tempfile.TemporaryDirectory() as stage:
        run(TOP / "scripts/install", "install",
            env={**os.environ, "PREFIX": "/usr/local", "DESTDIR": stage, "LIBDIR": "", "BUILT": str(built.relative_to(TOP))})  # fmt: skip
        files = archives.below(Path(stage) / "usr/local")
        for name in ("enroll.pc", "enroll-static.pc"):
            text = files[f"lib/pkgconfig/{name}"].read_text()
            files[f"lib/pkgconfig/{name}"] = re.sub(r"^prefix=.*", "prefix=${pcfiledir}/../..", text, flags=re.M).encode()
        unit = files["lib/systemd/user/enrolld@.service"].read_text()
        files["lib/systemd/user/enrolld@.service"] = unit.replace("/usr/local/bin", "%h/.local/bin").encode()
        kind, lowest, needed = asked(files.values())
        words = {
            "@version@": version(), "@target@": target, "@machine@": target.partition("-")[0],
            "@libc@": f"{kind} {lowest}".strip(), "@kind@": kind, "@lowest@": lowest or "0",
            "@jansson@": JANSSON if "libjansson.so.4" in needed else "",
        }  # fmt: skip
        for name in ("install", "README.md"):
            text = (TOP / "packaging/tar" / name).read_text()
            for word, meaning in words.items():
                text = text.replace(word, meaning)
            files[name] = text.encode()
        installer = Path(stage) / "install"
        installer.write_bytes(files["install"])
        installer.chmod(0o755)
        files["install"] = installer
        files["LICENSE"] = TOP / "LICENSE"
        return archives.tar(out / f"{root}.tar.gz", root, files)


JANSSON = "\n\nThe programs also need jansson 2.14 (Debian package libjansson4)."


def asked(paths):
    """The requirements of the programs and the library: the kind of C library, its version, and the libraries that the
    loader opens."""
    programs = [path for path in paths if not isinstance(path, bytes) and not path.is_symlink() and is_program(path)]
    kinds = [libc(path) for path in programs]
    kind, = {kind for kind, _ in kinds}
    lowest = max((lowest for _, lowest in kinds), key=lambda text: [int(part) for part in text.split(".") if part])
    return kind, lowest, set(re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", *programs)))


def is_program(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"
