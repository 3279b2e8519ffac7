"""Scenarios about messages, memory and time, mostly with a server that requires no token, so that bridges without a
sign-in can take part. Each is a function of a contender and the provider, and returns the cells of its rows."""

import http.client
import json
import re
import socket
import ssl
import statistics
import subprocess
import threading
import time
from pathlib import Path

from documents import Documents
from instances import HELLO, Lab, Unanswered
from processes import workspace

MEBIBYTE = 1 << 20
SYSTEM_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")


def first_answer(contender, provider, starts=15):
    """Measures the time from the start of the process to the answer of the first `tools/list`, with a stored token."""
    with Lab(contender, provider) as lab:
        lab.ready(1)[0].kill()
        times, further = [], []
        for _ in range(starts):
            before = len(lab.notes.asked)
            provider.control("requests")
            instance = lab.start()
            instance.greet()
            times.append(time.monotonic() - instance.begun)
            asked = lab.notes.asked[before:]
            asked = asked[: asked.index(("POST", "/mcp", "tools/list"))]
            # Two requests are the host's own. GET opens the stream of the server's messages, which delays nothing.
            others = [row for row in asked if row[:2] != ("GET", "/mcp")]
            further.append(len(others) - 2 + len(provider.control("requests")))
            instance.kill()
        own = statistics.median(bare_seconds(lab) for _ in range(5))
        median = statistics.median(times) * 1000
        return {"first answered tools/list, stored token": f"{median:.0f} ms (server's own {own * 1000:.0f})",
                "further requests before the first tools/list": f"{statistics.median(further):.0f}"}  # fmt: skip


def over_tls(contender, provider, starts=9):
    """Measures the start over TLS, with a server that requires no token. The bridge gets a file with the system's
    certificates and the server's certificate."""
    folder = workspace("tls")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "own.pem",
         "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"],
        cwd=folder, check=True, capture_output=True)  # fmt: skip
    bundle = folder / "all.pem"
    bundle.write_bytes(SYSTEM_CERTIFICATES.read_bytes() + (folder / "own.pem").read_bytes())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "own.pem", folder / "key.pem")
    with Lab(contender, None) as lab:
        lab.notes.use(context)
        lab.environment |= {"SSL_CERT_FILE": str(bundle), "NODE_EXTRA_CA_CERTS": str(folder / "own.pem")}
        times = []
        for _ in range(starts):
            instance = lab.start()
            instance.greet()
            times.append(time.monotonic() - instance.begun)
            memory = instance.memory()
            instance.kill()
        median = statistics.median(times) * 1000
        return {"first answered tools/list over TLS, no token": f"{median:.0f} ms, {memory:.1f} MiB"}


def bare_seconds(lab):
    """The seconds that the same three requests take without a bridge."""
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    if lab.notes.tokens:
        headers["Authorization"] = f"Bearer {list(lab.notes.tokens)[-1]}"
    begun = time.monotonic()
    connection = http.client.HTTPConnection(lab.notes.origin.removeprefix("http://"))
    connection.connect()
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for message in ({"id": 1, "method": "initialize", "params": HELLO}, {"method": "notifications/initialized"},
                    {"id": 2, "method": "tools/list"}):  # fmt: skip
        connection.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", **message}), headers)
        answer = connection.getresponse()
        answer.read()
        headers.setdefault("Mcp-Session-Id", answer.headers.get("Mcp-Session-Id") or "")
    connection.close()
    return time.monotonic() - begun


def memory(contender, provider):
    with Lab(contender, None) as lab:
        instance = lab.start()
        instance.greet()
        time.sleep(2)
        idle, share = instance.memory(), instance.memory("Pss", "smaps_rollup")
        streams = 16
        calls = [instance.begin_call("slow", seconds=4) for _ in range(streams)]
        time.sleep(2)
        busy = instance.memory()
        for call in calls:
            try:
                instance.await_answer(call, 90)
            except Unanswered:
                break
        return {"RSS of an idle instance": f"{idle:.1f} MiB (with shared pages by parts: {share:.1f})",
                "RSS for each of 16 open streams": f"{(busy - idle) / streams * 1024:.0f} KiB"}  # fmt: skip


