"""Tests how scripts/bench handles figures: the rows, figures that are worse than in the last release, the
page and the picture."""

import contextlib
import io
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree
from pathlib import Path

from processes import TOP

BENCH = TOP / "Tests/tools/Bench"
sys.path.insert(0, str(BENCH))

import bench  # noqa: E402
import history  # noqa: E402
import page  # noqa: E402
import picture  # noqa: E402
from table import COLUMNS, Malformed, Result, Row, figure, goal, read_line, read_rows  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


def row(what="size", judged="ours", goal="≤ 100", kept="ours"):
    return Row(what, "itself", judged, goal, kept, "sizes.py")


def result(value, **changes):
    made = row(**changes)
    return Result(made, **{"ratio" if made.judged == "ratio" else "ours": value})


def lines(*figures, version="1.0.0"):
    """A release with these figures, by row."""
    return [history.Line("2026-01-31", version, "abc1234", what, value) for what, value in figures]


class TableTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="enroll-bench-")
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "rows.tsv"

    def read(self, *rows):
        self.path.write_text("\n".join(["\t".join(COLUMNS), *("\t".join(one) for one in rows)]) + "\n")
        return read_rows(self.path)

    def test_each_row_has_a_program_and_each_program_a_row(self):
        rows = read_rows()
        self.assertGreater(len(rows), 25)
        for program in {one.program for one in rows.values()}:
            text = (BENCH / program).read_text()
            self.assertIn("__main__", text, program)

    def test_no_plain_time_is_kept(self):
        times = {"enroll token that renews, beside a round trip", "whole sign-in, our own CPU"}
        rows = read_rows()
        self.assertLessEqual(times, set(rows))
        self.assertEqual([what for what in times if rows[what].kept], [])

    def test_a_row_that_cannot_be_judged_is_refused(self):
        good = ["size", "itself", "ours", "≤ 1.5", "ours", "sizes.py"]
        self.assertEqual(self.read(good)["size"].limit, 1.5)
        for place, bad in ((2, "theirs"), (3, "< 1"), (3, "≤ fast"), (4, "time")):
            with self.subTest(bad), self.assertRaisesRegex(Malformed, "size"):
                self.read([*good[:place], bad, *good[place + 1:]])
        with self.assertRaisesRegex(Malformed, "twice"):
            self.read(good, good)
        with self.assertRaisesRegex(Malformed, "5 columns"):
            self.read(good[:5])

    def test_a_line_says_a_result_or_why_there_is_none(self):
        rows = {"size": row(), "speed": row("speed", "ratio", "≥ 2", "ratio"), "wait": row("wait", "difference", "≤ 5", "")}
        self.assertEqual(read_line('{"what": "size", "ours": 7, "unit": "B"}', rows).kept, 7)
        self.assertEqual(read_line('{"what": "speed", "ours": 6, "theirs": 2}', rows).ratio, 3)
        self.assertEqual(read_line('{"what": "speed", "ours": 6, "theirs": 2, "ratio": 2.9}', rows).ratio, 2.9)
        self.assertEqual(figure(read_line('{"what": "wait", "ours": 6, "theirs": 4, "unit": "ms"}', rows)), "+2 ms")
        self.assertEqual(goal(read_line('{"what": "wait", "ours": 6, "theirs": 4, "unit": "ms"}', rows)), "≤ 5 ms")
        absent = read_line('{"what": "speed", "note": "peer not installed"}', rows)
        self.assertEqual((absent.figure, absent.is_met, absent.kept), (None, None, None))

    def test_a_figure_that_the_table_does_not_name_is_shown_without_a_goal(self):
        alone = read_line('{"what": "weight", "ours": 7, "unit": "kg"}', {"size": row()})
        self.assertEqual((figure(alone), alone.is_met, alone.kept), ("7 kg", None, None))
        self.assertEqual(figure(read_line('{"what": "pace", "ours": 3, "theirs": 2, "ratio": 1.5}', {})), "1.50 ×")

    def test_a_line_that_is_none_is_refused(self):
        for line in ("size 7", "[]", '{"ours": 7}', '{"what": "size", "ours": "7"}', '{"what": "size"}',
                     '{"what": "size", "ours": true}'):  # fmt: skip
            with self.subTest(line), self.assertRaises(Malformed):
                read_line(line, {"size": row()})

    def test_goals_are_met_at_their_limit_and_missed_beyond(self):
        for goal, good, bad in (("≤ 100", (0, 100), 100.1), ("≥ 100", (100, 900), 99.9)):
            for value in good:
                self.assertTrue(result(value, goal=goal).is_met)
            self.assertFalse(result(bad, goal=goal).is_met)
        self.assertIsNone(result(5, goal="").is_met)


class HistoryTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="enroll-bench-")
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "history.tsv"

    def fallen(self, before, *results):
        return [one.row.what for one, _ in history.fallen(history.last(before), results)]

    def test_more_than_a_tenth_worse_has_fallen_back_and_noise_has_not(self):
        before = lines(("size", 100.0))
        self.assertEqual(self.fallen(before, result(111)), ["size"])
        self.assertEqual(self.fallen(before, result(109)), [])
        self.assertEqual(self.fallen(before, result(50)), [])

    def test_more_is_better_where_the_goal_says_so(self):
        before = lines(("rate", 100.0))
        self.assertEqual(self.fallen(before, result(89, what="rate", goal="≥ 90")), ["rate"])
        self.assertEqual(self.fallen(before, result(91, what="rate", goal="≥ 90")), [])
        self.assertEqual(self.fallen(before, result(200, what="rate", goal="≥ 90")), [])

    def test_a_row_falls_back_when_its_better_quartile_does(self):
        less, more = row("cost", "ratio", "≤ 1", "ratio"), row("rate", "ratio", "≥ 1", "ratio")
        before = lines(("cost", 1.0), ("rate", 1.0))
        self.assertEqual(self.fallen(before, Result(less, ratio=1.3, low=1.05, high=2)), [])
        self.assertEqual(self.fallen(before, Result(less, ratio=1.3, low=1.15, high=2)), ["cost"])
        self.assertEqual(self.fallen(before, Result(more, ratio=0.7, low=0.5, high=0.95)), [])
        self.assertEqual(self.fallen(before, Result(more, ratio=0.7, low=0.5, high=0.85)), ["rate"])

    def test_a_count_that_was_zero_falls_back_with_one(self):
        self.assertEqual(self.fallen(lines(("size", 0.0)), result(1)), ["size"])
        self.assertEqual(self.fallen(lines(("size", 0.0)), result(0)), [])

    def test_the_last_release_counts_and_what_is_not_kept_never_does(self):
        before = lines(("size", 50.0)) + lines(("size", 100.0), version="1.1.0")
        self.assertEqual(self.fallen(before, result(105)), [])
        self.assertEqual(self.fallen(lines(("size", 1.0)), result(900, kept="")), [])
        self.assertEqual(self.fallen([], result(900)), [])

    def test_a_row_without_a_figure_is_told(self):
        before = lines(("size", 1.0), ("speed", 1.0))
        self.assertEqual(history.missing(before, [result(1)]), ["speed"])
        self.assertEqual(history.missing(before, [result(1), Result(row("speed"), note="peer not installed")]), ["speed"])
        self.assertEqual(history.missing([], [result(1)]), [])

    def test_what_is_written_is_read_and_a_release_is_recorded_once(self):
        made = lines(("size", 1906960.0), ("ratio", 1.2345))
        history.write(self.path, made)
        self.assertEqual(history.read(self.path), made)
        again = history.record(made, "1.0.0", "2026-02-01", "def5678", [result(3), result(4, what="time", kept="")])
        self.assertEqual([(line.what, line.figure, line.date) for line in again], [("size", 3, "2026-02-01")])
        self.assertEqual(history.read(Path(f"{self.path}.none")), [])

    def test_a_malformed_line_is_named(self):
        head = "\t".join(history.COLUMNS)
        good = "2026-01-31\t1.0.0\tabc\tsize\t5"
        for bad in ("2026-01-31\t1.0.0\tabc\tsize", "2026-01-31\t1.0.0\tabc\tsize\tmany", "yesterday\t1.0.0\tabc\tsize\t5",
                    "2026-01-31\t\tabc\tsize\t5", ""):  # fmt: skip
            with self.subTest(bad), self.assertRaisesRegex(Malformed, "history.tsv: line 3 "):
                self.path.write_text(f"{head}\n{good}\n{bad}\n{good}\n")
                history.read(self.path)
        self.path.write_text(f"{good}\n")
        with self.assertRaisesRegex(Malformed, "line 1 has to name the columns"):
            history.read(self.path)

    def test_the_history_of_the_project_is_read(self):
        rows = read_rows()
        kept = history.read(TOP / "docs/performance-history.tsv")
        self.assertTrue(kept)
        self.assertEqual({line.what for line in kept if line.version == kept[-1].version} - set(rows), set())


