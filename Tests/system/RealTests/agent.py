"""A simulated user without a browser: keeps cookies, follows redirects, and fills in the forms of a server.

`Person.open(url)` acts like a user who signs in or out: it fills in name and password if a page asks for them, answers
other questions with yes, and continues until the browser leaves the server.
"""

import html.parser
import http.cookiejar
import urllib.error
import urllib.parse
import urllib.request

from sandbox import NoRedirect

#: The names of the buttons that refuse, on the servers' pages.
NO = ("cancel", "deny", "denied", "no")
# The maximum number of pages and redirects of one visit. A higher number would mean that the server repeats a page,
# because it does not accept the input.
LONGEST_WAY = 24


class Form:
    def __init__(self, attributes):
        self.action = attributes.get("action") or ""
        self.method = (attributes.get("method") or "get").lower()
        self.fields, self.buttons = [], []

    @property
    def asks_password(self):
        return any(kind == "password" for kind, _, _ in self.fields)

    def filled(self, known, refuse):
        """The form as the user sends it. `known` has values for fields, by name; every offered scope is chosen; all
        other fields keep the page's values."""
        values = [(name, known.get(name, value)) for kind, name, value in self.fields if name]
        refusing = [button for button in self.buttons if button[1].lower() in NO]
        pressed = refusing if refuse and refusing else [button for button in self.buttons if button not in refusing]
        return values + [button for button in pressed[:1] if button[0]]


class Page(html.parser.HTMLParser):
    """Parses the forms of a page and its text."""

    def __init__(self, text):
        super().__init__()
        self.forms, self.words = [], []
        #: The URL that the page opens without a click (`<meta http-equiv="refresh">`).
        self.refresh = None
        self._named, self._open = {}, None
        self.feed(text)

    @property
    def form(self):
        """The form to answer: the form that asks for a password; without one, the first form with the method POST."""
        posting = [form for form in self.forms if form.method == "post"]
        return next((form for form in posting if form.asks_password), posting[0] if posting else None)

    def handle_starttag(self, tag, pairs):
        attributes = {name: value or "" for name, value in pairs}
        if tag == "meta" and attributes.get("http-equiv", "").lower() == "refresh":
            self.refresh = attributes["content"].partition("url=")[2] or None
        if tag == "form":
            self._open = Form(attributes)
            self.forms.append(self._open)
            self._named[attributes.get("id", "")] = self._open
            return
        form = self._named.get(attributes["form"]) if attributes.get("form") else self._open
        if form is None or tag not in ("input", "button"):
            return
        kind, name = attributes.get("type", "submit" if tag == "button" else "text"), attributes.get("name", "")
        value = attributes.get("value", "")
        if kind == "submit":
            form.buttons.append((name, value))
        elif kind != "checkbox" or "checked" in attributes or name == "scope":
            form.fields.append((kind, name, value))

    def handle_endtag(self, tag):
        if tag == "form":
            self._open = None

    def handle_data(self, data):
        if data.strip():
            self.words.append(data.strip())


class Person:
    """A user with a name and a password. `homes`: the origins of the server; with a redirect to any other
    address the browser leaves the server."""

    def __init__(self, name, password, homes):
        self.name = name
        self._homes = tuple(homes)
        self._known = {**dict.fromkeys(("username", "login"), name), "password": password}
        # Browsers send cookies that are marked Secure to loopback addresses; the standard library does so
        # only with this setting.
        policy = http.cookiejar.DefaultCookiePolicy(secure_protocols=("http", "https"))
        jar = http.cookiejar.CookieJar(policy)
        self._browser = urllib.request.build_opener(NoRedirect, urllib.request.HTTPCookieProcessor(jar))
        #: How many times a page asked for the password.
        self.passwords = 0

    def sign_out(self, url):
        """Answers the server's question with yes; stops at a page for the next sign-in."""
        return self.open(url, stops_at_password=True)

    def open(self, url, refuse=False, stops_at_password=False, **fields):
        """Visits `url`. Returns the first URL outside the server, or None if the visit ends at a page that asks
        nothing.

        - Parameter refuse: presses the button that refuses, at the first page that has one.
        - Parameter fields: further input of this user, such as a one-time code."""
        body, way = None, []
        while len(way) < LONGEST_WAY:
            if not url.startswith(self._homes):
                return url
            way.append(urllib.parse.urlsplit(url).path)
            status, headers, text = self._load(url, body)
            if headers.get("Location") and 300 <= status < 400:
                url, body = urllib.parse.urljoin(url, headers["Location"]), None
                continue
            page = Page(text)
            if status >= 400:
                raise AssertionError(f"{url}: status {status}: {' '.join(page.words)[:400]}")
            if page.refresh:
                url, body = urllib.parse.urljoin(url, page.refresh), None
                continue
            if page.form is None or (stops_at_password and page.form.asks_password):
                return None
            self.passwords += page.form.asks_password
            sent = page.form.filled({**self._known, **fields}, refuse)
            url = urllib.parse.urljoin(url, page.form.action)
            body = urllib.parse.urlencode(sent).encode()
        raise AssertionError(f"the pages never end: {way}")

    def _load(self, url, body):
        try:
            answer = self._browser.open(url, body, timeout=60)
        except urllib.error.HTTPError as other:
            answer = other
        with answer:
            return answer.status, answer.headers, answer.read().decode(errors="replace")
