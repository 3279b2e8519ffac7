"""Puts libenroll and enrolld into the wheel. They come from build/lib of the checkout, and are built if they are
missing.

If they are older than their sources, they are packed all the same, with a message: `make lib` builds them anew.

ENROLLKIT_LIBRARY_FOLDER in the environment names another folder, with files for another platform;
ENROLLKIT_WHEEL_PLATFORM names the platform that the wheel is for, such as manylinux_2_28_aarch64.

With ENROLLKIT_SYSTEM_LIBRARY=1 in the environment the wheel carries neither file and fits every platform; the package
then uses the libenroll and the enrolld of the system.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import sysconfig
from datetime import datetime
from pathlib import Path
from typing import Any, Dict, Optional

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FILES = ("libenroll.so.0", "enrolld")
SOURCES = ("Package.swift", "include", "Sources")


def tell(words: str) -> None:
    """Prints on standard error and on the terminal: pip shows a build's output only with -v."""
    print(f"enrollkit: {words}", file=sys.stderr, flush=True)
    with contextlib.suppress(OSError), open("/dev/tty", "w") as terminal:
        print(f"\nenrollkit: {words}", file=terminal)


def checkout_of(root: Path) -> Optional[Path]:
    """The checkout whose bindings/python is `root`; None if `root` is no part of a checkout. pip unpacks such
    sources into folders that everybody may write to, so nothing above them is read."""
    root = root.resolve()
    checkout = root.parent.parent
    is_ours = root == checkout / "bindings/python" and (checkout / "scripts/build").exists()
    return checkout if is_ours and not (root / "PKG-INFO").exists() else None


class LibraryHook(BuildHookInterface):  # type: ignore[type-arg]
    """The build hook `custom` of pyproject.toml."""

    def initialize(self, version: str, build_data: Dict[str, Any]) -> None:
        if os.environ.get("ENROLLKIT_SYSTEM_LIBRARY"):
            return
        checkout = checkout_of(Path(self.root))
        named = os.environ.get("ENROLLKIT_LIBRARY_FOLDER")
        if named:
            built = Path(named).resolve()
        elif checkout is None:
            raise SystemExit(
                "enrollkit: there is no libenroll beside these sources. Install from a checkout of EnrollKit (it builds"
                " one), or with ENROLLKIT_SYSTEM_LIBRARY=1 for a package that uses the system's libenroll."
            )
        else:
            built = checkout / "build/lib"
        if named:
            if missing := [name for name in FILES if not (built / name).exists()]:
                raise SystemExit(f"enrollkit: {built} has no {' and no '.join(missing)}")
        elif checkout and not all((built / name).exists() for name in FILES):
            self._build(checkout)
        elif checkout and self._changed(checkout) > (made := (built / FILES[0]).stat().st_mtime):
            tell(
                f"build/lib is of {datetime.fromtimestamp(made):%Y-%m-%d %H:%M}, and older than its sources; it is"
                " taken as it is. `make lib` builds it anew."
            )
        if version != "editable":
            build_data["force_include"].update({str(built / name): f"enrollkit/_lib/{name}" for name in FILES})
        else:
            # An editable install runs from the sources: links beside them lead to the files of build/lib.
            beside = Path(self.root) / "src/enrollkit/_lib"
            beside.mkdir(exist_ok=True)
            for name in FILES:
                link = beside / name
                link.unlink(missing_ok=True)
                link.symlink_to(built / name)
        platform = os.environ.get("ENROLLKIT_WHEEL_PLATFORM") or sysconfig.get_platform()
        platform = platform.replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"

    @staticmethod
    def _changed(checkout: Path) -> float:
        """When the newest source was changed."""
        files = (path for name in SOURCES for path in ((checkout / name), *(checkout / name).rglob("*")))
        return max((path.stat().st_mtime for path in files if path.is_file()), default=0)

    @staticmethod
    def _build(checkout: Path) -> None:
        if shutil.which("swiftc") is None:
            raise SystemExit(
                "enrollkit: build/lib has no libenroll, and there is no Swift to build it with. Install Swift 6.3"
                " (https://www.swift.org/install/linux/) and put it in PATH, bring a build/lib from elsewhere, or set"
                " ENROLLKIT_SYSTEM_LIBRARY=1 for a package that uses the system's libenroll."
            )
        tell("there is no build/lib, so libenroll is built first, for some minutes. `make lib` shows how that goes.")
        subprocess.run([str(checkout / "scripts/setup")], check=True)
        subprocess.run([str(checkout / "scripts/build")], check=True)
