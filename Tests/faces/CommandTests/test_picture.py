"""The QR code of the device grant, read as a phone's camera reads it."""

import re

import zbar
from cases import CommandCase

LINE = re.compile(r"\x1b\[30;107m([ █▀▄]+)\x1b\[0m")
# For each character, whether its upper half and its lower half show a dark module (1) or a light one (0).
CELLS = {"█": (1, 1), "▀": (1, 0), "▄": (0, 1), " ": (0, 0)}


def read(lines):
    """The text in the QR code."""
    rows = [[CELLS[sign][half] for sign in line] for line in lines for half in (0, 1)]
    scale = 4
    pixels = b"".join(
        bytes(0 if dark else 255 for dark in row for _ in range(scale)) * scale for row in rows)
    image = zbar.Image(len(rows[0]) * scale, len(rows) * scale, "Y800", pixels)
    zbar.ImageScanner().scan(image)
    return [symbol.data for symbol in image]


class Picture(CommandCase):
    def address(self, **variables):
        terminal = self.terminal("login", "--device", **variables)
        address = terminal.shows(r"with the code in\s+it:\s+(\S+)")[1]
        terminal.shows("Waiting for the")
        terminal.interrupt()
        self.assertEqual(terminal.ends(), 130)
        return address, LINE.findall(terminal.raw)

    def test_it_says_the_address_with_the_code(self):
        address, lines = self.address()
        self.assertEqual(read(lines), [address])

    def test_there_is_none_where_the_terminal_cannot_show_it(self):
        for variables in [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"LANG": "C"}, {"columns": 30}]:
            self.assertEqual(self.address(**variables)[1], [], variables)
