"""The page of docs/tutorial/hybrid.md in the desktop shell, with a real browser."""

import unittest

import test_shell
from desk import TOP, Shell, wait_until
from test_shell import setUpModule, tearDownModule  # noqa: F401: this module uses the same desk

BUTTONS = "".join(f"<button id={name} hidden></button>" for name in ("sign-in", "yes", "sign-out"))


class Tutorial(unittest.TestCase):
    def test_the_page_signs_in_asks_an_api_and_signs_out(self):
        desk = test_shell.desk
        desk.forget()
        shell = Shell(desk)
        self.addCleanup(shell.stop)
        shell.start().shows("unregistered")
        script = (TOP / "docs/tutorial/notes.js").read_text()
        shell.run(
            f"document.body.innerHTML = '{BUTTONS}'; {script}; Object.assign(globalThis, {{who}});"
            "document.dispatchEvent(new Event('deviceready'))"
        )
        shown = "return [...document.querySelectorAll('button:not([hidden])')].map(({id}) => id).join()"
        wait_until(lambda: shell.run(shown) == "sign-in", "the page offers to sign in")
        shell.run("document.getElementById('sign-in').click()")
        desk.sign_in()
        wait_until(lambda: shell.run(shown) == "yes", "the page asks who it is")
        self.assertEqual(shell.run("return document.getElementById('yes').textContent"), "Yes, I am Alice Example")
        shell.run("document.getElementById('yes').click()")
        wait_until(lambda: shell.run(shown) == "sign-out", "the page has a session")
        # The shell's policy lets its page send no request to other servers: the test reads the request itself.
        sent = shell.run(
            "const asked = []; globalThis.fetch = async (...call) => { asked.push(call); return { json: async () => ({ name: 'A' }) } };"
            " const name = await who(notes, 'https://api.example/me'); return name + asked[0][1].headers.Authorization"
        )
        self.assertRegex(sent, "^ABearer .{20}")
        shell.run("document.getElementById('sign-out').click()")
        wait_until(lambda: shell.run(shown) == "sign-in", "the page offers to sign in again")
