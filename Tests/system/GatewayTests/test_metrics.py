"""Tests the program's metrics with Prometheus's own parser."""

import json
import os
import socket
import subprocess
import unittest
from pathlib import Path

from databases import KINDS, settings
from gateway import Browser, Gateway, play, sandbox_for
from processes import free_port, is_listening, wait_until

#: The parser runs in Debian's own Python, which has the package python3-prometheus-client.
PARSER = """
import json, sys
from prometheus_client.parser import text_string_to_metric_families
families = []
for family in text_string_to_metric_families(sys.stdin.read()):
    families.append([family.name, family.type, family.documentation,
                     [[one.name, one.labels, one.value] for one in family.samples]])
print(json.dumps(families))
"""


def of_process(number):
    """The seconds and bytes that the system counts for a process (proc(5))."""
    fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
    # The first element of `fields` is field 3 of proc(5).
    user, system, pages = (int(fields[field - 3]) for field in (14, 15, 24))
    return {"processor": (user + system) / os.sysconf("SC_CLK_TCK"), "memory": pages * os.sysconf("SC_PAGESIZE")}


class Metrics(unittest.TestCase):
    def world(self, kind):
        self.port = free_port()
        self.gateway = Gateway(metrics=f"127.0.0.1:{self.port}", **settings(kind))
        self.sandbox = sandbox_for(self.gateway)
        self.addCleanup(self.sandbox.stop)
        self.gateway.start()
        self.addCleanup(self.gateway.stop)
        self.gateway.child.wait_for(lambda: is_listening(self.port), "the metrics are there")

    def scrape(self):
        """The samples by name and labels, and the kinds of the metrics by name."""
        answer = Browser(f"http://127.0.0.1:{self.port}").open("/metrics")
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        done = subprocess.run(
            ["/usr/bin/python3", "-c", PARSER], input=answer.text, capture_output=True, text=True, check=True)
        samples, self.kinds = {}, {}
        for name, kind, help_text, found in json.loads(done.stdout):
            self.assertNotIn(name, self.kinds, "a family comes once")
            self.assertTrue(help_text)
            self.kinds[name] = kind
            for one, labels, value in found:
                key = (one, *sorted(labels.items()))
                self.assertNotIn(key, samples)
                samples[key] = value
        return samples

    def test_a_parser_reads_what_happened(self):
        for kind in KINDS:
            with self.subTest(kind):
                self.world(kind)
                self.happened()

    def happened(self):
        browser = Browser(self.gateway.base)
        play(self.sandbox, f"{self.gateway.base}/v1/auth/sandbox", browser)
        mark = browser.open("/account").text.partition('name="token" value="')[2].partition('"')[0]
        browser.open("/signout", {"token": mark})
        with socket.create_connection(("127.0.0.1", self.gateway.port)) as wire:
            wire.sendall(b"GET / HTTP/1.1\r\nHost : x\r\n\r\n")
            wire.recv(100)
        wait_until(lambda: ("enroll_gateway_mails_waiting",) in self.scrape(), "the database was asked for figures")
        samples = self.scrape()
        prefix = "enroll_gateway_"

        def value(name, **labels):
            return samples[(prefix + name, *sorted(labels.items()))]

        self.assertEqual(value("requests_total", route="/v1/auth/{provider}/callback", status="3xx"), 1)
        self.assertEqual(value("request_duration_seconds_count", lane="provider"), 2)
        self.assertEqual(value("request_duration_seconds_bucket", lane="provider", le="+Inf"), 2)
        self.assertEqual(value("refusals_total", reason="malformed"), 1)
        self.assertGreaterEqual(value("connections_total"), 5)
        self.assertEqual(value("sign_ins_total", provider="sandbox", outcome="registered"), 1)
        self.assertEqual(value("sessions_begun_total"), 1)
        self.assertEqual(value("sessions_ended_total", reason="signed_out"), 1)
        self.assertGreaterEqual(value("provider_calls_total", provider="sandbox", outcome="ok"), 3)
        self.assertGreater(value("provider_call_duration_seconds_sum", provider="sandbox"), 0)
        self.assertGreater(value("database_calls_total", outcome="ok"), 5)
        self.assertEqual(value("database_calls_total", outcome="fault"), 0)
        self.assertEqual(value("database_up"), 1)
        self.assertEqual(value("mails_waiting"), 0)
        self.assertGreaterEqual(value("audit_entries_total"), 2)
        self.assertEqual(value("worker_queue", lane="database"), 0)
        self.assertEqual(value("keys"), 1)
        told = of_process(self.gateway.child.process.pid)
        self.assertGreater(samples[("process_resident_memory_bytes",)], told["memory"] / 2)
        self.assertLess(samples[("process_resident_memory_bytes",)], told["memory"] * 2)
        self.assertLessEqual(samples[("process_cpu_seconds_total",)], told["processor"])
        self.assertGreater(samples[("process_cpu_seconds_total",)], told["processor"] / 2)
        self.assertGreater(samples[("process_open_fds",)], 5)
        self.assertGreater(samples[("process_max_fds",)], samples[("process_open_fds",)])
        self.assertGreater(samples[("process_start_time_seconds",)], 1_700_000_000)
        self.assertEqual(self.kinds[prefix + "request_duration_seconds"], "histogram")
        self.assertEqual(self.kinds[prefix + "requests"], "counter")

    def test_the_address_has_the_metrics_alone_and_the_gateway_has_none(self):
        self.world("sqlite")
        metrics = Browser(f"http://127.0.0.1:{self.port}")
        self.assertEqual([metrics.open(path).status for path in ("/", "/account", "/livez")], [404] * 3)
        self.assertEqual(metrics.open("/metrics", {"a": "b"}).status, 405)
        self.assertEqual(Browser(self.gateway.base).open("/metrics").status, 404)

    def test_a_name_of_somebody_else_for_the_address_is_refused(self):
        self.world("sqlite")
        metrics = Browser(f"http://127.0.0.1:{self.port}")
        for host in (f"127.0.0.1:{self.port}", f"localhost:{self.port}", "localhost", "[::1]:80"):
            self.assertEqual(metrics.open("/metrics", headers={"Host": host}).status, 200, host)
        for host in (f"evil.example:{self.port}", "evil.example", f"localhost.evil.example:{self.port}", "0.0.0.0"):
            answer = metrics.open("/metrics", headers={"Host": host})
            self.assertEqual(answer.status, 421, host)
            self.assertNotIn("enroll_gateway", answer.text)

    def test_connections_that_ask_nothing_keep_no_scrape_out_and_none_of_the_gateways(self):
        self.port = free_port()
        self.gateway = Gateway(metrics=f"127.0.0.1:{self.port}")
        self.gateway.settings["providers"] = {"a": {"issuer": "https://id.example", "clientId": "x"}}
        self.gateway.prefix = ("prlimit", "--nofile=256:3000")
        self.gateway.start()
        self.addCleanup(self.gateway.stop)
        self.gateway.child.wait_for(lambda: is_listening(self.port), "the metrics are there")
        # With metrics, the gateway allows 64 fewer connections than without them.
        limits = "open files: at most 3000; connections: at most 1818"
        self.gateway.child.wait_for(lambda: limits in self.gateway.log(), "the limits are in the log")
        wires = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(64)]
        self.addCleanup(lambda: [wire.close() for wire in wires])
        for wire in wires:
            wire.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n".encode())
            self.assertEqual(wire.recv(12), b"HTTP/1.1 404")
        for _ in range(3):
            self.assertEqual(Browser(f"http://127.0.0.1:{self.port}").open("/metrics").status, 200)

    def test_an_address_that_other_machines_reach_is_refused(self):
        for address in ("0.0.0.0:9464", "[::]:9464", "192.0.2.1:9464", "localhost:9464", "127.0.0.1", "127.0.0.1:0"):
            with self.subTest(address):
                gateway = Gateway(metrics=address)
                gateway.settings["providers"] = {"a": {"issuer": "https://id.example", "clientId": "x"}}
                gateway.write()
                gateway.run("keys", "add", "--config", str(gateway.configuration))
                for words in (("check", "--offline"), ("serve",)):
                    told = gateway.run(*words, "--config", str(gateway.configuration), status=1)
                    self.assertRegex(told, "^enroll-gateway: metrics: expected .* address")
                self.assertEqual(told.count("\n"), 1, told)
