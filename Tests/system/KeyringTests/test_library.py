"""Tests the C library with gnome-keyring: it loads GLib into the process only when it needs GLib."""

import ctypes
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

from keyring import Session

TOP = pathlib.Path(__file__).resolve().parents[3]
LIBRARY = TOP / "build/lib/libenroll.so.0"

FILE, AUTO, SECRET_SERVICE = 0, 1, 2
# Signals that the library's threads do not block. The system sends the signal of a fault to the thread that caused the
# fault, and the host may handle it. The last two signals cannot be blocked at all.
NEVER_BLOCKED = {
    signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGSYS, signal.SIGKILL,
    signal.SIGSTOP}


class Keys(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t), ("provider", ctypes.c_int32), ("reserved", ctypes.c_int32),
        ("session_cache_seconds", ctypes.c_int64), ("file", ctypes.c_char_p), ("file_size", ctypes.c_size_t),
        ("passphrase", ctypes.c_char_p), ("passphrase_size", ctypes.c_size_t), ("host", ctypes.c_void_p)]

    def __init__(self, provider):
        super().__init__(struct_size=ctypes.sizeof(Keys), provider=provider)


def is_glib_here():
    return "libglib" in pathlib.Path("/proc/self/maps").read_text()


def threads():
    return {path.read_text().strip() for path in pathlib.Path("/proc/self/task").glob("*/comm")}


def blocked_signals(name):
    """The signal mask of the thread with that name."""
    for task in pathlib.Path("/proc/self/task").iterdir():
        if (task / "comm").read_text().strip() == name:
            lines = (task / "status").read_text().splitlines()
            return int(next(line.split()[1] for line in lines if line.startswith("SigBlk:")), 16)
    return None


def play(store):
    """The part of the test that runs inside the desktop session, in a separate process."""
    library = ctypes.CDLL(str(LIBRARY))
    directory = store.encode()

    def reset(provider):
        keys = Keys(provider)
        return library.enroll_installation_reset(directory, len(directory), ctypes.byref(keys), None)

    def rekey(old, new):
        return library.enroll_store_rekey(
            directory, len(directory), ctypes.byref(Keys(old)), ctypes.byref(Keys(new)), 0, None)

    def accounts(provider):
        buffer = (ctypes.c_size_t * 3)()
        keys = Keys(provider)
        status = library.enroll_accounts_list(
            directory, len(directory), ctypes.byref(keys), ctypes.byref(buffer), None)
        library.enroll_buf_free(ctypes.byref(buffer))
        return status

    os.mkdir(store, 0o700)
    assert accounts(FILE) == 0
    assert not is_glib_here(), "a key file needs no GLib"
    assert rekey(FILE, SECRET_SERVICE) == 0
    assert is_glib_here()
    assert accounts(SECRET_SERVICE) == 0
    assert accounts(FILE) == -75, "ENROLL_E_STORE_KEY"
    # The system's C library keeps the signals 32 and 33 for itself.
    mask = blocked_signals("gdbus")
    assert mask is not None
    assert {number for number in range(1, 32) if not mask >> (number - 1) & 1} == NEVER_BLOCKED, hex(mask)
    child = os.fork()
    if child == 0:
        # The forked child has no threads of GLib, so a connection to the keyring would wait for ever.
        os._exit(0 if accounts(SECRET_SERVICE) == -4 and accounts(AUTO) == -4 else 1)
    assert os.waitpid(child, 0)[1] == 0, "a forked child is told so"
    assert accounts(AUTO) == 0
    assert rekey(SECRET_SERVICE, FILE) == 0
    assert accounts(FILE) == 0


class Library(unittest.TestCase):
    def test_the_library_brings_glib_in_only_when_its_host_says_so(self):
        with Session() as session, tempfile.TemporaryDirectory() as folder:
            run = subprocess.run(
                [sys.executable, __file__, folder + "/store"], env={**os.environ, **session.environment},
                capture_output=True, text=True, timeout=120)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(session.items(), 0)


if __name__ == "__main__":
    play(sys.argv[1])
