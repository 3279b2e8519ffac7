"""Tests that the servers are installed, and reports missing servers; also tests that the simulated browser
fills in forms."""

import unittest

import servers
from agent import Page


class Servers(unittest.TestCase):
    def test_the_folder_has_every_server(self):
        if not servers.REAL.is_dir():
            self.skipTest(f"{servers.REAL} is not there, so no act is played; ENROLLKIT_REAL names another folder")
        wanted = ("keycloak", "oidc-provider", "spring", "hydra", "zitadel", "rec.py")
        self.assertEqual([name for name in wanted if not (servers.REAL / name).exists()], [])


class Forms(unittest.TestCase):
    PAGE = """<form action="/search"><input name="words"></form>
        <form id="x" method="post" action="/in"><input type=hidden name=a value="1 &amp; 2"><input name=username>
        <input type=password name=password><input type=checkbox name=remember><input type=checkbox name=scope value=b checked>
        </form><button form=x name=do value=ok>Yes</button><button form=x name=do value=cancel>No</button>"""

    def test_the_form_that_asks_for_a_password_is_filled_in(self):
        form = Page(self.PAGE).form
        self.assertTrue(form.asks_password)
        sent = form.filled({"username": "alice", "password": "pw"}, refuse=False)
        self.assertEqual(sent, [("a", "1 & 2"), ("username", "alice"), ("password", "pw"), ("scope", "b"), ("do", "ok")])

    def test_a_user_who_refuses_presses_the_other_button(self):
        self.assertIn(("do", "cancel"), Page(self.PAGE).form.filled({}, refuse=True))

    def test_a_page_that_asks_nothing_has_no_form(self):
        self.assertIsNone(Page("<h1>Done</h1><form action='/search'><input name=words></form>").form)
