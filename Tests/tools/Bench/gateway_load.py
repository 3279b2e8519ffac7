"""Makes load for the gateway's bench: wrk, a process that requests pages again and again, and many requests
at once by bare sockets."""

import http.client
import json
import re
import select
import socket
import subprocess
import sys
import time
from dataclasses import dataclass

LUA = """
local requests, turn = {}, 0
for line in io.lines("%s") do
  local target, cookie = line:match("^(%%S+)%%s*(.*)$")
  local headers = {["Host"] = "id.example"}
  if cookie ~= "" then headers["%s"] = cookie end
  requests[#requests + 1] = wrk.format("GET", target, headers)
end
request = function()
  turn = turn + 1
  return requests[(turn - 1) %% #requests + 1]
end
"""
#: The pause between two requests of the process that requests pages again and again.
PAUSE_SECONDS = 0.005
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


@dataclass
class Figures:
    count: int
    rate: float
    p99: float
    failed: int


def wrk(port, lines, folder, connections=32, seconds=2, header="Cookie"):
    """- Parameter lines: a target, and after a space the value of `header`. The lines are used in turn."""
    requests = folder / "requests"
    requests.write_text("\n".join(lines) + "\n")
    script = folder / "requests.lua"
    script.write_text(LUA % (requests, header))
    done = subprocess.run(
        ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "20s", "--latency", "-s", script,
         f"http://127.0.0.1:{port}/"], capture_output=True, text=True, check=True)  # fmt: skip
    said = done.stdout
    count = int(re.search(r"(\d+) requests in", said)[1])
    number, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", said).groups()
    failed = sum(int(number) for number in re.findall(r"Non-2xx or 3xx responses: (\d+)", said))
    failed += sum(map(int, re.findall(r"(?:connect|read|write|timeout) (\d+)", said)))
    return Figures(count, float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1]), float(number) * UNITS[unit], failed)


def at_once(port, requests):
    """Sends all requests at the same moment, each on a connection that is already open.

    - Returns: the seconds until each answer, and the statuses."""
    sockets = {}
    for request in requests:
        one = socket.create_connection(("127.0.0.1", port))
        sockets[one.fileno()] = (one, request)
    poll = select.epoll()
    for number in sockets:
        poll.register(number, select.EPOLLIN)
    began = {}
    for number, (one, request) in sockets.items():
        began[number] = time.perf_counter()
        one.send(request)
    times, statuses = [], []
    while len(times) < len(sockets):
        for number, _ in poll.poll(30):
            moment = time.perf_counter()
            if number in began:
                statuses.append(sockets[number][0].recv(65_536)[9:12])
                times.append(moment - began.pop(number))
            poll.unregister(number)
    for one, _ in sockets.values():
        one.close()
    return times, statuses


def look(port, seconds):
    """Requests the page again and again, in a separate process.

    - Returns: the process; it prints the seconds of each request as JSON."""
    words = [sys.executable, "-B", __file__, str(port), str(seconds)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def main(port, seconds):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    times, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.perf_counter()
        connection.request("GET", "/login", headers={"Host": "id.example"})
        connection.getresponse().read()
        times.append(time.perf_counter() - began)
        time.sleep(PAUSE_SECONDS)
    print(json.dumps(times))


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
