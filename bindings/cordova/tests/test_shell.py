"""The hybrid app as its users have it: a page in WebKitGTK, the system's browser, and the redirect to the app's
scheme."""

import http.server
import json
import os
import re
import subprocess
import threading
import unittest

from desk import REDIRECT, SHELL, TOP, Desk, Shell, wait_until

desk = None


def setUpModule():
    global desk
    desk = Desk()


def tearDownModule():
    desk.stop()


class Case(unittest.TestCase):
    def setUp(self):
        desk.forget()

    def shell(self, **configuration):
        shell = Shell(desk, **configuration)
        self.addCleanup(shell.stop)
        return shell

    def signed_in(self):
        shell = self.shell().start().shows("unregistered")
        shell.press("Sign in")
        desk.sign_in()
        shell.shows("awaitingConfirmation")
        shell.press("Yes, that is me")
        return shell.shows("active:confirmed")


class SigningIn(Case):
    def test_a_whole_sign_in_and_log_out(self):
        shell = self.shell().start().shows("unregistered", picture="start")
        shell.press("Sign in")
        shell.shows("authenticating:browser", picture="awaiting")
        desk.sign_in()
        shell.shows("awaitingConfirmation", picture="profile")
        self.assertIn("Alice", shell.text)
        self.assertIn("alice@example.com", shell.text)
        shell.press("Yes, that is me")
        shell.shows("active:confirmed", picture="signed-in")
        self.assertIn("works", shell.text)
        self.assertIn("Bearer", shell.text)
        self.assertEqual(shell.run("return (await enroll.accounts.list({})).accounts"), ["default"])

        shell.press("Renew now")
        shell.says("Renewed.")

        shell.press("Log out")
        shell.shows("unregistered")
        desk.sign_out()
        # The browser's session ends, too, and then the browser returns to the app.
        shell.says("You are signed out, in your browser too.")
        shell.photograph("signed-out")
        self.assertEqual([one["end"] for one in desk.sandbox.control("sessions")["sessions"]], ["signedOut"])

    def test_the_app_is_killed_while_the_browser_is_open_and_the_redirect_starts_it(self):
        shell = self.shell().start().shows("unregistered")
        shell.press("Sign in")
        shell.shows("authenticating:browser")
        desk.tab()
        shell.kill()
        desk.sign_in()
        shell.reach().shows("awaitingConfirmation")
        shell.press("Yes, that is me")
        shell.shows("active:confirmed")
        self.assertIn("Alice", shell.text)

    def test_a_session_is_there_at_the_next_start(self):
        shell = self.signed_in()
        shell.kill()
        shell.start().shows("active:valid")
        self.assertIn("Alice", shell.text)

    def test_the_user_cancels_in_the_app(self):
        shell = self.shell().start().shows("unregistered")
        shell.press("Sign in")
        shell.shows("authenticating:browser")
        desk.tab()
        shell.press("Cancel")
        shell.shows("unregistered")
        self.assertEqual(shell.notice, "")

    def test_the_user_declines_in_the_browser(self):
        shell = self.shell().start().shows("unregistered")
        shell.press("Sign in")
        shell.shows("authenticating:browser")
        desk.tab().get_by_role("button", name="Cancel").click()
        shell.shows("failed:registration", picture="declined")
        self.assertIn("The sign-in was declined.", shell.text)
        shell.press("Start over")
        shell.shows("unregistered")

    def test_another_account_is_asked_for(self):
        shell = self.shell().start().shows("unregistered")
        shell.press("Sign in")
        desk.sign_in()
        shell.shows("awaitingConfirmation")
        shell.press("Use another account")
        shell.shows("authenticating:browser")
        desk.shows_heading("Sign in")


