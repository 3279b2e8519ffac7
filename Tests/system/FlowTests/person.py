"""A user in front of a simulated browser, which has cookies, follows redirects and sends forms. The browser
also does what the only script of the pages does.

`Person.open(url)` loads a page; `fill(**fields)` sends its form. Both end at a page, or at a URL that opens
the app instead of a page (`left`): a redirect or a link to the app.
"""

import html
import http.cookiejar
import re
import urllib.error
import urllib.parse
import urllib.request

from sandbox import NoRedirect


class Person:
    def __init__(self, sandbox):
        self.sandbox = sandbox
        self.left = None
        self.url = self.page = None
        self.seen = []
        self._browser = urllib.request.build_opener(
            NoRedirect, urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        )

    def open(self, url):
        """Loads a page and follows its redirects and refreshes; `seen` has the path of each request."""
        return self._go(url, None)

    def press(self, action="continue", **fields):
        """Fills in the page's form and presses one of its buttons."""
        form = re.search(r'<form method="post" action="([^"]+)">(.*?)</form>', self.page, re.S)
        hidden = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', form[2])
        values = {name: html.unescape(value) for name, value in hidden}
        body = urllib.parse.urlencode({**values, **fields, "action": action}).encode()
        return self._go(urllib.parse.urljoin(self.url, html.unescape(form[1])), body)

    def follow(self, text):
        """Follows the page's link with this text."""
        link = re.search(r'<a href="([^"]+)">' + re.escape(text) + "</a>", self.page)
        return self.open(urllib.parse.urljoin(self.url, html.unescape(link[1])))

    @property
    def heading(self):
        return re.search(r"<h1>(.*?)</h1>", self.page)[1]

    def _go(self, url, body):
        self.left = None
        for _ in range(12):
            if not url.startswith(self.sandbox.issuer):
                self.left = url
                return self
            self.seen.append(urllib.parse.urlsplit(url).path)
            headers, text = self._load(url, body)
            body = None
            if headers.get("Location"):
                url = urllib.parse.urljoin(url, headers["Location"])
                continue
            self.url, self.page = url, text
            # The script of the hosted login page; the page has a link that does the same.
            script = re.search(r'<a id="login" href="([^"]+)"', text)
            if not script:
                return self
            url = urllib.parse.urljoin(url, html.unescape(script[1]))
        raise AssertionError(f"round in a circle: {self.seen}")

    def _load(self, url, body):
        try:
            answer = self._browser.open(url, body, timeout=30)
        except urllib.error.HTTPError as refused:
            answer = refused
        with answer:
            return answer.headers, answer.read().decode()
