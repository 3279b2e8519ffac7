"""An HTTPS server with keep-alive on a free port of 127.0.0.1: prints the port, then serves until standard input ends.

    tls_server.py CERTIFICATE_CHAIN KEY [--mutual] [BODY]

With --mutual it requires a client certificate. It answers every request with BODY, or with "CONNECTION REQUEST", the
numbers of the connection and of the request, which begin with 1. A request for /reset breaks the connection after its
head was read.
"""
import itertools
import socket
import ssl
import struct
import sys
import threading

MUTUAL = "--mutual" in sys.argv
BODY = [word for word in sys.argv[3:] if word != "--mutual"]


def shakes_hands(tls):
    try:
        tls.do_handshake()
        return True
    except ssl.SSLError:
        # If the socket is closed before the client's bytes are read, the kernel sends a reset, and the reset may
        # overtake the alert.
        with socket.socket(fileno=tls.detach()) as rest:
            rest.shutdown(socket.SHUT_WR)
            while rest.recv(4096):
                pass
        return False


def serve(connection, context, number):
    try:
        with context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False) as tls:
            if not shakes_hands(tls):
                return
            stream = tls.makefile("rb")
            for count in itertools.count(1):
                line = stream.readline()
                if not line:
                    return
                length = 0
                while (header := stream.readline().strip()):
                    name, _, value = header.partition(b":")
                    if name.lower() == b"content-length":
                        length = int(value)
                if b"/reset" in line:
                    tls.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    return
                stream.read(length)
                body = BODY[0].encode() if BODY else b"%d %d" % (number, count)
                tls.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    except OSError:
        pass


def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    if MUTUAL:
        context.verify_mode = ssl.CERT_REQUIRED
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)

    def accept():
        for number in itertools.count(1):
            connection, _ = listener.accept()
            threading.Thread(target=serve, args=(connection, context, number), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    sys.stdin.read()


main()