class Trouble(Case):
    def test_the_provider_is_down_and_comes_back(self):
        shell = self.shell().start().shows("unregistered")
        desk.sandbox.stop()
        try:
            shell.press("Sign in")
            shell.says("We cannot reach the sign-in service.")
            self.assertEqual(shell.state, "unregistered")
            shell.photograph("error")
        finally:
            desk.start_sandbox()
        shell.press("Sign in")
        desk.sign_in()
        shell.shows("awaitingConfirmation")

    def test_a_code_that_cannot_be_redeemed_is_told_and_the_next_sign_in_works(self):
        shell = self.shell().start().shows("unregistered")
        shell.press("Sign in")
        desk.tab()
        desk.sandbox.control("fault", fault="dropBefore", endpoint="token", times=20)
        desk.sign_in()
        shell.shows("failed:registration", picture="failed")
        self.assertEqual(shell.text.count("We cannot reach the sign-in service."), 1)
        desk.sandbox.control("clearFaults")
        # The redirect is handled once more, but its transaction has ended, so the code is not sent twice.
        shell.run("await enroll.retryURLs()")
        self.assertEqual(shell.state, "failed:registration")
        desk.touch()
        shell.press("Sign in again")
        shell.shows("awaitingConfirmation")

    def test_a_session_without_a_network_is_served_or_told(self):
        shell = self.signed_in()
        desk.sandbox.control("fault", fault="serverError", endpoint="token", times=50)
        try:
            shell.press("Renew now")
            shell.says("The sign-in service is in trouble")
            self.assertIn("You are signed in", shell.text)
        finally:
            desk.sandbox.control("clearFaults")


class Redirects(Case):
    def test_an_unsolicited_redirect_changes_nothing(self):
        shell = self.shell().start().shows("unregistered")
        shell.run("globalThis.strange = []; enroll.onUnclaimedURL((url) => void strange.push(url))")
        url = f"{REDIRECT}?code=c&state=nobody&iss=https%3A%2F%2Fevil.example"
        desk.system_opens(url)
        wait_until(lambda: shell.run("return strange") == [url], "the app was told")
        self.assertEqual(shell.state, "unregistered")
        self.assertEqual(shell.notice, "")
        self.assertEqual(desk.sandbox.control("counts")["counts"].get("token", 0), 0)

    def test_an_unsolicited_redirect_touches_neither_a_session_nor_a_sign_in_under_way(self):
        shell = self.signed_in()
        shell.run("globalThis.strange = []; enroll.onUnclaimedURL((url) => void strange.push(url))")
        desk.system_opens(f"{REDIRECT}?error=access_denied&state=nobody")
        wait_until(lambda: len(shell.run("return strange")) == 1, "the app was told")
        self.assertEqual(shell.state, "active:confirmed")

    def test_a_url_comes_as_it_was_sent(self):
        shell = self.shell().start().shows("unregistered")
        shell.run("globalThis.strange = []; enroll.onUnclaimedURL((url) => void strange.push(url))")
        urls = [f"{REDIRECT}?code=a%2Fb%20c+d&state=%C3%A4%25~", f"{REDIRECT}?x=%7B%22%7D&y=%5B1%5D;z='"]
        for number, url in enumerate(urls, 1):
            subprocess.run([SHELL, url], env={**os.environ, **desk.environment}, check=True, timeout=30)
            wait_until(lambda: len(shell.run("return strange")) == number, "the app was told")
        self.assertEqual(shell.run("return strange"), urls)

    def test_a_url_that_comes_before_the_page_waits_for_it(self):
        shell = self.shell().start(f"{REDIRECT}?code=c&state=nobody").shows("unregistered")
        shell.run("globalThis.strange = []; enroll.onUnclaimedURL((url) => void strange.push(url))")
        # A client that is opened later gets the URL, too; after a reload the page gets it again.
        shell.run("location.reload()")
        wait_until(lambda: shell.run("return typeof strange") == "undefined", "the page is another")
        shell.shows("unregistered")


ATTACK = """<!doctype html><title>attacker</title><script>
  window.answers = [];
  document.addEventListener('enroll-answer', ({detail}) => answers.push(detail));
  const wish = JSON.stringify({callback: 1, service: 'EnrollKit', action: 'cancel', arguments: [0]});
  const tries = [
    () => window.webkit.messageHandlers.enroll.postMessage(wish),
    () => document.dispatchEvent(new CustomEvent('enroll-request', {detail: wish})),
    () => window.top.document.dispatchEvent(new CustomEvent('enroll-request', {detail: wish})),
    () => enrollAnswer('{}'),
  ];
  window.outcomes = tries.map((one) => { try { one(); return 'no error'; } catch (error) { return error.name; } });
  // The native part would answer at once: within a few turns of a server that is asked over the network.
  window.settled = (async () => { for (let turn = 0; turn < 5; turn++) await fetch('turn'); return answers })();
  if (parent !== window) settled.then(() => parent.postMessage({outcomes, answers}, '*'));
</script>"""


