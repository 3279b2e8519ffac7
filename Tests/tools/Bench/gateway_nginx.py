"""Compares the gateway's HTTP server with nginx, which serves the same bytes from files: processor time per request,
memory per idle connection, and the gateway's processor time without requests."""

import os
import socket
import statistics
import time

from gateway_load import wrk
from gateway_processes import TICK, memory, processor_seconds
from processes import Child, free_port, is_listening

#: The number of open connections on which no request is sent.
IDLE = 5_000
REST_SECONDS = 30
CONFIGURATION = """
{user} daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{ worker_connections 8192; }}
http {{
  access_log off; server_tokens off; keepalive_requests 1000000000; keepalive_timeout 300s; client_header_timeout 300s;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  open_file_cache max=16;
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location = /livez {{ return 204; }}
    location = /login {{ alias {folder}/page; types {{ }} default_type text/html; }}
    location = /v1/userinfo {{ alias {folder}/claims; types {{ }} default_type application/json; }}
  }}
}}
"""


class Server:
    def __init__(self, port, pid):
        self.port, self.pid = port, pid
        self.costs = {}

    def measure(self, what, line, folder, header):
        before = processor_seconds(self.pid)
        figures = wrk(self.port, [line], folder, header=header)
        if figures.failed:
            raise AssertionError(f"{what}: {figures.failed} of {figures.count} requests failed")
        self.costs.setdefault(what, []).append((processor_seconds(self.pid) - before) / figures.count * 1e6)

    def kilobytes_per_idle_connection(self):
        before = memory(self.pid)
        wires = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(IDLE)]
        time.sleep(1)
        after = memory(self.pid)
        for wire in wires:
            wire.close()
        return (after - before) * 1000 / IDLE


def start_nginx(folder, page, claims):
    port = free_port()
    (folder / "page").write_bytes(page)
    (folder / "claims").write_bytes(claims)
    # When root starts nginx, its workers run as another user, who may not read the folder.
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(CONFIGURATION.format(folder=folder, port=port, user=user))
    nginx = Child(["nginx", "-c", folder / "nginx.conf"], folder / "nginx.out")
    nginx.wait_for(lambda: is_listening(port), "nginx listens")
    return nginx, Server(port, nginx.process.pid)


def beside_nginx(gateway, folder, token, turns):
    """- Parameter gateway: a contender of the bench."""
    before = processor_seconds(gateway.pid)
    time.sleep(REST_SECONDS)
    rest = (processor_seconds(gateway.pid) - before) * 1000 * 60 / REST_SECONDS
    authorization = {"Authorization": f"Bearer {token}"}
    page, claims = gateway.ask("/login")[1], gateway.ask("/v1/userinfo", authorization)[1]
    nginx, theirs = start_nginx(folder, page, claims)
    ours = Server(gateway.port, gateway.pid)
    requests = {"empty answer": "/livez", "page": "/login", "session check": f"/v1/userinfo Bearer {token}"}
    for _ in range(turns):
        for what, line in requests.items():
            for server in (ours, theirs):
                server.measure(what, line, folder, "Authorization")
    print("| answer | gateway, CPU | nginx with the same bytes, CPU | ratio |")
    print("| --- | --- | --- | --- |")
    for what in requests:
        ratio = statistics.median(a / b for a, b in zip(ours.costs[what], theirs.costs[what]))
        mine, other = statistics.median(ours.costs[what]), statistics.median(theirs.costs[what])
        print(f"| {what} | {mine:.1f} µs | {other:.1f} µs | {ratio:.2f} × |", flush=True)
    print(f"memory of each of {IDLE} idle connections: {ours.kilobytes_per_idle_connection():.1f} KB, nginx's "
          f"{theirs.kilobytes_per_idle_connection():.1f} KB")  # fmt: skip
    step = 60_000 / REST_SECONDS / TICK
    print(f"the gateway at rest: {rest:.0f} ms of processor time a minute, counted in steps of {step:.0f} ms", flush=True)
    nginx.stop()
