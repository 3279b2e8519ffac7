"""The program that the desktop starts for a custom scheme: `scheme_handler.py ENROLLD OPEN OUT URL`.

It is a new process that knows only the URL: it opens the client (OPEN: a file with the parameters of client.open),
resumes, and writes the daemon's answer to OUT.
"""

import json
import subprocess
import sys
from pathlib import Path


def main(enrolld, opening, out, url):
    requests = [
        ("client.open", json.loads(Path(opening).read_text())),
        ("registration.resume", {"client": "c1", "url": url}),
    ]
    daemon = subprocess.Popen([enrolld], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for number, (method, params) in enumerate(requests):
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        daemon.stdin.write(json.dumps(message).encode() + b"\n")
        daemon.stdin.flush()
        answer = json.loads(daemon.stdout.readline())
        if number == 0:
            requests[1][1]["client"] = answer["result"]["client"]
    daemon.stdin.close()
    daemon.wait(30)
    unfinished = Path(out + ".part")
    unfinished.write_text(json.dumps(answer))
    unfinished.rename(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
