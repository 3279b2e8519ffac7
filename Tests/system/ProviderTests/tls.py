"""A TLS front for a provider that speaks http, with certificates of a private CA.

The front listens on one port and can change the certificate that it presents, so that the certificate is the only
difference between working and refused connections.
"""

import select
import socket
import ssl
import subprocess
import threading

from processes import free_port, workspace

# The names of the certificates. Each name says what is wrong with the certificate.
GOOD = "good"
WRONG_HOST = "wrong-host"
EXPIRED = "expired"
UNKNOWN_CA = "unknown-ca"


class Certificates:
    """A private CA, and one certificate of each kind; `ca_file` is the file that a client trusts."""

    def __init__(self):
        self._directory = workspace("tls")
        self.ca_file = self._authority("ca")
        self._authority("other-ca")
        self._issue(GOOD, "ca", "localhost")
        self._issue(WRONG_HOST, "ca", "elsewhere.example")
        self._issue(EXPIRED, "ca", "localhost", "20200101000000Z", "20210101000000Z")
        self._issue(UNKNOWN_CA, "other-ca", "localhost")

    def context(self, name):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._file(name, "pem"), self._file(name, "key"))
        return context

    def _file(self, name, extension):
        return self._directory / f"{name}.{extension}"

    def _authority(self, name):
        self._openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc",
            "-subj", f"/CN={name}", "-days", "30",
            "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign,cRLSign",
            "-keyout", self._file(name, "key"), "-out", self._file(name, "pem"),
        )  # fmt: skip
        return self._file(name, "pem")

    def _issue(self, name, authority, host, not_before=None, not_after=None):
        """Makes a certificate with `openssl ca`, because only this command can set dates in the past."""
        settings = self._file(name, "cnf")
        self._file(name, "db").touch()
        settings.write_text(
            f"[ca]\ndatabase={self._file(name, 'db')}\nnew_certs_dir={self._directory}\n"
            "rand_serial=yes\ndefault_md=sha256\npolicy=policy\nx509_extensions=leaf\ndefault_days=30\n"
            "[policy]\ncommonName=supplied\n"
            f"[leaf]\nsubjectAltName=DNS:{host}\nextendedKeyUsage=serverAuth\n"
        )
        self._openssl(
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-subj", f"/CN={host}",
            "-keyout", self._file(name, "key"), "-out", self._file(name, "csr"),
        )  # fmt: skip
        dates = ["-startdate", not_before, "-enddate", not_after] if not_before else []
        self._openssl(
            "ca", "-batch", "-notext", "-config", settings, "-name", "ca", *dates,
            "-cert", self._file(authority, "pem"), "-keyfile", self._file(authority, "key"),
            "-in", self._file(name, "csr"), "-out", self._file(name, "pem"),
        )  # fmt: skip

    def _openssl(self, *arguments):
        done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, f"openssl {arguments[0]}: {done.stderr}"


class Front:
    """Accepts TLS on `port` and passes the bytes on to `backend`, a loopback port."""

    def __init__(self, certificates, backend_port):
        self._contexts = {
            name: certificates.context(name) for name in (GOOD, WRONG_HOST, EXPIRED, UNKNOWN_CA)
        }
        self._backend_port = backend_port
        self.port = free_port()
        self.base = f"https://localhost:{self.port}"
        # The number of times that a client trusted the certificate and sent a request.
        self.requests = 0
        self._open = set()
        self.present(GOOD)
        self._listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, daemon=True).start()

    def present(self, name):
        """Sets the certificate for later connections."""
        self._context = self._contexts[name]

    def drop_connections(self):
        """Closes all open connections, because a client that reuses a connection does not check the
        certificate again."""
        for connection in list(self._open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self._listener.close()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection, self._context), daemon=True).start()

    def _serve(self, connection, context):
        client = None
        try:
            with context.wrap_socket(connection, server_side=True) as client:
                self._open.add(client)
                first = client.recv(65536)
                if not first:
                    return
                self.requests += 1
                with socket.create_connection(("127.0.0.1", self._backend_port)) as server:
                    server.sendall(first)
                    _relay(client, server)
        except OSError:
            connection.close()
        finally:
            self._open.discard(client)


def _relay(client, server):
    """Copies both directions in one thread: two threads must not use one OpenSSL connection."""
    while True:
        ready = [client] if client.pending() else select.select([client, server], [], [])[0]
        for source, sink in ((client, server), (server, client)):
            if source in ready:
                data = source.recv(65536)
                if not data:
                    return
                sink.sendall(data)
