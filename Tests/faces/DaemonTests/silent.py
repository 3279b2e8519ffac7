"""A provider that accepts requests and never answers."""

import socket
import threading


class Silent:
    """A server that accepts connections and never answers."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.connections = []
        self.reached = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections.append(connection)
            threading.Thread(target=self._read, args=[connection], daemon=True).start()

    def _read(self, connection):
        if connection.recv(65536):
            self.reached.set()

    def close(self):
        self.listener.close()
        for connection in self.connections:
            connection.close()