def large_answer(contender, provider):
    with Lab(contender, None) as lab:
        instance = lab.start()
        instance.greet()
        begun = time.monotonic()
        number = instance.begin_call("big", size=40 * MEBIBYTE)
        try:
            at, line, message = instance.await_answer(number, 60)
        except Unanswered:
            return {"one 40 MB answer": "no answer in 60 s"}
        if "error" in message:
            return {"one 40 MB answer": f"error {message['error'].get('code')}"}
        # This time includes the time in which the server makes and sends the answer.
        return {"one 40 MB answer": f"{at - begun:.2f} s, {instance.memory('VmHWM'):.0f} MiB"}


def large_request(contender, provider):
    """Sends a request of 40 MB, and a request that exceeds the limit of every bridge; after each, an ordinary
    request."""
    rows = {}
    for size, name in ((40 * MEBIBYTE, "one 40 MB request"), (80 * MEBIBYTE, "one 80 MB request")):
        with Lab(contender, None) as lab:
            instance = lab.start()
            instance.greet()
            instance.call("x")
            begun = time.monotonic()
            numbers = []

            def send(instance=instance, numbers=numbers, size=size):
                try:
                    numbers.append(instance.begin("ping", {"_meta": {"x": "x" * size}}))
                except (OSError, ValueError):
                    return

            sender = threading.Thread(target=send, daemon=True)
            sender.start()
            sender.join(20)
            try:
                if not numbers:
                    raise Unanswered("its pipe is full" if sender.is_alive() else "the bridge has ended")
                at, _, message = instance.await_answer(numbers[0], 20)
                words = f"error {message['error']['code']}" if "error" in message else "answered"
                cell = f"{words} after {at - begun:.2f} s"
            except Unanswered as reason:
                cell = f"not answered: {reason}"
            try:
                cell += ", goes on" if "result" in instance.ask("ping", timeout=5) else ", refuses the next"
            except (Unanswered, OSError, ValueError):
                cell += ", hangs" if instance.process.poll() is None else ""
            rows[name] = cell
    return rows


def ping_beside(contender, provider):
    with Lab(contender, None) as lab:
        instance = lab.start()
        instance.greet()
        alone, beside = [], []
        for times in (alone, beside):
            call = instance.begin_call("slow", seconds=3) if times is beside else None
            time.sleep(0.3)
            for _ in range(5):
                begun = time.monotonic()
                at, _, _ = instance.await_answer(instance.begin("ping"))
                times.append(at - begun)
            if call:
                instance.await_answer(call)
        return {"ping beside a 3 s call": f"{max(beside) * 1000:.0f} ms, alone {max(alone) * 1000:.0f} (longest of 5)"}


def throughput(contender, provider):
    """Measures calls one after another, many calls at once, and a stream of 128 MiB."""
    with Lab(contender, None) as lab:
        instance = lab.start()
        instance.greet()
        times = []
        for _ in range(200):
            begun = time.monotonic()
            at, _, _ = instance.await_answer(instance.begin_call("x"))
            times.append(at - begun)
        begun = time.monotonic()
        calls = [instance.begin_call("x") for _ in range(500)]
        many = max(instance.await_answer(call)[0] for call in calls) - begun
        median = statistics.median(times) * 1000
        rows = {"a call, one after another": f"{median:.1f} ms", "500 calls at once": f"{many:.2f} s"}
        begun = time.monotonic()
        try:
            at, _, _ = instance.await_answer(instance.begin_call("flood", count=2048), 120)
            rows["128 MiB in 2,048 events"] = f"{at - begun:.1f} s, {instance.memory('VmHWM'):.0f} MiB"
        except Unanswered as reason:
            rows["128 MiB in 2,048 events"] = f"{reason}"
        return rows


