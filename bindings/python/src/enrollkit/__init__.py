"""EnrollKit for Python: signs a user in through the browser (OAuth 2.0, OpenID Connect). Your program then has a
valid access token for months.

    with enrollkit.Client(configuration, store="/home/me/.local/share/app") as client:
        client.sign_in(confirm=lambda profile: True)
        token = client.access_token()

`Client` blocks; `enrollkit.aio.Client` is for asyncio. Both use the C library in this process, or a `Daemon`. Every
failure is an `EnrollError`, which says who is to blame and whether a retry helps.
"""

from ._client import Client, Daemon, EventStream, Library
from ._error import EnrollDaemonEnded, EnrollError, EnrollLibraryError
from ._flow import open_browser
from ._generated import statuses as _statuses
from ._generated import types as _types
from ._generated.statuses import *  # noqa: F403
from ._generated.types import *  # noqa: F403
from ._generated.types import VERSION as __version__
from ._given import MEMORY, Keys, Seconds, StorePath, Timeout
from ._host import AsyncTransport, HTTPRequest, HTTPResponse, SecretStore, Transport

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
