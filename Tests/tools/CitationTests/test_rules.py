"""Runs scripts/check-rules on folders with good and bad tables of rules."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from processes import TOP

CHECK = TOP / "scripts/check-rules"

FILES = {
    "Sources/Core/Code.swift": "// Sent once (R1, R2).\n",
    "Sources/Core/State.swift": "// Kept (R2).\n",
    "Sources/Core/Other.swift": "// R11, no rule.\n",
    "Tests/CodeTests.swift": '@Test(\n    "a code is sent once (R1)",\n    arguments: [1])\n// "not declared (R1)"\n',
    "Tests/test_code.c": 'TEST("a code is sent once (R1)") {\n}\n',
    "Tests/test_code.py": "    def test_a_state_is_kept_r2(self):\n",
}
RULES = """# The rules

| rule | says | source |
| --- | --- | --- |
| R1 | This. | RFC |
| R2 | That. | RFC |

## Where each rule is decided

"""
FIRST = "| R1 | [Code](../Sources/Core/Code.swift) | [Tests](../Tests/CodeTests.swift): a code is sent once (R1) |"
SECOND = (
    "| R2 | [Code](../Sources/Core/Code.swift), and: [State](../Sources/Core/State.swift)"
    " | [test](../Tests/test_code.py): `test_a_state_is_kept_r2` |"
)

#: The rows of both rules, and the fault that is reported.
BAD = {
    "a missing row": ([FIRST], "R2: the last table has 0 rows for it, not 1"),
    "a row that is there twice": ([FIRST, SECOND, FIRST], "R1: the last table has 2 rows for it, not 1"),
    "a row of no rule": (
        [FIRST, SECOND, FIRST.replace("| R1 |", "| R11 |").replace("Code.swift", "Other.swift").replace("CodeTests", "Other")],
        "R11: the last table has a row for it, and no table above has the rule",
    ),
    "a wrong path": ([FIRST.replace("Code.swift", "Codes.swift"), SECOND], "R1: there is no file Sources/Core/Codes.swift"),
    "a wrong path behind the first": ([FIRST, SECOND.replace("State", "Stated")], "R2: there is no file Sources/Core/Stated.swift"),
    "a file that does not cite the rule": (
        [FIRST.replace("Code.swift", "Other.swift"), SECOND],
        "R1: Sources/Core/Other.swift does not cite R1",
    ),
    "no file": ([FIRST.replace("[Code](../Sources/Core/Code.swift)", "Code"), SECOND], "R1: the column “decided in” links to 0 files"),
    "a file that is no source": (
        [FIRST.replace("Sources/Core/Code.swift", "Tests/CodeTests.swift"), SECOND],
        "R1: Tests/CodeTests.swift decides no rule",
    ),
    "a wrong path of a test": ([FIRST.replace("CodeTests", "Code"), SECOND], "R1: there is no file Tests/Code.swift"),
    "a wrong name of a test": ([FIRST.replace("a code is", "a code was"), SECOND], "R1: Tests/CodeTests.swift declares no test with the name “a code was"),
    "a name that stands in a comment": ([FIRST.replace("a code is sent once", "not declared"), SECOND], "R1: Tests/CodeTests.swift declares no test with"),
    "a part of a name": ([FIRST, SECOND.replace("test_a_state_is_kept_r2", "test_a_state")], "R2: Tests/test_code.py declares no test with"),
    "no test": ([FIRST, SECOND[: SECOND.rindex("|", 0, -1)] + "| |"], "R2: the column “test” is not of the form"),
    "a test without a name": ([FIRST.replace(": a code is sent once (R1)", ""), SECOND], "R1: the column “test” is not of the form"),
}  # fmt: skip


class RuleTests(unittest.TestCase):
    def check(self, rows):
        with tempfile.TemporaryDirectory() as folder:
            page = RULES + "\n".join(["| rule | decided in | test |", "| --- | --- | --- |", *rows, ""])
            for path, content in {**FILES, "docs/rules.md": page}.items():
                file = Path(folder) / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(content)
            return subprocess.run([CHECK, folder], capture_output=True, text=True)

    def test_rows_that_name_their_files_and_tests_pass(self):
        for first in (FIRST, FIRST.replace("CodeTests.swift", "test_code.c")):
            said = self.check([first, SECOND])
            self.assertEqual(said.returncode, 0, said.stdout + said.stderr)


def bad(name, rows, expected):
    def test(self):
        said = self.check(rows)
        self.assertEqual(said.returncode, 1, said.stdout + said.stderr)
        self.assertIn("docs/rules.md, " + expected, said.stdout)

    setattr(RuleTests, "test_found: " + name, test)


for row in BAD.items():
    bad(row[0], *row[1])


if __name__ == "__main__":
    unittest.main()
