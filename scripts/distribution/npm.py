"""Makes the two packages for npm: the Cordova plugin and the binding for Node.js."""

import shutil
import tempfile
from pathlib import Path

import archives
from project import TOP, run, version


def cordova(out):
    """The plugin as npm packs it."""
    folder = TOP / "bindings/cordova"
    files = {"package.json": folder / "package.json", "README.md": folder / "README.md", "LICENSE": TOP / "LICENSE",
             "plugin.xml": folder / "plugin.xml"}  # fmt: skip
    for part in ("www", "src"):
        files |= {f"{part}/{name}": path for name, path in archives.known(folder / part).items()}
    return archives.tar(out / f"enrollkit-cordova-{version()}.tgz", "package", files)


def node(out):
    """Makes the package for Node.js with bindings/node/pack. The package contains the daemon of each target
    that is built."""
    with tempfile.TemporaryDirectory() as folder:
        run(TOP / "bindings/node/pack", folder)
        return [Path(shutil.copy(path, out)) for path in sorted(Path(folder).iterdir())]
