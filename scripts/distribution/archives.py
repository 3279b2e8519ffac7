"""Archives whose bytes depend only on their contents: sorted names, one date, no owners."""

import gzip
import io
import os
import tarfile
import time
import zipfile
from pathlib import Path

from project import TOP, run


def epoch():
    """The date of every packed file: the date of the last commit."""
    return int(os.environ["SOURCE_DATE_EPOCH"])


def known(folder):
    """Every file and link of a folder of the checkout that git knows (scripts/tracked), by its name in that folder,
    sorted."""
    listed = run(TOP / "scripts/tracked", folder.relative_to(TOP)).split("\0")
    return {(TOP / name).relative_to(folder).as_posix(): TOP / name for name in listed if name}


def below(folder):
    """Every file and link of a folder, by its name in that folder, sorted."""
    folder = Path(folder)
    found = {}
    for path in folder.rglob("*"):
        if path.is_symlink() or path.is_file():
            found[path.relative_to(folder).as_posix()] = path
    return dict(sorted(found.items()))


def tar(target, root, files):
    """A .tar.gz with one folder, `root`. `files`: each name in that folder, with the path or the bytes
    of its content."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(f"{root}/{name}")
            entry.mtime = epoch()
            if not isinstance(content, bytes) and content.is_symlink():
                entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, os.readlink(content), 0o777
                archive.addfile(entry)
                continue
            is_program = not isinstance(content, bytes) and os.access(content, os.X_OK)
            entry.mode = 0o755 if is_program else 0o644
            data = content if isinstance(content, bytes) else content.read_bytes()
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    with open(target, "wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=9) as squeezed:
        squeezed.write(packed.getvalue())
    return target


def jar(target, files):
    """A zip whose first entry is the manifest. `files`: each name in the zip, with the path or the bytes
    of its content."""
    date = max(time.gmtime(epoch())[:6], (1980, 1, 1, 0, 0, 0))
    manifest = b"Manifest-Version: 1.0\r\nAutomatic-Module-Name: org.enrollkit\r\n\r\n"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in [("META-INF/MANIFEST.MF", manifest), *sorted(files.items())]:
            entry = zipfile.ZipInfo(name, date)
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content if isinstance(content, bytes) else content.read_bytes(), compresslevel=9)
    return target
