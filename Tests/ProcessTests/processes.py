#!/usr/bin/env python3
"""Several processes on one store, through the C library, against the sandbox: 64 threads in each of 4 processes ask for
a token that is due. On the wire: one request. Failures: none. For both flavours."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
THREADS, PROCESSES = 64, 4


class Sandbox:
    def __init__(self):
        self.process = subprocess.Popen(
            [ROOT / ".build/debug/enroll-sandbox", "--port", "0", "--grace", "30", "--quiet", "--exit-with-stdin"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ready = json.loads(self.process.stdout.readline())

    def control(self, action, **request):
        body = json.dumps({"do": action, **request}).encode()
        asked = urllib.request.Request(self.ready["control"], body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(asked, timeout=20) as answer:
            return json.loads(answer.read() or b"{}")

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()


class Crowd(unittest.TestCase):
    flavour = "small"

    @classmethod
    def setUpClass(cls):
        cls.sandbox = Sandbox()
        cls.folder = tempfile.TemporaryDirectory()
        library = ROOT / "build" / cls.flavour
        cls.program = f"{cls.folder.name}/crowd"
        subprocess.run(
            ["cc", "-std=gnu99", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include", ROOT / "Tests/ProcessTests/crowd.c",
             "-o", cls.program, "-pthread", f"-L{library}", "-lenroll", f"-Wl,-rpath,{library}"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.sandbox.close()
        cls.folder.cleanup()

    def setUp(self):
        self.store = tempfile.mkdtemp(dir=self.folder.name)
        self.configuration = json.dumps(
            {**self.sandbox.ready["configuration"], "redirectUri": "com.example.app:/callback", "confirmation": False})

    def start(self, *arguments):
        return subprocess.Popen(
            [self.program, self.configuration, f"{self.store}/tokens", *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def sign_in(self):
        """The first token lives for one second, which is over before anybody looks at it; later ones for 300."""
        self.sandbox.control("fault", fault="setMember", endpoint="token", member="expires_in", value=1, times=1)
        program = self.start("begin")
        url = program.stdout.readline().strip()
        redirect = self.sandbox.control("settle", url=url)["redirect"]
        program.communicate(redirect + "\n", timeout=60)
        self.assertEqual(program.returncode, 0)

    def ask(self):
        """Every process asks with every thread, at once. Returns the different tokens, and the refreshes on the wire."""
        before = self.sandbox.control("counts")["refreshes"]
        programs = [self.start("ask", str(THREADS)) for _ in range(PROCESSES)]
        for program in programs:
            self.assertEqual(program.stdout.readline().strip(), "ready")
        for program in programs:
            program.stdin.write("go\n")
            program.stdin.flush()
        tokens, failures = set(), 0
        for program in programs:
            good, bad, different, token = program.communicate(timeout=120)[0].split()
            self.assertEqual(int(good) + int(bad), THREADS)
            failures += int(bad)
            tokens.add((token, different))
        return tokens, failures, self.sandbox.control("counts")["refreshes"] - before

    def test_one_request_for_64_threads_in_each_of_4_processes(self):
        self.sign_in()
        tokens, failures, refreshes = self.ask()
        print(f"{THREADS} threads x {PROCESSES} processes: {refreshes} request, {failures} failures", flush=True)
        self.assertEqual((refreshes, failures, len(tokens)), (1, 0, 1))
        self.assertEqual({different for _, different in tokens}, {"0"})

    # The sandbox takes a rotated token for 30 seconds more, as Okta does.
    def test_an_answer_that_is_lost_after_the_rotation_loses_nobody_when_the_provider_has_a_grace(self):
        self.sign_in()
        self.sandbox.control("fault", fault="dropAfter", endpoint="token", times=1)
        tokens, failures, refreshes = self.ask()
        self.assertEqual((refreshes, failures, len(tokens)), (2, 0, 1))

    def test_the_holder_killed_while_its_request_is_under_way(self):
        self.sign_in()
        before = self.sandbox.control("counts")["refreshes"]
        self.sandbox.control("fault", fault="delay", endpoint="token", value=3000, times=1)
        holder = self.start("ask", "1")
        self.assertEqual(holder.stdout.readline().strip(), "ready")
        holder.stdin.write("go\n")
        holder.stdin.flush()
        while self.sandbox.control("counts")["refreshes"] == before:
            pass
        os.kill(holder.pid, signal.SIGKILL)
        holder.communicate()
        tokens, failures, refreshes = self.ask()
        self.assertEqual((refreshes, failures, len(tokens)), (1, 0, 1))


class CrowdOnTheStandardFlavour(Crowd):
    flavour = "standard"


if __name__ == "__main__":
    loader = unittest.defaultTestLoader
    suite = unittest.TestSuite(map(loader.loadTestsFromTestCase, (Crowd, CrowdOnTheStandardFlavour)))
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad} passed, {bad} failed")
    sys.exit(bad > 0)