def unread(contender, provider, seconds):
    """The server sends 256 MiB while the host reads nothing."""
    with Lab(contender, None) as lab:
        instance = lab.start()
        instance.greet()
        time.sleep(1)
        idle = instance.memory()
        instance.may_read.clear()
        call = instance.begin_call("flood", count=4096)
        end, most = time.monotonic() + seconds, idle
        while time.monotonic() < end:
            time.sleep(1)
            most = max(most, instance.memory())
        instance.may_read.set()
        try:
            instance.await_answer(call, 60)
            words = "then answered"
        except Unanswered:
            words = "then not answered"
        return {f"host that does not read for {seconds} s": f"+{most - idle:.1f} MiB, {words}"}


def end_in_call(contender, provider):
    with Lab(contender, None) as lab:
        instance = lab.start()
        instance.greet()
        instance.begin_call("slow", seconds=6)
        time.sleep(0.5)
        begun = time.monotonic()
        instance.process.stdin.close()
        status = instance.process.wait(60)
        seconds = time.monotonic() - begun
        time.sleep(0.2)
        deleted = "DELETE" if lab.notes.all("DELETE") else "no DELETE"
        return {"end of input in a call": f"{seconds:.1f} s, exit {status}, {deleted}"}


def broken_streams(contender, provider):
    rows = {}
    cases = (("cut", "answer stream cut"), ("empty", "answer stream empty"), ("accepted", "202 to a request"))
    for tool, name in cases:
        with Lab(contender, None) as lab:
            instance = lab.start()
            instance.greet()
            begun = time.monotonic()
            try:
                answer = instance.call(tool, timeout=15)
                kind = f"error {answer['error'].get('code')}" if "error" in answer else "a result"
                rows[name] = f"{kind} after {time.monotonic() - begun:.1f} s"
            except Unanswered:
                rows[name] = "no answer in 15 s"
            except OSError:
                rows[name] = "the bridge has ended"
            calls = len([row for row in lab.notes.all("tools/call") if row["message"]["params"]["name"] == tool])
            if calls > 1:
                rows[name] += f", called {calls} times"
    return rows


def bytes_unchanged(contender, provider, count, deepest):
    documents = Documents(20261130, deepest)
    with Lab(contender, None) as lab:
        instance = lab.start()
        instance.greet()
        wanted, answers, lines = {}, {}, {}
        lab.notes.answers_raw = answers
        lost = changed_there = changed_back = 0
        numbers = range(1000, 1000 + count)
        for batch in (numbers[start : start + 50] for start in range(0, count, 50)):
            for number in batch:
                # The JSON of a server may contain line ends between its tokens; the JSON of a host must not.
                arguments, answers[number] = documents.document(), documents.document(number % 3 == 0).encode()
                wanted[number] = (
                    b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"raw","arguments":%s}}'
                    % (number, arguments.encode()))
                try:
                    instance.write(wanted[number])
                except OSError:
                    break
            for number in batch:
                try:
                    lines[number] = instance.await_answer(number, 10 if lost < 10 else 0)[1]
                except Unanswered:
                    lost += 1
        sent = {}
        for row in lab.notes.received:
            found = re.match(rb'\{"jsonrpc":\s?"2.0",\s?"id":\s?(\d+),', row["body"]) or re.search(
                rb'"id":\s?(1\d{3,4})\}$', row["body"])  # fmt: skip
            if found:
                sent[int(found[1])] = row["body"]
        for number in numbers:
            changed_there += sent.get(number) != wanted[number]
            back = b'{"jsonrpc":"2.0","id":%d,"result":%s}\n' % (number, answers[number].replace(b"\n", b" "))
            if number in lines and lines[number] != back:
                changed_back += 1
                print("   ", back[:200], lines[number][:200], sep="\n    ") if changed_back < 3 else None
        words = ", has ended" if instance.process.poll() is not None else ""
        return {f"random documents up to {deepest} deep, changed": (
            f"{changed_there} of {count} arguments, {changed_back} of {count} results, {lost} not answered{words}")}

