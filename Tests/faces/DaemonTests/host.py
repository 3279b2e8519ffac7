"""A host of the daemon that provides HTTP and secrets itself, with Python's standard library."""

import base64
import http.client
import threading
import urllib.parse

from daemon import TIMEOUT, Declined


class HTTP:
    """Sends the HTTP requests that the daemon asks its host to send. `before` gets each request first, and
    may answer the request itself."""

    def __init__(self, before=None, binary=False):
        self.seen = []
        self._before = before
        self._binary = binary

    def __call__(self, asked):
        self.seen.append(asked)
        answer = self._before and self._before(asked)
        return answer or self.send(asked)

    def send(self, asked):
        url = urllib.parse.urlsplit(asked["url"])
        body = asked.get("body", "").encode() or base64.b64decode(asked.get("bodyBase64", "")) or None
        connection = http.client.HTTPConnection(url.hostname, url.port, timeout=min(asked["timeout"], TIMEOUT))
        try:
            connection.request(asked["method"], url.path + ("?" + url.query if url.query else ""), body,
                               asked["headers"])
            answer = connection.getresponse()
            content = answer.read(asked["responseLimit"] + 1)
        except TimeoutError:
            raise Declined(-32032) from None
        except OSError:
            raise Declined(status="network") from None
        finally:
            connection.close()
        text = {"bodyBase64": base64.b64encode(content).decode()} if self._binary else {"body": content.decode()}
        return {"status": answer.status, "headers": dict(answer.getheaders()), **text}

    def paths(self):
        return [urllib.parse.urlsplit(asked["url"]).path for asked in self.seen]


class Secrets:
    """A secret store that can be locked. It stays when a daemon ends."""

    def __init__(self):
        self.kept = {}
        self.is_locked = False
        # There are two ways to answer that there is no such secret.
        self.declines = False
        self.names = []
        self.clients = set()
        self._lock = threading.Lock()

    def functions(self):
        return {"host.store.get": self._get, "host.store.set": self._set, "host.store.remove": self._remove}

    def _open(self, asked):
        if self.is_locked:
            raise Declined(status="storeLocked")
        self.names.append(asked["name"])
        self.clients.add(asked.get("client"))

    def _get(self, asked):
        with self._lock:
            self._open(asked)
            found = self.kept.get(asked["name"])
            if found is None and self.declines:
                raise Declined(status="notFound")
            return {"secret": found} if found else {}

    def _set(self, asked):
        with self._lock:
            self._open(asked)
            self.kept[asked["name"]] = asked["secret"]
            return {}

    def _remove(self, asked):
        with self._lock:
            self._open(asked)
            if self.kept.pop(asked["name"], None) is None:
                raise Declined(status="notFound")
            return {}
