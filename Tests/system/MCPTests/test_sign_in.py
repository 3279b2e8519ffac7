"""The token of the bridge: sign-in, renewal, further scopes, and what may go wrong with them. Several bridges share one
session."""

import base64
import contextlib
import fcntl
import hashlib
import html
import http.client
import json
import os
import re
import shlex
import signal
import subprocess
import threading
import time
import unittest.mock
import urllib.parse
from pathlib import Path

from cases import ENROLL, NO_FORK, NO_PROCESSES
from host import HELLO
from mcp_cases import BridgeCase
from peer import Peer
from processes import wait_until
from sandbox import Sandbox


def scopes(url):
    return set(urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)["scope"][0].split())


def children(process):
    """The ids of the processes with this parent, including those that have ended and are not reaped."""
    found = []
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdigit() and (folder / "stat").read_text().rpartition(")")[2].split()[1] == str(process):
                found.append(int(folder.name))
    return found


class Page:
    """The page on which the user is asked about an authorization server."""

    def __init__(self, url):
        self.url = urllib.parse.urlsplit(url)
        _, self.headers, text = self.send("GET", self.url.path)
        self.forms = re.findall(r'<form method="post" action="([^"]*)"><button>(.*?)</button>', text)
        self.text = html.unescape(text)

    def send(self, method, path, **headers):
        connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=60)
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in {"Content-Length": "0", **headers}.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, dict(answer.getheaders()), text

    def press(self, button):
        (path,) = (path for path, name in self.forms if name == button)
        return self.send("POST", path)

    def agree(self):
        """Agrees, and returns the URL that the page opens then."""
        status, _, text = self.press("Continue")
        return html.unescape(re.search(r'http-equiv="refresh" content="0; url=([^"]*)"', text)[1])


class SignInCase(BridgeCase):
    OPTIONS: tuple = ()

    def provide(self):
        #: The authorization requests of the tabs in which the user has agreed to the server.
        self.agreed = {}
        self.peer = Peer()
        self.addCleanup(self.peer.stop)
        sandbox = Sandbox("--open-registration", "--device-interval", "1", "--resource", self.peer.url, *self.OPTIONS)
        self.addCleanup(sandbox.stop)
        self.peer.protect(sandbox.issuer)
        return sandbox

    def opened(self, count=1):
        """The authorization request of this tab. If the tab first asks the user about the server, the user agrees."""
        url = super().opened(count)
        if url.startswith(self.sandbox.issuer):
            return url
        if url not in self.agreed:
            self.agreed[url] = Page(url).agree()
        return self.agreed[url]

    def configure(self, name="default", **changes):
        """Writes no profile, because the bridge needs none."""

    def bridges(self, count, *arguments):
        hosts = [self.host(self.peer.url, *arguments) for _ in range(count)]
        for host in hosts:
            host.hello = host.begin("initialize", HELLO)
        return hosts

    def signed_in(self, count=1, *arguments):
        hosts = self.bridges(count, *arguments)
        self.come_back(self.opened())
        for host in hosts:
            self.assertIn("result", host.answer(host.hello))
            host.send("notifications/initialized")
        return hosts

    @property
    def registrations(self):
        return self.counts()["counts"]["clientRegistration"]

    def kill_in_exchange(self, url):
        """Comes back to a sign-in, and kills its process when the code was sent. The tokens arrive, and wait for a
        confirmation that nobody will give."""
        self.sandbox.control("fault", fault="delay", endpoint="token", times=1, value=1000)
        before = self.counts()["counts"]["token"]

        def come_back():
            with contextlib.suppress(OSError):
                self.come_back(url)

        thread = threading.Thread(target=come_back, daemon=True)
        thread.start()
        wait_until(lambda: self.counts()["counts"]["token"] > before, "the code is sent")
        self.kill_sign_ins()
        thread.join()
        wait_until(lambda: not self.detached(), "the end of the process")


