"""The ctypes declarations for libenroll: the part of include/enroll.h that this package calls."""

from __future__ import annotations

import ctypes
import os
import subprocess
import threading
from pathlib import Path
from typing import Any, Dict, List, Optional

from ._error import EnrollError, EnrollLibraryError
from ._generated.statuses import BY_CODE, EnrollInternal
from ._generated.types import ABI, VERSION

OK = 0
NO_TIMEOUT = -1
SECRET_SIZE = 32
ACCESS_VALID = 1
NO_END = (1 << 63) - 1

STORE_DIRECTORY, STORE_MEMORY = 0, 1
KEY_PROVIDERS = {"file": 0, "auto": 1, "secret-service": 2, "passphrase": 3}
KEYS_HOST = 4

_BLAMES = ("internal", "caller", "host", "user", "server", "network", "internal")

HERE = Path(__file__).resolve().parent
NAME = "libenroll.so.0"


class Error(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("status", ctypes.c_int32),
        ("blame", ctypes.c_int32),
        ("is_retryable", ctypes.c_int32),
        ("http_status", ctypes.c_int32),
        ("reason", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
        ("retry_after_seconds", ctypes.c_int64),
        ("oauth_error", ctypes.c_char * 64),
        ("field", ctypes.c_char * 64),
        ("message", ctypes.c_char * 512),
        ("oauth_error_description", ctypes.c_char * 516),
    ]

    @classmethod
    def empty(cls) -> Error:
        return cls(struct_size=ctypes.sizeof(cls))

    def exception(self) -> EnrollError:
        """The exception for an error of the library."""
        kind = BY_CODE.get(self.status, EnrollError)
        error = kind(
            self.message.decode("utf-8", "replace"),
            field=self.field.decode("utf-8", "replace") or None,
            http_status=self.http_status or None,
            oauth_error=self.oauth_error.decode("utf-8", "replace") or None,
            oauth_error_description=self.oauth_error_description.decode("utf-8", "replace") or None,
            retry_after=self.retry_after_seconds or None,
        )
        if self.reason in BY_CODE:
            error.__cause__ = BY_CODE[self.reason](error.message)
        if kind is EnrollError:
            # The status comes from a newer library.
            error.code, error.retryable = self.status, bool(self.is_retryable)
            error.blame = _BLAMES[self.blame] if 0 <= self.blame < len(_BLAMES) else "internal"
        return error


class Buffer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t), ("owner", ctypes.c_void_p)]


class Access(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("outcome", ctypes.c_int32),
        ("reason", ctypes.c_int32),
        ("expires_at", ctypes.c_int64),
        ("token_type", ctypes.c_char * 32),
    ]


class HTTPHeader(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_char_p)]


class HTTPRequest(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("method", ctypes.c_char_p),
        ("url", ctypes.c_char_p),
        ("headers", ctypes.POINTER(HTTPHeader)),
        ("header_count", ctypes.c_size_t),
        ("body", ctypes.c_void_p),
        ("body_size", ctypes.c_size_t),
        ("response_limit", ctypes.c_size_t),
        ("needs_fresh_connection", ctypes.c_int32),
        ("timeout_ms", ctypes.c_int32),
    ]


# The host's objects are looked up by the number in `user_data`: no pointer into Python's memory leaves Python.
RESULT = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(Error)
)
ACCESS = ctypes.CFUNCTYPE(
    None,
    ctypes.c_void_p,
    ctypes.c_int32,
    ctypes.POINTER(Access),
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.POINTER(Error),
)
EVENT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t)
SEND = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(HTTPRequest), ctypes.c_void_p)
RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
ENDED = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
SECRET = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
FORGET = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_char_p)


class Transport(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("user_data", ctypes.c_void_p),
        ("send", SEND),
        ("release", RELEASE),
    ]


class Secrets(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("user_data", ctypes.c_void_p),
        ("load", SECRET),
        ("save", SECRET),
        ("remove", FORGET),
        ("release", RELEASE),
    ]


