"""Finds enrolld, starts it, and passes on its log."""

from __future__ import annotations

import logging
import os
import shutil
from pathlib import Path
from typing import List, Optional

from ._error import EnrollLibraryError
from ._generated.statuses import EnrollInvalidArgument
from ._generated.types import ABI, VERSION
from ._given import StorePath, invalid

LEVELS = {
    "error": logging.ERROR,
    "warning": logging.WARNING,
    "info": logging.INFO,
    "debug": logging.DEBUG,
}


def find(path: Optional[StorePath]) -> str:
    """The path of enrolld: the given path, else $ENROLLD, else the program in the wheel, else the program in
    $PATH.

    Raises:
        EnrollLibraryError: it was not found.
    """
    named = os.environ.get("ENROLLD") if path is None else os.fspath(path)
    bundled = Path(__file__).resolve().parent / "_lib" / "enrolld"
    found = named or (str(bundled) if bundled.exists() else shutil.which("enrolld"))
    if found is None:
        raise EnrollLibraryError(
            "enrolld was not found; install a wheel of enrollkit that carries it, or name it in ENROLLD"
        )
    if not os.access(found, os.X_OK) or os.path.isdir(found):
        raise EnrollLibraryError(f"enrolld could not be started: {found} is not an executable file")
    return found


def arguments(path: Optional[StorePath], log_level: str) -> List[str]:
    if log_level not in LEVELS:
        raise EnrollInvalidArgument(f"log_level: expected one of {', '.join(LEVELS)}", field="log_level")
    return [find(path), "--log-level", log_level]


def check_logger(logger: object) -> None:
    if logger is not None and not isinstance(logger, (logging.Logger, logging.LoggerAdapter)):
        raise invalid("logger", "a logging.Logger", logger)


def check_description(abi: int, version: str, program: str) -> None:
    """Checks the version that a daemon reported.

    Raises:
        EnrollLibraryError: the daemon's version does not fit this package.
    """
    if abi >> 16 != ABI >> 16 or abi < ABI:
        raise EnrollLibraryError(
            f"enrollkit {VERSION} needs an enrolld with interface {ABI >> 16}.{ABI & 0xFFFF} or a later minor one;"
            f" {program} {version} has {abi >> 16}.{abi & 0xFFFF}"
        )


def log_line(logger: logging.Logger | logging.LoggerAdapter[logging.Logger], line: bytes) -> None:
    """Passes a line of the daemon's log to the logger, at the line's own level."""
    text = line.decode("utf-8", "replace").rstrip()
    words = text.removeprefix("enrolld: ") if hasattr(text, "removeprefix") else text
    level, _, rest = words.partition(": ")
    if level in LEVELS:
        logger.log(LEVELS[level], "%s", rest)
    else:
        logger.warning("%s", text)


def ending(program: str, status: Optional[int], last: str) -> str:
    """Says how a daemon ended."""
    if status is None:
        how = "closed its output"
    elif status < 0:
        how = f"was killed by signal {-status}"
    else:
        how = f"ended with status {status}"
    return f"{os.path.basename(program)} {how}" + (f"; the last line of its log: {last}" if last else "")