class OneSignIn(SignInCase):
    def test_a_host_that_never_reads_the_messages_is_answered_all_the_same(self):
        path = self.home / "bridge.log"
        os.mkfifo(path)
        pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self.addCleanup(os.close, pipe)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(pipe, b"x" * 4096)
        host = self.signed_in()[0]
        self.assertEqual(host.end()[0], 0)

    def test_a_401_whose_body_does_not_end_begins_a_sign_in(self):
        released = threading.Event()
        self.addCleanup(released.set)

        def endless(handler, message):
            if handler.command != "POST" or handler.headers.get("Authorization"):
                return False
            head = f"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: {self.peer.challenge}\r\nContent-Length: 10\r\n\r\n"
            handler.wfile.write(head.encode())
            released.wait(30)
            handler.close_connection = True
            return True

        self.peer.acts.insert(0, endless)
        self.signed_in()

    def test_a_challenge_that_cannot_be_read_is_as_good_as_none(self):
        path = self.home / "log"
        challenges = (
            '===,,,"', 'Bearer scope="\x1b[31m"', f'Bearer realm="{"x" * 50_000}"',
            'Bearer resource_metadata="/.well-known/oauth-protected-resource/mcp"')
        for number, challenge in enumerate(challenges, 1):
            with self.subTest(challenge[:60]):
                self.peer.challenge = challenge
                host = self.host(self.peer.url, "--account", f"a{number}", ENROLL_LOG=str(path))
                host.hello = host.begin("initialize", HELLO)
                self.come_back(self.opened(number))
                self.assertIn("result", host.answer(host.hello))
        self.assertEqual(path.read_text().count("WWW-Authenticate is ignored"), len(challenges))

    def test_a_first_sign_in_that_is_killed_in_its_exchange_blocks_no_other(self):
        (host,) = self.bridges(1)
        self.kill_in_exchange(self.opened())
        self.assertIn("error", host.answer(host.hello))
        (host,) = self.bridges(1)
        self.come_back(self.opened(2))
        self.assertIn("result", host.answer(host.hello))
        self.assertEqual([end is None for end in self.sessions()], [False, True])

    def test_eight_together_open_one_tab_and_register_once(self):
        hosts = self.signed_in(8)
        for number, host in enumerate(hosts):
            self.assertEqual(host.call("x", n=number)["result"]["echo"]["arguments"], {"n": number})
        self.assertEqual((self.tabs, self.registrations), (1, 1))
        self.assertEqual(len(self.peer.tokens_seen), 1)
        self.assertLessEqual({"openid", "email", "offline_access"}, scopes(self.opened()))
        self.assertNotIn("profile", scopes(self.opened()))
        # With a stored session, the bridge sends no request to the sandbox.
        self.sandbox.control("resetCounts")
        before = len(self.peer.received)
        later = self.host(self.peer.url)
        self.assertIn("result", later.initialize())
        self.assertEqual(sum(self.counts()["counts"].values()), 0)
        self.assertEqual(self.peer.received[before]["message"]["method"], "initialize")
        self.assertIn("Authorization", self.peer.received[before]["headers"])

    def test_a_browser_that_does_not_open_is_named_with_the_command(self):
        hosts = [self.host(self.peer.url, *words, BROWSER="/bin/false") for words in ([], ["--sign-in", "auto"])]
        for host in hosts:
            answer = host.initialize()
            self.assertIn("/bin/false ended with status 1", answer["error"]["message"])
            self.assertIn("enroll login --resource", answer["error"]["data"]["enrollkit"]["command"])
        # No sign-in is in progress, so the command begins one.
        login = self.start("login", "--resource", self.peer.url, "--allow-loopback-http", "--yes")
        self.come_back(self.opened())
        self.assertEqual(login.wait(60), 0)
        self.assertIn("result", hosts[0].initialize())

    def test_a_killed_bridge_costs_no_tab(self):
        first = self.bridges(1)[0]
        url = self.opened()
        first.process.kill()
        second = self.bridges(1)[0]
        time.sleep(0.5)
        self.come_back(url)
        self.assertIn("result", second.answer(second.hello))
        self.assertEqual((self.tabs, self.registrations), (1, 1))

    def test_a_sign_in_that_takes_longer_is_answered_in_words_and_goes_on(self):
        host = self.bridges(1, "--wait", "2")[0]
        answer = host.answer(host.hello)
        self.assertEqual((answer["error"]["code"], self.reason(answer)), (-32010, "signInRequired"))
        self.assertIn("a browser window is open", answer["error"]["message"])
        self.assertNotIn("state=", json.dumps(answer))
        self.come_back(self.opened())
        self.assertIn("result", host.initialize())
        self.assertEqual(self.tabs, 1)

    def test_a_sign_in_that_fails_in_its_tab_opens_no_tab_for_each_request(self):
        host = self.bridges(1)[0]
        self.come_back(self.opened(), error="server_error")
        self.assertIn("failed", host.answer(host.hello)["error"]["message"])
        # A failure without a tab is remembered for 5 seconds.
        (record,) = self.home.rglob("mcp-*.json")
        lines = [json.loads(line) for line in record.read_text().splitlines()]
        lines[-1]["ended"] -= 6
        record.write_text("".join(json.dumps(line) + "\n" for line in lines))
        self.assertIn("failed", self.bridges(1)[0].initialize()["error"]["message"])
        self.assertEqual(self.tabs, 1)

    def test_a_record_that_cannot_be_written_is_named_and_does_not_stop_the_bridge(self):
        host = self.signed_in()[0]
        host.end()
        self.run_enroll("logout", "--resource", self.peer.url)
        (record,) = self.home.rglob("mcp-*.json")
        record.unlink()
        for make in (os.mkfifo, os.mkdir):
            make(record)
            host = self.bridges(1)[0]
            self.assertIn(f"{record.name} cannot be written", host.answer(host.hello)["error"]["message"])
            host.end()
            os.unlink(record) if make is os.mkfifo else os.rmdir(record)
        os.mkfifo(self.home / "log")
        self.environment["ENROLL_LOG"] = str(self.home / "log")
        self.run_enroll("mcp", self.peer.url, "--allow-loopback-http", status=2)

    def test_no_window_is_promised_before_it_is_open(self):
        released = threading.Event()
        self.addCleanup(released.set)

        def wait(handler, message):
            return "well-known" in handler.path and not released.wait(30)

        self.peer.acts.insert(0, wait)
        host = self.bridges(1, "--wait", "2")[0]
        words = host.answer(host.hello)["error"]["message"]
        self.assertNotIn("window is open", words)
        self.assertIn("opens when the server has answered", words)
        self.assertEqual(self.tabs, 0)

    def test_an_authorization_server_that_does_not_answer_is_unreachable(self):
        self.peer.metadata["authorization_servers"] = ["https://127.0.0.1:1/"]
        answer = (host := self.bridges(1)[0]).answer(host.hello)
        self.assertEqual((answer["error"]["code"], self.reason(answer)), (-32012, "unreachable"))
        self.assertEqual(self.tabs, 0)

    def test_a_program_that_looks_at_the_lock_keeps_no_sign_in_from_beginning(self):
        host = self.signed_in()[0]
        self.sandbox.control("endSessions")
        self.peer.refused.update(self.peer.tokens_seen)
        (lock,) = self.home.rglob("mcp-*.lock")
        with open(lock) as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            call = host.begin("tools/call", {"name": "x"})
            self.come_back(self.opened(2))
        self.assertIn("result", host.answer(call))

    def test_a_process_that_comes_too_late_begins_no_further_sign_in(self):
        self.signed_in()
        (lock,) = self.home.rglob("mcp-*.lock")
        words = ["--resource", self.peer.url, "--allow-loopback-http", "--yes", "--json", "--again"]
        order = {"place": str(lock).removesuffix(".lock"), "words": words, "last": "1 1"}
        done = subprocess.run([ENROLL, "detached-sign-in"], input=json.dumps(order).encode(), env=self.environment,
                              timeout=60)
        self.assertEqual((done.returncode, self.tabs), (7, 1))

    def reopened(self, count):
        """A request 130 seconds after the tab was opened opens the tab again; a request right after that opening does
        not."""
        self.bridges(1)
        with unittest.mock.patch.dict(self.environment):
            self.set_clock(130)
            self.bridges(1)
        return BridgeCase.opened(self, count)

    def test_a_later_request_opens_a_tab_again_that_was_closed(self):
        first = self.bridges(1)[0]
        question = BridgeCase.opened(self)
        self.assertEqual(self.reopened(2), question)
        address = Page(question).agree()
        self.come_back(address)
        self.assertIn("result", first.answer(first.hello))
        self.sandbox.control("endSessions")
        self.peer.refused.update(self.peer.tokens_seen)
        call = first.begin("tools/call", {"name": "x"})
        address = BridgeCase.opened(self, 3)
        self.assertEqual(self.reopened(4), address)
        self.come_back(address)
        self.assertIn("result", first.answer(call))
        self.assertEqual(self.tabs, 4)

    def test_a_declined_sign_in_is_told_to_all_and_not_repeated(self):
        hosts = self.bridges(3)
        self.come_back(self.opened(), error="access_denied")
        for host in hosts:
            self.assertEqual(host.answer(host.hello)["error"]["code"], -32010)
        answer = hosts[0].initialize()
        self.assertIn("declined", answer["error"]["message"])
        self.assertEqual(self.tabs, 1)

    def test_nothing_is_asked_where_no_token_is_needed(self):
        self.peer.acts.pop(0)
        host = self.host(self.peer.url)
        host.initialize()
        self.assertEqual((self.tabs, self.registrations), (0, 0))

    def test_without_a_browser_the_error_names_a_command_that_helps(self):
        for arguments, variables in ((("--sign-in", "never"), {}), ((), {"BROWSER": "/nonexistent"})):
            host = self.host(self.peer.url, *arguments, **variables)
            answer = host.initialize()
            self.assertEqual(self.reason(answer), "signInRequired")
            command = answer["error"]["data"]["enrollkit"]["command"]
            self.assertIn(command, answer["error"]["message"])
        self.assertEqual(self.tabs, 0)
        waiting = self.bridges(1, "--no-browser")[0]
        self.sign_in(*command.split()[2:])
        self.assertIn("result", waiting.answer(waiting.hello))
        self.assertIn("result", host.initialize())

    def test_a_notification_begins_no_sign_in(self):
        host = self.host(self.peer.url)
        host.send("notifications/roots/list_changed")
        host.write('{"jsonrpc":"2.0","id":"s1","result":{}}')
        wait_until(lambda: len(self.peer.received) > 1, "both arrive")
        time.sleep(1)
        self.assertEqual(self.tabs, 0)

    def test_the_record_keeps_no_address_of_a_sign_in_that_ended(self):
        for number, error in enumerate(({}, {"error": "access_denied"})):
            host = self.bridges(1, *["--account", "work"][:2 * number])[0]
            self.come_back(self.opened(number + 1), **error)
            host.answer(host.hello)
        records = list(self.home.rglob("mcp-*.json"))
        self.assertEqual(len(records), 2)
        wait_until(lambda: not any("state=" in record.read_text() for record in records), "the addresses are gone")

    def test_a_device_signs_in(self):
        host = self.host(self.peer.url, "--device")
        answer = host.initialize()
        words = answer["error"]["message"]
        self.assertEqual(self.reason(answer), "signInRequired")
        code = words.partition(" and type ")[2].partition(".")[0]
        self.sandbox.control("device", userCode=code)
        wait_until(lambda: "result" in host.initialize(), "signed in", every=0.5)
        self.assertEqual(self.tabs, 0)

    def test_the_first_process_of_a_container_signs_in(self):
        prefix = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")
        if subprocess.run([*prefix, "true"], capture_output=True).returncode:
            self.skipTest("needs a PID namespace")
        host = self.host(self.peer.url, prefix=prefix)
        hello = host.begin("initialize", HELLO)
        self.come_back(self.opened())
        self.assertIn("result", host.answer(hello))
        (bridge,) = children(host.process.pid)
        # The bridge inherits the processes of the sign-in, and none of them is left when the sign-in has ended.
        wait_until(lambda: not children(bridge), "no process is left")

    def test_where_there_can_be_no_process_the_error_says_so_and_names_the_command(self):
        for name, text in (("posix_spawn", NO_PROCESSES), ("fork", NO_FORK)):
            with self.subTest(name):
                self.preload(text)
                host = self.host(self.peer.url)
                answer = host.initialize()
                self.assertEqual(self.reason(answer), "signInRequired")
                self.assertIn("enroll login --resource", answer["error"]["data"]["enrollkit"]["command"])
                self.assertIn("No process can be started for the sign-in.", answer["error"]["message"])
                # The bridge serves other requests, and asks again for each that needs a token.
                self.assertEqual(self.reason(host.initialize()), "signInRequired")
                self.assertEqual(self.tabs, 0)

    def test_accounts_have_sessions_of_their_own(self):
        self.signed_in(1)
        other = self.bridges(1, "--account", "work")[0]
        self.come_back(self.opened(2), user="bob")
        self.assertIn("result", other.answer(other.hello))
        self.assertEqual((len(self.peer.tokens_seen), self.registrations), (2, 1))

    def test_a_client_of_ones_own_is_used(self):
        self.bridges(1, "--client-id", "sample")
        self.assertIn("client_id=sample", self.opened())
        self.assertEqual(self.registrations, 0)