class Keys(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("provider", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
        ("session_cache_seconds", ctypes.c_int64),
        ("file", ctypes.c_char_p),
        ("file_size", ctypes.c_size_t),
        ("passphrase", ctypes.c_char_p),
        ("passphrase_size", ctypes.c_size_t),
        ("host", ctypes.POINTER(Secrets)),
    ]


class ClientOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("configuration", ctypes.c_char_p),
        ("configuration_size", ctypes.c_size_t),
        ("store_directory", ctypes.c_char_p),
        ("store_directory_size", ctypes.c_size_t),
        ("account", ctypes.c_char_p),
        ("account_size", ctypes.c_size_t),
        ("store", ctypes.c_int32),
        ("is_not_native", ctypes.c_int32),
        ("waits_for_platform", ctypes.c_int32),
        ("renews_in_background", ctypes.c_int32),
        ("platform_type", ctypes.c_char_p),
        ("platform_type_size", ctypes.c_size_t),
        ("app_version", ctypes.c_char_p),
        ("app_version_size", ctypes.c_size_t),
        ("device_id", ctypes.c_char_p),
        ("device_id_size", ctypes.c_size_t),
        ("platform_width", ctypes.c_int64),
        ("platform_height", ctypes.c_int64),
        ("transport", ctypes.POINTER(Transport)),
        ("keys", ctypes.POINTER(Keys)),
        ("clock", ctypes.c_void_p),
        ("log", ctypes.c_void_p),
        ("queue", ctypes.c_void_p),
    ]


STRUCTS = {
    "enroll_error": Error,
    "enroll_buf": Buffer,
    "enroll_access": Access,
    "enroll_http_header": HTTPHeader,
    "enroll_http_request": HTTPRequest,
    "enroll_transport": Transport,
    "enroll_secret_store": Secrets,
    "enroll_keys": Keys,
    "enroll_client_options": ClientOptions,
}

_Error = ctypes.POINTER(Error)
_Keys = ctypes.POINTER(Keys)
_Handle = ctypes.c_void_p
_Text = ctypes.c_char_p
_Size = ctypes.c_size_t

# name: (result, arguments)
FUNCTIONS: Dict[str, Any] = {
    "enroll_abi_version": (ctypes.c_uint32, []),
    "enroll_version_string": (_Text, []),
    "enroll_buf_free": (None, [ctypes.POINTER(Buffer)]),
    "enroll_constant": (ctypes.c_int32, [_Text, _Size, ctypes.POINTER(ctypes.c_int64)]),
    "enroll_client_new": (ctypes.c_int32, [ctypes.POINTER(ClientOptions), ctypes.POINTER(_Handle), _Error]),
    "enroll_client_free": (ctypes.c_int32, [_Handle]),
    "enroll_pending_cancel": (ctypes.c_int32, [_Handle]),
    "enroll_pending_free": (ctypes.c_int32, [_Handle]),
    "enroll_call": (
        ctypes.c_int32,
        [_Handle, _Text, _Size, _Text, _Size, ctypes.c_int64, ctypes.POINTER(Buffer), _Error],
    ),
    "enroll_call_start": (
        ctypes.c_int32,
        [_Handle, _Text, _Size, _Text, _Size, ctypes.c_int64, RESULT, _Handle, ctypes.POINTER(_Handle), _Error],
    ),
    "enroll_token_access": (
        ctypes.c_int32,
        [_Handle, ctypes.c_int64, ctypes.c_int64, ctypes.POINTER(Access), ctypes.POINTER(Buffer), _Error],
    ),
    "enroll_token_list": (ctypes.c_int32, [_Handle, ctypes.POINTER(Buffer), _Error]),
    "enroll_token_access_start": (
        ctypes.c_int32,
        [_Handle, ctypes.c_int64, ctypes.c_int64, ACCESS, _Handle, ctypes.POINTER(_Handle), _Error],
    ),
    "enroll_token_refresh_start": (
        ctypes.c_int32,
        [_Handle, ctypes.c_int64, ACCESS, _Handle, ctypes.POINTER(_Handle), _Error],
    ),
    "enroll_events_subscribe": (
        ctypes.c_int32,
        [_Handle, EVENT, _Handle, ENDED, ctypes.POINTER(ctypes.c_int64), _Error],
    ),
    "enroll_events_unsubscribe": (ctypes.c_int32, [_Handle, ctypes.c_int64, _Error]),
    "enroll_manifest": (ctypes.c_int32, [ctypes.POINTER(Buffer), _Error]),
    "enroll_accounts_list": (ctypes.c_int32, [_Text, _Size, _Keys, ctypes.POINTER(Buffer), _Error]),
    "enroll_accounts_remove": (ctypes.c_int32, [_Text, _Size, _Keys, _Text, _Size, _Error]),
    "enroll_installation_reset": (ctypes.c_int32, [_Text, _Size, _Keys, _Error]),
    "enroll_store_diagnose": (ctypes.c_int32, [_Text, _Size, _Keys, ctypes.POINTER(Buffer), _Error]),
    "enroll_store_rekey": (ctypes.c_int32, [_Text, _Size, _Keys, _Keys, ctypes.c_int32, _Error]),
    "enroll_http_response_set_status": (ctypes.c_int32, [_Handle, ctypes.c_int32]),
    "enroll_http_response_add_header": (ctypes.c_int32, [_Handle, _Text, _Size, _Text, _Size]),
    "enroll_http_response_add_body": (ctypes.c_int32, [_Handle, _Text, _Size]),
    "enroll_http_response_set_unsent": (ctypes.c_int32, [_Handle]),
    "enroll_http_response_is_cancelled": (ctypes.c_int32, [_Handle]),
}