class PictureTests(unittest.TestCase):
    RESULTS = [result(90), result(150, what="a <b> & c"), result(0, what="none", goal="≤ 0"), result(1, what="rest", goal=""),
               Result(row("peer"), note="peer not installed")]  # fmt: skip

    def setUp(self):
        self.drawing = xml.etree.ElementTree.fromstring(picture.draw(self.RESULTS, "1.0.0 & more"))

    def bars(self):
        return [(one.get("class"), float(one.get("width"))) for one in self.drawing.iter(f"{SVG}rect")
                if one.get("class") in ("met", "missed")]  # fmt: skip

    def test_each_row_with_a_goal_and_a_figure_has_a_bar(self):
        self.assertEqual([kind for kind, _ in self.bars()], ["met", "missed", "met"])

    def test_a_bar_is_longer_than_its_goal_exactly_when_it_is_missed(self):
        at_goal = picture.BARS / picture.LONGEST
        for kind, length in self.bars():
            self.assertEqual(length > at_goal, kind == "missed")
        far = xml.etree.ElementTree.fromstring(picture.draw([result(1e9)], ""))
        self.assertLessEqual(max(float(one.get("width")) for one in far.iter(f"{SVG}rect") if one.get("class") == "missed"),
                             picture.BARS)  # fmt: skip

    def test_it_is_told_in_words(self):
        self.assertEqual(self.drawing.get("role"), "img")
        named = {one.get("id"): one.text for one in self.drawing if one.get("id")}
        self.assertEqual(set(self.drawing.get("aria-labelledby").split()), set(named))
        self.assertIn("2 of 3 goals are met", named["description"])
        self.assertIn("a <b> & c", named["description"])


class PageTests(unittest.TestCase):
    def test_the_generated_part_alone_is_replaced(self):
        section = page.section(PictureTests.RESULTS, lines(("size", 90.0)), "on a Monday")
        text = page.put(f"before\n{page.BEGIN}\nold\n{page.END}\nafter\n", section)
        self.assertEqual((text.split("\n")[0], text.split("\n")[-2]), ("before", "after"))
        self.assertNotIn("old", text)
        self.assertIn("| size | itself | 90 | | 90 | ≤ 100 | met |", text)
        self.assertIn("peer not installed", text)
        self.assertEqual(page.put(text, section), text)

    def test_a_page_without_marks_is_refused(self):
        for text in ("", page.BEGIN, page.END):
            with self.subTest(text), self.assertRaises(Malformed):
                page.put(text, "")

    def test_the_page_of_the_project_has_its_marks(self):
        text = (TOP / "docs/performance.md").read_text()
        self.assertNotEqual(page.put(text, ""), text)