class TheQuestion(SignInCase):
    """The page before the first sign-in at an authorization server."""

    def begin(self, *arguments):
        self.peer.metadata["resource_name"] = "Notes <script>alert(1)</script>"
        host = self.bridges(1, *arguments)[0]
        return host, Page(BridgeCase.opened(self))

    def test_names_both_and_sends_nothing_before_the_answer(self):
        host, page = self.begin()
        place, issuer = (urllib.parse.urlsplit(url).netloc for url in (self.peer.url, self.sandbox.issuer))
        words = f"Notes <script>alert(1)</script> (not verified) at {place} wants you to sign in at {issuer}"
        self.assertIn(words, page.text)
        self.assertNotIn("<script>", page.send("GET", page.url.path)[2])
        policy = page.headers["Content-Security-Policy"]
        for directive in ("default-src 'none'", "form-action 'self'", "frame-ancestors 'none'"):
            self.assertIn(directive, policy)
        self.assertNotIn("unsafe", policy)
        self.assertEqual(self.registrations, 0)
        self.come_back(page.agree())
        self.assertIn("result", host.answer(host.hello))
        # For another server with the same authorization server, the user is not asked again.
        other = Peer()
        self.addCleanup(other.stop)
        other.protect(self.sandbox.issuer)
        self.host(other.url).begin("initialize", HELLO)
        self.assertTrue(BridgeCase.opened(self, 2).startswith(self.sandbox.issuer))

    def test_only_its_own_form_answers_it(self):
        host, page = self.begin()
        path = dict((name, path) for path, name in page.forms)["Continue"]
        for method, target, headers, status in (
            ("GET", path, {}, 405), ("POST", page.url.path, {}, 405), ("GET", "/", {}, 404),
            ("POST", page.url.path + "/continue", {}, 404), ("POST", path[:-1], {}, 404),
            ("GET", page.url.path + "?a", {}, 404),
            ("POST", path.replace(page.url.path, "/" + "A" * 32), {}, 404),
            ("POST", path, {"Host": f"evil.example:{page.url.port}"}, 421),
            ("GET", page.url.path, {"Host": "localhost"}, 421),
        ):
            self.assertEqual(page.send(method, target, **headers)[0], status, (method, target, headers))
        self.assertEqual(self.registrations, 0)
        self.come_back(page.agree())
        self.assertIn("result", host.answer(host.hello))
        self.assertEqual(self.tabs, 1)

    def test_another_authorization_server_is_asked_about_again(self):
        host = self.signed_in()[0]
        before = self.sandbox
        self.sandbox = self.own_sandbox("--open-registration", "--resource", self.peer.url)
        self.peer.metadata["authorization_servers"] = [self.sandbox.issuer]
        before.control("endSessions")
        self.peer.refused.update(self.peer.tokens_seen)
        call = host.begin("tools/call", {"name": "x"})
        page = Page(BridgeCase.opened(self, 2))
        self.assertIn(f"another server before: {before.issuer}", page.text)
        self.come_back(page.agree())
        self.assertIn("result", host.answer(call))

    def test_not_me_is_a_declined_sign_in(self):
        host, page = self.begin()
        self.assertIn("Nothing was registered or sent", page.press("Not me")[2])
        self.assertEqual(self.reason(host.answer(host.hello)), "signInRequired")
        self.assertIn("declined", host.initialize()["error"]["message"])
        self.assertEqual((self.tabs, self.registrations), (1, 0))

    def test_a_sign_in_that_fails_says_so_in_the_tab(self):
        self.sandbox.control("fault", fault="status", value=400, endpoint="clientRegistration", times=5)
        host, page = self.begin()
        self.assertIn("The sign-in failed", page.press("Continue")[2])
        self.assertEqual(self.reason(host.answer(host.hello)), "signInRequired")

    def test_without_the_question_the_tab_goes_to_the_server(self):
        self.bridges(1, "--sign-in", "auto")
        self.assertTrue(BridgeCase.opened(self).startswith(self.sandbox.issuer))


