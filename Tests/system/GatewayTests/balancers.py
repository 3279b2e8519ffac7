"""HAProxy and nginx as docs/gateway configures them, in front of replicas: only addresses, ports and paths differ."""

import shutil
import ssl
import subprocess

from processes import TOP, Child, free_port, is_listening

PAGES = TOP / "docs/gateway"


def program(name):
    return shutil.which(name) or shutil.which(f"/usr/sbin/{name}") or name


def replaced(text, pairs):
    for before, after in pairs:
        if before not in text:
            raise AssertionError(f"the example has no {before!r}")
        text = text.replace(before, after)
    return text


class Balancer:
    """Listens on `port` with TLS, and passes requests to the replicas."""

    def __init__(self, replicas, change=lambda text: text):
        self.home = replicas.home / self.name
        self.home.mkdir()
        self.port, self.plain = free_port(), free_port()
        self.child = None
        names = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                 "-keyout", self.home / "key", "-out", self.home / "certificate", "-days", "2",
                 "-subj", "/CN=id.example", "-addext", "subjectAltName=DNS:id.example"]  # fmt: skip
        subprocess.run(names, check=True, capture_output=True)
        self.pem = self.home / "id.example.pem"
        self.pem.write_text((self.home / "certificate").read_text() + (self.home / "key").read_text())
        self.tls = ssl.create_default_context(cafile=self.home / "certificate")
        addresses = [(f"192.0.2.1{number}:8080", f"127.0.0.1:{gateway.port}")
                     for number, gateway in enumerate(replicas.all, 1)]  # fmt: skip
        self.write(change((PAGES / self.example).read_text()), addresses)

    def start(self):
        self.child = Child(self.command(), self.home / "log")
        self.child.wait_for(lambda: is_listening(self.port), f"{self.name} listens")
        return self

    def stop(self):
        self.child.stop()


class HAProxy(Balancer):
    name, example = "haproxy", "haproxy.cfg"

    def write(self, text, addresses):
        self.file = self.home / "haproxy.cfg"
        self.file.write_text(replaced(text, [
            (":443 ssl", f"127.0.0.1:{self.port} ssl"), ("bind :80", f"bind 127.0.0.1:{self.plain}"),
            ("/etc/haproxy/id.example.pem", str(self.pem)), ("/run/haproxy/admin.sock", str(self.home / "admin.sock")),
            *addresses,
        ]))  # fmt: skip

    def command(self):
        return [program("haproxy"), "-db", "-f", self.file]


class Nginx(Balancer):
    name, example = "nginx", "nginx.conf"

    def write(self, text, addresses):
        text = replaced(text, [
            ("listen 443 ssl", f"listen 127.0.0.1:{self.port} ssl"), ("listen 80;", f"listen 127.0.0.1:{self.plain};"),
            ("/etc/nginx/id.example.crt", str(self.home / "certificate")),
            ("/etc/nginx/id.example.key", str(self.home / "key")), *addresses,
        ])  # fmt: skip
        (self.home / "site.conf").write_text(text)
        paths = "".join(f"{name}_temp_path {self.home}/{name};\n"
                        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))  # fmt: skip
        self.file = self.home / "nginx.conf"
        self.file.write_text(
            f"daemon off;\npid {self.home}/pid;\nworker_processes 2;\nerror_log stderr notice;\n"
            "events { worker_connections 4096; }\n"
            f"http {{\naccess_log off;\n{paths}include {self.home}/site.conf;\n}}\n"
        )

    def command(self):
        return [program("nginx"), "-e", "stderr", "-c", self.file]