class RunTests(unittest.TestCase):
    """Tests of whole runs, with programs that measure nothing."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="enroll-bench-")
        self.addCleanup(folder.cleanup)
        self.home = Path(folder.name)
        self.page = self.home / "performance.md"
        self.page.write_text(f"above\n{page.BEGIN}\n{page.END}\nbelow\n")
        history.write(self.home / "history.tsv", lines(("size", 50.0), ("speed", 2.0)))

    def run_bench(self, *prints, before=None, rows=None, arguments=(), earlier=bench.BENCH):
        """The exit status and the output of a run. Each of `prints` is the next output of the program, and each of
        `before` the next output of an earlier checkout's program, which is in the folder `earlier`."""
        trees = {"now": prints, **({"earlier": before} if before else {})}
        for name, lines_of_tree in trees.items():
            folder = self.home / name / (earlier if name == "earlier" else bench.BENCH)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "sizes.py").write_text(
                f"from pathlib import Path\nprints = {list(lines_of_tree)!r}\ntimes = Path({str(self.home / name / 'times')!r})\n"
                "time = len(times.read_text()) if times.exists() else 0\ntimes.write_text('.' * (time + 1))\n"
                "exec(prints[min(time, len(prints) - 1)])\n")
            (self.home / name / "times").unlink(missing_ok=True)
        if before:
            arguments = [*arguments, "--before", str(self.home / "earlier")]
        rows = rows or {"size": row()}
        with contextlib.ExitStack() as stack:
            for name, value in {
                "TOP": self.home / "now", "OUT": self.home / "out", "HISTORY": self.home / "history.tsv", "PAGE": self.page,
                "PICTURE": self.home / "performance.svg", "read_rows": lambda: rows}.items():  # fmt: skip
                stack.enter_context(unittest.mock.patch.object(bench, name, value))
            stack.enter_context(unittest.mock.patch.object(bench, "stamp", lambda: ("2026-02-01", "abc1234", "on a Monday")))
            stack.enter_context(unittest.mock.patch.object(sys, "argv", ["bench", *arguments]))
            errors = stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
            output = stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
            try:
                status = bench.main()
            except SystemExit as refusal:
                return refusal.code, errors.getvalue()
        return status, output.getvalue()

    def times(self, name="now"):
        return len((self.home / name / "times").read_text())

    @staticmethod
    def line(value):
        return f"print('{{\"what\": \"size\", \"ours\": {value}}}')"

    def test_figures_of_another_machine_are_reported_and_fail_nothing(self):
        status, output = self.run_bench(self.line(60))
        self.assertEqual(status, 0)
        self.assertIn("worse than in the docs, which another machine measured: size: 50, now 60", output)
        self.assertEqual(self.times(), 1)

    def test_a_row_that_is_worse_than_an_earlier_build_is_named_and_fails_the_run(self):
        status, output = self.run_bench(self.line(60), self.line(70), before=[self.line(51), self.line(50)])
        self.assertEqual(status, 1)
        self.assertIn(f"worse by more than 10% than the build in {self.home}/earlier: size: 50, now 70", output)

    def test_a_checkout_before_the_four_folders_of_tests_is_measured_too(self):
        status, output = self.run_bench(self.line(60), before=[self.line(50)], earlier=bench.EARLIER)
        self.assertEqual(status, 1, output)
        self.assertIn("now 60", output)

    def test_a_row_that_was_worse_once_is_measured_again_in_both_builds(self):
        status, output = self.run_bench(self.line(60), self.line(51), before=[self.line(50)])
        self.assertEqual(status, 0, output)
        self.assertEqual((self.times(), self.times("earlier")), (2, 2))
        self.assertIn("51", output)
        self.run_bench(self.line(50), before=[self.line(50)])
        self.assertEqual((self.times(), self.times("earlier")), (1, 1))

    def test_a_row_that_the_earlier_build_does_not_have_is_told(self):
        status, output = self.run_bench(self.line(60), before=["raise SystemExit(3)"])
        self.assertEqual(status, 0, output)
        self.assertIn("not compared: size", output)

    def test_a_folder_that_is_no_checkout_is_refused(self):
        status, output = self.run_bench(self.line(60), arguments=["--before", str(self.home / "none")])
        self.assertEqual(status, 2)
        self.assertIn("--before names a checkout of EnrollKit", output)

    def test_a_row_of_the_last_release_that_is_missing_is_told_and_fails_nothing(self):
        status, output = self.run_bench(self.line(50))
        self.assertEqual(status, 0)
        self.assertIn("no figure this time: speed", output)

    def test_a_program_that_fails_fails_the_run_and_nothing_is_recorded(self):
        before = self.page.read_text()
        for printed in ("raise SystemExit(3)", "print('nonsense')", "pass"):
            with self.subTest(printed):
                status, output = self.run_bench(printed, arguments=["--record", "1.1.0"])
                self.assertEqual(status, 1, output)
                self.assertEqual(self.page.read_text(), before)

    def test_a_peer_that_is_not_installed_fails_nothing(self):
        status, output = self.run_bench("print('{\"what\": \"size\", \"note\": \"peer not installed\"}')")
        self.assertEqual(status, 0)
        self.assertIn("peer not installed", output)

    def test_a_record_writes_history_picture_and_page(self):
        status, output = self.run_bench(self.line(90), arguments=["--record", "1.1.0"])
        self.assertEqual(status, 0, output)
        kept = history.read(self.home / "history.tsv")
        self.assertEqual([(line.version, line.figure) for line in kept][-1], ("1.1.0", 90))
        self.assertIn("| size | itself | 90 |", self.page.read_text())
        self.assertIn("| size | 50 | 90 |", self.page.read_text())
        xml.etree.ElementTree.parse(self.home / "performance.svg")