class Options(SignInCase):
    def query(self, *arguments):
        host = self.bridges(1, *arguments)[0]
        url = self.opened()
        self.come_back(url)
        self.assertIn("result", host.answer(host.hello))
        return urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)

    def test_no_resource_is_sent_where_the_server_refuses_it(self):
        query = self.query("--no-resource")
        self.assertNotIn("resource", query)
        self.assertNotIn("none", query)

    def test_parameters_are_added_to_the_authorization_request(self):
        query = self.query(
            "--authorize", "access_type=offline", "--authorize", "audience=a b&c", "--prompt", "consent")
        self.assertEqual((query["access_type"], query["audience"]), (["offline"], ["a b&c"]))
        self.assertEqual(query["prompt"], ["consent"])
        self.assertEqual(query["resource"], [self.peer.url])

    def test_parameters_of_the_protocol_are_refused(self):
        for words in ("state=x", "client_id=x", "resource=x", "prompt=none", "audience", "=x"):
            _, said = self.run_enroll("mcp", self.peer.url, "--allow-loopback-http", "--authorize", words, status=2)
            self.assertIn("--authorize", said)
        both = ("--no-resource", "--resource", "https://x.example")
        self.run_enroll("mcp", self.peer.url, "--allow-loopback-http", *both, status=2)

    def test_a_passphrase_of_the_store_reaches_the_sign_in(self):
        def descriptor():
            read, write = os.pipe()
            os.write(write, b"correct horse\n")
            os.close(write)
            self.addCleanup(os.close, read)
            return read

        arguments = ("--keys", "passphrase", "--passphrase-fd")
        first = descriptor()
        host = self.host(self.peer.url, *arguments, str(first), pass_fds=(first,))
        hello = host.begin("initialize", HELLO)
        self.come_back(self.opened())
        self.assertIn("result", host.answer(hello))
        second = descriptor()
        self.run_enroll("token", "--resource", self.peer.url, *arguments, str(second), pass_fds=(second,))