class Attacker(http.server.BaseHTTPRequestHandler):
    visits = []

    def do_GET(self):
        self.visits.append(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(ATTACK.encode())

    def log_message(self, *_):
        pass


class Hostile(Case):
    def setUp(self):
        super().setUp()
        Attacker.visits = []
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Attacker)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.attacker = f"http://127.0.0.1:{server.server_port}/"

    def test_the_app_s_page_goes_nowhere_else(self):
        shell = self.shell().start().shows("unregistered")
        shell.run(f"location.href = '{self.attacker}navigation'")
        shell.run(f"window.open('{self.attacker}window')")
        shell.run(f"const a = document.createElement('a'); a.href = '{self.attacker}link'; a.click()")
        shell.run(
            f"const f = document.createElement('iframe'); f.src = '{self.attacker}frame'; document.body.append(f);"
            "await new Promise((done) => { f.onload = done; setTimeout(done, 500); })"
        )
        refused = shell.run(f"try {{ await fetch('{self.attacker}fetch'); return false }} catch {{ return true }}")
        self.assertTrue(refused, "the policy lets the page fetch from elsewhere")
        self.assertEqual(Attacker.visits, [])
        self.assertEqual(shell.state, "unregistered")

    def test_the_policy_lets_no_script_into_the_page(self):
        shell = self.shell().start().shows("unregistered")
        inline = (
            "const s = document.createElement('script'); s.textContent = 'window.owned = true'; document.body.append(s);"
            "return window.owned === undefined"
        )
        self.assertTrue(shell.run(inline))

    def test_a_foreign_page_finds_no_bridge(self):
        # This test opens the view's navigation limits, to test the protection behind them.
        shell = self.shell().start().shows("unregistered")
        shell.tell(permit=self.attacker, visit=self.attacker + "page")
        wait_until(lambda: shell.run("return document.title") == "attacker", "the attacker's page is there")
        outcomes = shell.run("return outcomes")
        self.assertEqual(outcomes[0], "TypeError", "messageHandlers is there")
        self.assertEqual(outcomes[3], "ReferenceError")
        self.assertEqual(shell.run("return await settled"), [])

    def test_a_foreign_frame_in_the_app_s_page_finds_no_bridge(self):
        shell = self.shell().start().shows("unregistered")
        # The shell runs without the policy, and allows the frame.
        shell.tell(permit=self.attacker, visit="app://localhost/index.html")
        shell.shows("unregistered")
        told = shell.run(
            "const told = new Promise((done) => addEventListener('message', ({data}) => done(data)));"
            f"const f = document.createElement('iframe'); f.src = '{self.attacker}frame'; document.body.append(f);"
            "return await told"
        )
        self.assertEqual(told["outcomes"][0], "TypeError", "messageHandlers is there")
        self.assertEqual(told["outcomes"][2], "SecurityError")
        self.assertEqual(told["answers"], [])

    def test_the_native_part_opens_no_files_and_no_scripts(self):
        shell = self.shell().start().shows("unregistered")
        for url, other_app in (
            ("file:///etc/passwd", False), ("file:///etc/passwd", True), ("javascript:alert(1)", True),
            ("http://example.com/", False), ("app://localhost/index.html", True), ("com.example.other:/x", False), ("", False),
        ):  # fmt: skip
            error = shell.run(
                "return await new Promise((done) => cordova.exec(() => done(null), done, 'EnrollKit', 'browse', "
                f"[{json.dumps(url)}, {json.dumps(other_app)}]))"
            )
            self.assertEqual((error or {}).get("status"), "invalidArgument", url)

    def test_a_page_names_no_paths(self):
        shell = self.shell().start().shows("unregistered")
        for store in ("../x", "/tmp/x", "a/b", "", ".", "..", ".x", "a" * 65, 7):
            error = shell.run(
                "return await new Promise((done) => cordova.exec(() => done(null), done, 'EnrollKit', 'call', "
                f"[1, null, 'accounts.list', {{store: {json.dumps(store)}}}]))"
            )
            self.assertEqual((error or {}).get("field"), "store", store)


