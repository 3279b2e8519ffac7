"""The contents of artefacts."""

import io
import re
import subprocess
import tarfile
import zipfile


def members(path):
    """The files of an archive by their names: a .tar.gz, .tgz, .whl, .jar or .deb."""
    if path.suffix in (".whl", ".jar"):
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    packed = path.read_bytes()
    if path.suffix == ".deb":
        packed = subprocess.run(["dpkg-deb", "--fsys-tarfile", path], stdout=subprocess.PIPE, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        return {one.name: archive.extractfile(one).read() for one in archive if one.isfile()}


def programs(path):
    """The programs and libraries of an archive by their names."""
    return {name: content for name, content in members(path).items() if content[:4] == b"\x7fELF"}


MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}


def target_of(path):
    """The target that an artefact is for, such as x86_64-linux-gnu."""
    machine = re.search(r"x86_64|aarch64|amd64|arm64", path.name)[0]
    return f"{MACHINES.get(machine, machine)}-linux-{'musl' if 'musl' in path.name else 'gnu'}"
