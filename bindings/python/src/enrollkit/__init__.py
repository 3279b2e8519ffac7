"""EnrollKit for Python: signs a user in through the browser (OAuth 2.0, OpenID Connect), then has a valid token for
months.

    with enrollkit.Client(configuration, store="/home/me/.local/share/app") as client:
        client.sign_in(confirm=lambda profile: True)
        token = client.access_token()

`Client` is to be called, `enrollkit.aio.Client` to be awaited; both speak to the C library in this process, or to a
`Daemon`. Every failure is an `EnrollError` that says who is to blame and whether trying again helps.
"""

from . import _statuses, _types
from ._client import Client, Daemon, EventStream, Library
from ._error import EnrollDaemonEnded, EnrollError, EnrollLibraryError
from ._flow import open_browser
from ._given import MEMORY, Timeout, Keys, Seconds, StorePath
from ._host import AsyncTransport, HTTPRequest, HTTPResponse, SecretStore, Transport
from ._statuses import *  # noqa: F403
from ._types import *  # noqa: F403
from ._types import VERSION as __version__

__all__ = [
    "MEMORY",
    "AsyncTransport",
    "Client",
    "Daemon",
    "Timeout",
    "EnrollDaemonEnded",
    "EnrollError",
    "EnrollLibraryError",
    "EventStream",
    "HTTPRequest",
    "HTTPResponse",
    "Keys",
    "Library",
    "Seconds",
    "SecretStore",
    "StorePath",
    "Transport",
    "__version__",
    "open_browser",
    *_statuses.__all__,
    *_types.__all__,
]