class Library(unittest.TestCase):
    """www/enroll.js over the real library: cases that a stand-in for `exec` cannot show. All of them share one app."""

    @classmethod
    def setUpClass(cls):
        desk.forget()
        cls.app = Shell(desk).start().shows("unregistered")
        cls.addClassCleanup(cls.app.stop)

    def setUp(self):
        self.app.run(
            "globalThis.options = {configuration: await (await fetch('configuration.json')).json()};"
            "globalThis.caught = async (promise) => { try { return {value: await promise} } catch (error) {"
            " return {isError: error instanceof enroll.EnrollError, ...error.toJSON()} } }"
        )

    def caught(self, code):
        return self.app.run(f"return await caught((async () => {{ {code} }})())")

    def test_a_configuration_that_is_wrong_is_refused_with_its_field(self):
        error = self.caught("return enroll.open({configuration: {...options.configuration, issuer: 'ftp://x'}})")
        self.assertTrue(error["isError"], error)
        self.assertEqual((error["status"], error["field"], error["blame"]), ("configuration", "issuer", "host"))

    def test_parameters_that_are_wrong_are_refused_by_the_library(self):
        error = self.caught("const c = await enroll.open(options); return c.registration.begin({kind: 'nonsense'})")
        self.assertTrue(error["isError"], error)
        self.assertEqual((error["status"], error["blame"]), ("invalidArgument", "caller"))
        self.assertIn("kind", error["message"])

    def test_the_provider_s_own_words_come_through(self):
        error = self.caught(
            "const c = await enroll.open({...options, store: 'oauth', configuration: {...options.configuration, "
            "clientId: 'nobody', pushedRequests: 'always'}}); return c.signIn()"
        )
        self.assertTrue(error["isError"], error)

    def test_nobody_is_signed_in(self):
        access = self.caught("const c = await enroll.open({...options, store: 'empty'}); return c.token.access()")
        self.assertEqual(access["value"]["outcome"], "reauthenticate")

    def test_a_call_is_cancelled(self):
        begun = (
            "const c = await enroll.open({...options, store: 'cancel'}); const {transaction} = await c.registration.begin();"
            "const stop = new AbortController(); setTimeout(() => stop.abort());"
            "return c.registration.awaitOutcome({transaction, timeout: 600}, {signal: stop.signal})"
        )
        self.assertEqual(self.caught(begun)["status"], "cancelled")

    def test_closing_a_client_ends_what_waits_in_it(self):
        waiting = (
            "const c = await enroll.open({...options, store: 'close'}); const {transaction} = await c.registration.begin();"
            "setTimeout(() => c.close()); return c.registration.awaitOutcome({transaction, timeout: 600})"
        )
        self.assertEqual(self.caught(waiting)["status"], "cancelled")

    def test_many_calls_wait_at_once_and_others_go_on(self):
        code = (
            "const c = await enroll.open({...options, store: 'many'}); const {transaction} = await c.registration.begin();"
            "const stop = new AbortController(); const waits = Array.from({length: 8}, () => c.registration.awaitOutcome({transaction,"
            " timeout: 600}, {signal: stop.signal}).catch((error) => error.status));"
            "const {state} = await c.registration.state(); stop.abort(); return [state.state, await Promise.all(waits)]"
        )
        self.assertEqual(self.caught(code)["value"], ["authenticating", ["cancelled"] * 8])

    def test_two_clients_have_two_stores_and_their_own_events(self):
        code = (
            "const [a, b] = await Promise.all(['a', 'b'].map((store) => enroll.open({...options, store})));"
            "const told = []; for (const [who, one] of [['a', a], ['b', b]]) one.subscribe('registration.changed', (event) => "
            "told.push([event.client === one.id && who, event.state.state]));"
            "await a.registration.begin(); const {state} = await b.registration.state();"
            "await a.close(); await b.close(); return [a.id !== b.id, state.state, told]"
        )
        value = self.caught(code)["value"]
        self.assertEqual(value[:2], [True, "unregistered"])
        self.assertIn(["a", "authenticating"], value[2])
        self.assertEqual([state for who, state in value[2] if who == "b"], ["unregistered"])

    def test_an_attempt_alone_is_no_account_and_is_removed_by_the_store_s_name(self):
        code = (
            "const c = await enroll.open({...options, store: 'listed', account: 'work'}); await c.registration.begin();"
            "await c.close(); const before = await enroll.accounts.list({store: 'listed'});"
            "await enroll.accounts.remove({store: 'listed', account: 'work'});"
            "return [before.accounts, (await enroll.accounts.list({store: 'listed'})).accounts]"
        )
        self.assertEqual(self.caught(code)["value"], [[], []])

    def test_commands_without_a_client(self):
        code = (
            "return [(await enroll.system.describe()).name,"
            " (await enroll.link.parse({url: 'https://a.example/x'})).host,"
            " (await enroll.expiry.check({expiresAt: 100, now: 200})).band]"
        )
        self.assertEqual(self.caught(code)["value"], ["EnrollKit", "a.example", "expired"])

    def test_a_closed_client_is_told_apart(self):
        error = self.caught("const c = await enroll.open(options); await c.close(); await c.close(); return c.token.access()")
        self.assertEqual(error["status"], "handle")

    def test_a_reload_closes_the_clients_of_the_page_before(self):
        self.app.run("globalThis.old = await enroll.open(options); setTimeout(() => location.reload())")
        wait_until(lambda: self.app.run("return typeof old") == "undefined", "the page is another")
        self.app.shows("unregistered")
        error = self.app.run(
            "return await new Promise((done) => cordova.exec(() => done(null), done, 'EnrollKit', 'call', "
            "[1, 'c1', 'token.access', {}]))"
        )
        self.assertEqual(error["status"], "handle")


