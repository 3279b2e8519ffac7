#!/usr/bin/env python3
"""Python's urlsplit and parse_qsl on the redirect that bench-steps parses. Prints nanoseconds: the median of the rounds."""

import statistics
import timeit
from urllib.parse import parse_qsl, urlsplit

URL = ("https://app.example/callback?code=SplxlOBeZQQYbYS6WxSbIASplxlOBeZQQYbYS6WxSbI"
       "&state=af0ifjsldkjaf0ifjsldkjaf0ifjsldkjaf0ifjsldk&iss=https%3A%2F%2Fid.example")
CALLS = 1000

assert len(parse_qsl(urlsplit(URL).query)) == 3
rounds = timeit.repeat(lambda: parse_qsl(urlsplit(URL).query), number=CALLS, repeat=101)
print(round(statistics.median(rounds) / CALLS * 1e9))