class BoundTokens(SignInCase):
    """Tokens that are bound to a key (RFC 9449)."""

    OPTIONS = ("--dpop", "offered")

    def test_each_request_has_a_proof_of_the_key(self):
        self.peer.metadata["dpop_bound_access_tokens_required"] = True
        seen = []

        @self.peer.on
        def check(handler, message):
            scheme, _, token = (handler.headers.get("Authorization") or "").partition(" ")
            part = handler.headers["DPoP"].split(".")[1]
            proof = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
            digest = base64.urlsafe_b64encode(hashlib.sha256(token.encode()).digest()).decode().rstrip("=")
            self.assertEqual((scheme, proof["ath"], proof["htu"]), ("DPoP", digest, self.peer.url))
            self.assertEqual(proof["htm"], handler.command)
            seen.append(proof)
            if message.get("method") == "tools/call" and proof.get("nonce") != "b":
                handler.reply(401, b"", WWW_Authenticate='DPoP error="use_dpop_nonce"', DPoP_Nonce="b")
                return True
            return False

        host = self.signed_in()[0]
        before = self.counts()["refreshes"]
        self.assertIn("result", host.call("x"))
        self.assertIn("result", host.call("x"))
        self.assertEqual((self.tabs, self.counts()["refreshes"]), (1, before))
        self.assertEqual(len({proof["jti"] for proof in seen}), len(seen))


    def test_a_nonce_that_no_proof_can_have_changes_nothing(self):
        self.peer.metadata["dpop_bound_access_tokens_required"] = True
        host = self.signed_in()[0]

        @self.peer.on
        def odd(handler, message):
            if message.get("method") != "tools/call":
                return False
            nonce = {"empty": "", "odd": "\xff\"", "long": "n" * 5000}[message["params"]["name"]]
            answer = self.peer.result(message, {})
            handler.reply(200, answer, Content_Type="application/json", DPoP_Nonce=nonce)
            return True

        for name in ("empty", "odd", "long"):
            self.assertIn("result", host.call(name))
            self.assertIn("result", host.ask("ping"))