class Example(Case):
    def test_the_readme_s_example_signs_in(self):
        page = (TOP / "bindings/cordova/README.md").read_text()
        shown = re.search(r"<!-- example: (\S+) -->\n```js\n(.*?)```\n", page, re.S)
        self.assertEqual((TOP / shown[1]).read_text(), shown[2])

        shell = self.shell().start().shows("unregistered")
        self.begin(shell, shown[2])
        shell.run("document.getElementById('sign-in').click()")
        desk.tab()
        # The app ends meanwhile; after the next start the user signs in again.
        shell.kill()
        self.begin(shell.start().shows("authenticating:browser"), shown[2])
        self.assertEqual(shell.run("return [...document.querySelectorAll('button:not([hidden])')].map(({id}) => id)"), ["sign-in"])
        for page in desk.context.pages[1:]:
            page.close()
        shell.run("document.getElementById('sign-in').click()")
        desk.sign_in()
        said = "return document.getElementById('yes').hidden || document.getElementById('yes').textContent"
        wait_until(lambda: shell.run(said) == "Yes, I am Alice Example", "the page asks who it is")
        self.assertTrue(shell.run("return document.getElementById('sign-in').hidden"))
        shell.run("document.getElementById('yes').click()")
        wait_until(lambda: shell.run(said) is True, "the page has its answer")
        sent = shell.run(
            "const asked = []; globalThis.fetch = async (...call) => void asked.push(call);"
            " await fetchOrders(await opened, 'https://api.example/orders'); return asked[0][1].headers.Authorization"
        )
        self.assertRegex(sent, "^Bearer .{20}")

    def begin(self, shell, example):
        """Shows the example on a separate page, in place of the app's page."""
        shell.run(
            "document.body.innerHTML = '<button id=sign-in hidden>Sign in</button><button id=yes hidden></button>';"
            f"{example}; Object.assign(globalThis, {{start, fetchOrders}});"
            "globalThis.opened = start(await (await fetch('configuration.json')).json()); await opened"
        )


class Tokens(Case):
    def test_a_token_is_had_by_its_name_and_is_in_no_log(self):
        shell = self.signed_in()
        shell.run("globalThis.options = {configuration: await (await fetch('configuration.json')).json()};")
        told = shell.run(
            "const c = await enroll.open(options); const access = await c.token.access(); const account = await c.account.read();"
            "const text = [access, account, c].map((one) => JSON.stringify(one) + String(one) + JSON.stringify({...one})).join();"
            "return {type: access.tokenType, length: access.accessToken.length, id: account.idToken.length, text, "
            "leaks: [access.accessToken, account.idToken].some((secret) => text.includes(secret))}"
        )
        self.assertEqual(told["type"], "Bearer")
        self.assertGreater(told["length"], 20)
        self.assertGreater(told["id"], 100)
        self.assertFalse(told["leaks"], told["text"])

    def test_the_token_works_at_the_provider(self):
        shell = self.signed_in()
        shell.run("globalThis.options = {configuration: await (await fetch('configuration.json')).json()};")
        claims = shell.run("return (await (await enroll.open(options)).identity.userinfo()).claims")
        self.assertEqual(claims["name"], "Alice Example")