_loaded: Dict[str, ctypes.CDLL] = {}
_loading = threading.Lock()


def candidates(path: Optional[str]) -> List[str]:
    """The paths and names under which the library may be found, in the order in which they are tried."""
    if path is not None:
        return [path]
    if named := os.environ.get("ENROLL_LIBRARY"):
        return [named]
    bundled = HERE / "_lib" / NAME
    if bundled.exists():
        return [str(bundled)]
    # The system's library: found by the loader, or by its pkg-config file.
    try:
        asked = subprocess.run(
            ["pkg-config", "--variable=libdir", "enroll"], capture_output=True, text=True, timeout=10, check=False
        )
        directory = asked.stdout.strip()
    except (OSError, subprocess.SubprocessError):
        directory = ""
    return [NAME, *([os.path.join(directory, NAME)] if directory else [])]


def load(path: Optional[str] = None) -> ctypes.CDLL:
    """The library, opened once for each path.

    Raises:
        EnrollLibraryError: the library was not found, or its version does not fit this package.
    """
    with _loading:
        faults = []
        for name in candidates(path):
            if name not in _loaded:
                try:
                    library = ctypes.CDLL(name)
                except OSError as fault:
                    faults.append(str(fault))
                    continue
                prepare(library, name)
                _loaded[name] = library
            return _loaded[name]
    told = "; ".join(faults)
    if "libjansson" in told:
        hint = "it needs jansson: install Debian's libjansson4"
    elif "GLIBC_" in told:
        hint = "it was built for a newer system, with a later C library: install a wheel of enrollkit for this one"
    else:
        hint = "install a wheel of enrollkit that carries it, or name it in ENROLL_LIBRARY"
    raise EnrollLibraryError(f"libenroll could not be opened ({told}); {hint}")


def prepare(library: ctypes.CDLL, name: str) -> None:
    """Checks that the library fits, and declares its functions."""
    expected = f"enrollkit {VERSION} needs libenroll with C interface {ABI >> 16}.{ABI & 0xFFFF} or a later minor one"
    try:
        version = library.enroll_abi_version
    except AttributeError:
        raise EnrollLibraryError(f"{expected}; {name} is not libenroll") from None
    version.restype = ctypes.c_uint32
    abi = version()
    if abi >> 16 != ABI >> 16 or abi < ABI:
        raise EnrollLibraryError(f"{expected}; {name} has {abi >> 16}.{abi & 0xFFFF}")
    for function, (result, arguments) in FUNCTIONS.items():
        try:
            declared = getattr(library, function)
        except AttributeError:
            raise EnrollLibraryError(f"{expected}; {name} has no {function}") from None
        declared.restype, declared.argtypes = result, arguments


def check(status: int, error: Error) -> None:
    if status != OK:
        if error.status != status:
            raise BY_CODE.get(status, EnrollInternal)(f"the library returned status {status} without a message")
        raise error.exception()