class Tokens(SignInCase):
    def test_after_the_rest_of_a_broken_stream_a_renewal_has_the_whole_time_of_a_request(self):
        """The stream rests for most of the time that a request may wait. Then the renewal fails at first, and the
        provider asks for a pause that goes beyond the end of that time."""
        host = self.signed_in(1, "--wait", "3")[0]
        before = self.counts()["refreshes"]

        @self.peer.on
        def cut(handler, message):
            if message.get("method") == "tools/call":
                self.call = message
                handler.stream()
                handler.event("", identity="7", retry=2_100)
                self.sandbox.control(
                    "fault", fault="status", endpoint="token", value=429, retryAfter="1", times=1)
                self.peer.refused.update(self.peer.tokens_seen)
                return True
            if handler.command == "GET" and handler.headers.get("Last-Event-ID") == "7":
                handler.stream()
                handler.event(self.peer.result(self.call, {"late": True}), identity="8")
                return True
            return False

        self.assertEqual(host.call("x").get("result"), {"late": True})
        # One request got the 429, and one the tokens.
        self.assertEqual(self.counts()["refreshes"] - before, 2)

    def test_a_refused_token_is_renewed_once_for_all(self):
        hosts = self.signed_in(3)
        self.peer.refused.update(self.peer.tokens_seen)
        before = self.counts()["refreshes"]
        calls = [(host, host.begin("tools/call", {"name": "x", "n": number})) for host in hosts for number in range(4)]
        for host, call in calls:
            self.assertIn("result", host.answer(call))
        self.assertEqual(self.counts()["refreshes"] - before, 1)
        self.assertEqual((self.tabs, len(self.peer.tokens_seen)), (1, 2))

    def test_a_server_that_refuses_fresh_tokens_is_an_error_without_a_tab(self):
        host = self.signed_in()[0]
        self.peer.on(lambda handler, message: message.get("method") == "tools/call" and (
            handler.reply(401, b"", WWW_Authenticate=self.peer.challenge) or True))
        answer = host.call("x")
        self.assertEqual((answer["error"]["code"], self.reason(answer)), (-32013, "refused"))
        self.assertEqual(self.reason(host.call("x")), "refused")
        self.assertEqual((self.tabs, self.counts()["refreshes"]), (1, 1))
        self.assertIn("result", host.ask("ping"))

    def test_without_a_refresh_token_a_refused_fresh_token_opens_no_further_tab(self):
        self.sandbox.control("fault", fault="omitRefreshToken", endpoint="token", times=2)
        host = self.signed_in()[0]
        self.peer.on(lambda handler, message: message.get("method") == "tools/call" and (
            handler.reply(401, b"", WWW_Authenticate=self.peer.challenge) or True))
        call = host.begin("tools/call", {"name": "x"})
        self.come_back(self.opened(2))
        self.assertEqual(self.reason(host.answer(call)), "refused")
        self.assertEqual(self.reason(host.call("x")), "refused")
        self.assertEqual(self.tabs, 2)

    def test_no_bridge_opens_a_tab_for_a_server_that_refuses_a_token_of_another_one(self):
        self.sandbox.control("fault", fault="omitRefreshToken", endpoint="token", times=2)
        hosts = self.signed_in(2)
        self.peer.on(lambda handler, message: message.get("method") == "tools/call" and (
            handler.reply(401, b"", WWW_Authenticate=self.peer.challenge) or True))
        call = hosts[0].begin("tools/call", {"name": "x"})
        self.come_back(self.opened(2))
        self.assertEqual(self.reason(hosts[0].answer(call)), "refused")
        for host in (hosts[1], self.host(self.peer.url)):
            if host is not hosts[1]:
                host.initialize()
            self.assertEqual(self.reason(host.call("x")), "refused")
        self.assertEqual(self.tabs, 2)

    def test_the_servers_own_messages_come_after_a_sign_in(self):
        """The server refused the stream without a token, so the bridge opens it again with the token."""
        self.peer.acts.pop(0)
        self.peer.protect(self.sandbox.issuer)
        protected = self.peer.acts.pop(0)

        @self.peer.on
        def act(handler, message):
            # Only the requests of the initialization need no token.
            if message.get("method") in ("initialize", "notifications/initialized"):
                return False
            if protected(handler, message):
                return True
            if handler.command != "GET":
                return False
            handler.stream()
            handler.event({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
            return True

        hosts = [self.host(self.peer.url) for _ in range(2)]
        for host in hosts:
            self.assertIn("result", host.initialize())
        wait_until(lambda: len(self.peer.all("GET")) == 2, "the streams are refused")
        for host in hosts:
            call = host.begin("tools/call", {"name": "x"})
            if host is hosts[0]:
                self.come_back(self.opened())
            self.assertIn("result", host.answer(call))
            host.other(lambda message: message["method"] == "notifications/tools/list_changed")
        self.assertEqual(self.tabs, 1)

    def test_a_session_that_ended_at_the_server_leads_to_one_sign_in(self):
        hosts = self.signed_in(3)
        self.sandbox.control("endSessions")
        self.peer.refused.update(self.peer.tokens_seen)
        calls = [(host, host.begin("tools/call", {"name": "x"})) for host in hosts]
        self.come_back(self.opened(2))
        for host, call in calls:
            self.assertIn("result", host.answer(call))
        self.assertEqual((self.tabs, self.registrations), (2, 1))

    def test_a_forgotten_client_is_registered_again_in_one_tab(self):
        hosts = self.signed_in(2)
        self.sandbox.control("forgetClients")
        self.peer.refused.update(self.peer.tokens_seen)
        calls = [(host, host.begin("tools/call", {"name": "x"})) for host in hosts]
        self.come_back(self.opened(2))
        for host, call in calls:
            self.assertIn("result", host.answer(call))
        self.assertEqual((self.tabs, self.registrations), (2, 2))

    def test_an_open_bridge_uses_the_client_that_another_process_has_registered(self):
        first = self.signed_in()[0]
        hosts = [first, self.host(self.peer.url, "--sign-in", "never")]
        hosts[1].initialize()
        login = self.start(
            "login", "--resource", self.peer.url, "--allow-loopback-http", "--yes", "--again", "--register-again")
        self.come_back(self.opened(2))
        self.assertEqual(login.wait(60), 0)
        self.assertEqual(self.registrations, 2)
        for host in hosts:
            self.assertIn("result", host.ask("ping"))
        tokens = {row["headers"].get("Authorization") for row in self.peer.all("ping")}
        self.assertEqual(tokens, {f"Bearer {self.peer.tokens_seen[-1]}"})
        self.assertEqual(self.tabs, 2)

    def test_a_bridge_killed_in_a_renewal_loses_no_session(self):
        host = self.signed_in()[0]
        self.peer.refused.update(self.peer.tokens_seen)
        self.sandbox.control("fault", fault="delay", endpoint="token", times=1, value=1000)
        before = self.counts()["counts"]["token"]
        host.begin("tools/call", {"name": "x"})
        wait_until(lambda: self.counts()["counts"]["token"] > before, "the renewal is sent")
        host.process.send_signal(signal.SIGKILL)
        again = self.host(self.peer.url)
        self.assertIn("result", again.initialize())
        self.assertEqual(self.tabs, 1)

    def test_a_store_that_cannot_be_used_is_the_answer_to_each_request(self):
        self.signed_in()
        self.store.chmod(0o755)
        host = self.host(self.peer.url)
        for _ in range(2):
            answer = host.ask("initialize", HELLO)
            self.assertEqual((answer["error"]["code"], self.reason(answer)), (-32015, "storeRefused"))
        self.store.chmod(0o700)
        self.assertIn("result", host.initialize())
        self.assertEqual(self.tabs, 1)


class FurtherScopes(SignInCase):
    def provide(self):
        sandbox = super().provide()
        #: The tokens that have every scope.
        self.wide = set()

        @self.peer.on
        def demand(handler, message):
            token = (handler.headers.get("Authorization") or "").removeprefix("Bearer ")
            if message.get("method") != "tools/call" or token not in self.peer.tokens_seen[:1]:
                return False
            handler.reply(403, b"", WWW_Authenticate=self.peer.step_up)
            return True

        return sandbox

    def test_a_sign_in_that_is_killed_in_its_exchange_blocks_no_other(self):
        host = self.signed_in()[0]
        call = host.begin("tools/call", {"name": "x"})
        self.kill_in_exchange(self.opened(2))
        self.assertIn("error", host.answer(call))
        call = host.begin("tools/call", {"name": "x"})
        self.come_back(self.opened(3))
        self.assertIn("result", host.answer(call))
        self.assertEqual([end is None for end in self.sessions()], [False, False, True])

    def test_scopes_that_the_server_does_not_name_open_no_tab(self):
        host = self.signed_in()[0]
        self.peer.step_up = 'Bearer error="insufficient_scope"'
        answer = host.call("x")
        self.assertEqual(self.reason(answer), "moreScopes")
        self.assertIn("does not name them", answer["error"]["message"])
        self.assertIn("--again --scope", answer["error"]["data"]["enrollkit"]["command"])
        self.assertEqual(self.tabs, 1)

    def test_a_token_that_the_server_repeats_gets_into_no_sign_in_and_no_error(self):
        host = self.signed_in()[0]
        token = self.peer.tokens_seen[0]
        self.peer.step_up = f'Bearer error="insufficient_scope", scope="profile {token}"'

        @self.peer.on
        def redirect(handler, message):
            if message.get("method") != "ping":
                return False
            handler.reply(307, b"", Location=f"{self.peer.origin}/{token}/x")
            return True

        for answer in (host.call("x"), host.ask("ping")):
            self.assertEqual(self.reason(answer), "refused")
            self.assertNotIn(token, json.dumps(answer))
        self.assertEqual(self.tabs, 1)

    def test_a_call_of_one_user_is_not_sent_for_another(self):
        host = self.signed_in()[0]
        call = host.begin("tools/call", {"name": "x"})
        self.come_back(self.opened(2), user="bob")
        self.assertIn("Another user has signed in", host.answer(call)["error"]["message"])
        self.assertEqual(len(self.peer.all("tools/call")), 1)
        self.assertIn("result", host.call("x"))

    def test_eight_calls_of_three_bridges_lead_to_one_sign_in_for_the_union(self):
        hosts = self.signed_in(3)
        calls = [(host, host.begin("tools/call", {"name": "x"})) for host in hosts for _ in range(3)]
        url = self.opened(2)
        self.assertEqual(scopes(url) & {"openid", "profile", "email", "offline_access"},
                         {"openid", "profile", "email", "offline_access"})
        # Until the user has signed in, the bridge uses the old session.
        self.assertIn("result", hosts[0].ask("ping"))
        self.come_back(url)
        for host, call in calls:
            self.assertIn("result", host.answer(call))
        self.assertEqual(self.tabs, 2)

    def test_calls_for_different_scopes_get_a_sign_in_each(self):
        host = self.signed_in()[0]
        second = self.peer.step_up.replace('scope="profile"', 'scope="phone"')

        @self.peer.on
        def demand(handler, message):
            token = (handler.headers.get("Authorization") or "").removeprefix("Bearer ")
            if message.get("method") != "resources/read" or token not in self.peer.tokens_seen[:2]:
                return False
            handler.reply(403, b"", WWW_Authenticate=second)
            return True

        calls = [host.begin("tools/call", {"name": "x"}), None]
        url = self.opened(2)
        calls[1] = host.begin("resources/read", {"uri": "x"})
        wait_until(lambda: self.peer.all("resources/read"), "the second call arrives")
        time.sleep(0.3)
        self.come_back(url)
        self.assertIn("result", host.answer(calls[0]))
        url = self.opened(3)
        self.assertLessEqual({"profile", "phone"}, scopes(url))
        self.come_back(url)
        self.assertIn("result", host.answer(calls[1]))

    def refuse_always(self, scope):
        """From the second token on, the server refuses each call, and requires the scope that `scope()` returns."""
        @self.peer.on
        def refuse(handler, message):
            if message.get("method") != "tools/call":
                return False
            words = self.peer.step_up.replace('scope="profile"', f'scope="{scope()}"')
            handler.reply(403, b"", WWW_Authenticate=words)
            return True

    def test_a_server_that_always_wants_further_scopes_gets_one_tab(self):
        host, other = self.signed_in(2)
        self.refuse_always(lambda: "more")
        call = host.begin("tools/call", {"name": "x"})
        self.come_back(self.opened(2))
        self.assertEqual(self.reason(host.answer(call)), "moreScopes")
        for each in (host, other):
            answer = each.call("x")
            self.assertIn("still wants further scopes", answer["error"]["message"])
            self.assertIn("--challenge", answer["error"]["data"]["enrollkit"]["command"])
        self.assertEqual(self.tabs, 2)

    def test_a_server_that_wants_other_scopes_each_time_gets_three_tabs(self):
        host = self.signed_in()[0]
        numbers = iter(range(1000))
        self.refuse_always(lambda: f"more{next(numbers)}")
        for tab in (2, 3, 4):
            call = host.begin("tools/call", {"name": "x"})
            self.come_back(self.opened(tab))
            self.assertEqual(self.reason(host.answer(call)), "moreScopes")
        self.assertIn("still wants further scopes", host.call("x")["error"]["message"])
        self.assertEqual(self.tabs, 4)

    def test_without_the_browser_the_error_names_a_command_for_the_scopes(self):
        self.signed_in()
        host = self.host(self.peer.url, "--sign-in", "never")
        host.initialize()
        answer = host.call("x")
        self.assertEqual(self.reason(answer), "moreScopes")
        words = shlex.split(answer["error"]["data"]["enrollkit"]["command"])
        self.assertIn("--again", words)
        self.assertIn(f"--challenge={self.peer.step_up}", words)

    def test_declined_scopes_are_an_error_and_not_asked_for_again(self):
        host = self.signed_in()[0]
        call = host.begin("tools/call", {"name": "x"})
        self.come_back(self.opened(2), error="access_denied")
        self.assertEqual(self.reason(host.answer(call)), "moreScopes")
        answer = host.call("x")
        self.assertEqual((answer["error"]["code"], self.reason(answer)), (-32011, "moreScopes"))
        self.assertIn("declined", answer["error"]["message"])
        self.assertIn("result", host.ask("ping"))
        self.assertEqual(self.tabs, 2)
