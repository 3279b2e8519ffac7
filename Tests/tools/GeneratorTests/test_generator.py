"""`make generate CHECK=1` refuses every kind of drift, and says what to do. Each test changes one thing in a copy of
the tree, or in the daemon's manifest."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from processes import TOP

ENROLLD = Path(os.environ.get("ENROLLD", TOP / ".build/debug/enrolld"))
#: The files that the generator reads and writes.
MODULES = "Rules", "Steps", "Crypto", "Store", "Host", "Commands", "Kit", "GatewayPages"
PARTS = ["scripts", "include", "docs", *(f"Sources/Enroll{name}" for name in MODULES),
         "Tests/faces/CTests/functions.txt", "bindings/python/src", "bindings/cordova/www", "bindings/kotlin/src/generated",
         "bindings/kotlin/src/main/kotlin", "bindings/node/src/generated"]  # fmt: skip


class GeneratorTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.manifest = json.loads(subprocess.run([ENROLLD, "--manifest"], check=True, capture_output=True).stdout)
        cls.top = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.top)
        for part in PARTS:
            copy = shutil.copytree if (TOP / part).is_dir() else shutil.copy
            (cls.top / part).parent.mkdir(parents=True, exist_ok=True)
            copy(TOP / part, cls.top / part)

    def setUp(self):
        self.said = json.loads(json.dumps(self.manifest))

    def generate(self, *options):
        """The exit code and the output of the copy's generator, with a daemon that prints `self.said`."""
        (self.top / "manifest.json").write_text(json.dumps(self.said))
        daemon = self.top / "enrolld"
        daemon.write_text(f"#!/bin/sh\ncat '{self.top}/manifest.json'\n")
        daemon.chmod(0o755)
        done = subprocess.run(
            [self.top / "scripts/generate", *options, daemon], capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    def refused(self, *parts):
        code, output = self.generate("--check")
        self.assertEqual(code, 1, output)
        for part in parts:
            self.assertIn(part, output)

    def edit(self, path, old, new):
        """Changes a file until the test ends."""
        text = (self.top / path).read_text()
        self.assertIn(old, text)
        self.addCleanup((self.top / path).write_text, text)
        (self.top / path).write_text(text.replace(old, new, 1))

    def command(self, name):
        return next(command for command in self.said["commands"] if command["name"] == name)

    def test_the_tree_is_fresh(self):
        self.assertEqual(self.generate("--check"), (0, ""))

    def test_a_generated_file_that_was_edited_by_hand_is_refused_and_written_anew(self):
        for path, old, new in (
            ("bindings/python/src/enrollkit/_generated/commands.py", "token.access", "token.acces"),
            ("bindings/kotlin/src/generated/kotlin/org/enrollkit/Results.kt", "Account", "Acount"),
            ("bindings/cordova/www/enroll.d.ts", "CallOptions", "CallOption"),
            ("bindings/cordova/www/enroll.js", "'handleLink'", "'handleLinks'"),
            ("bindings/node/src/generated/types.d.ts", "CallOptions", "CallOption"),
            ("bindings/node/src/generated/surface.js", "'handleLink'", "'handleLinks'"),
            ("include/enroll.h", "#define ENROLL_E_BUSY (-8)", "#define ENROLL_E_BUSY (-9)"),
            ("docs/configuration.md", "`grace`", "`graces`"),
            ("docs/json-rpc.md", "| `busy` |", "| `bussy` |"),
        ):
            with self.subTest(path):
                before = (self.top / path).read_text()
                self.edit(path, old, new)
                self.refused(f"{path} is not what the sources say", "Run `make generate`")
                code, output = self.generate()
                self.assertEqual((code, output), (0, f"wrote   {path}\n"))
                self.assertEqual((self.top / path).read_text(), before)

    def test_the_page_of_kotlin_has_what_is_written_by_hand_and_the_configuration(self):
        page = (self.top / "docs/reference/kotlin.md").read_text()
        for heading, declared in (
            ("Enroll.daemon", 'logLevel: String = "warning"'),
            ("ClientOptions", "public val renewInBackground: Boolean = false,"),
            ("client.signIn", "timeout: Duration = 10.minutes,"),
            ("client.accessToken", "minimumLifetime: Duration = Duration.ZERO,"),
            ("Configuration", "access token is renewed. 60 by default. */\n  public val grace: Int? = null,"),
        ):
            section = page.partition(f"\n### {heading}\n")[2].partition("\n### ")[0]
            self.assertIn(declared, section, heading)
        self.edit("bindings/kotlin/src/main/kotlin/org/enrollkit/EnrollClient.kt", "public suspend fun accessToken", "suspend fun token")
        self.refused("accessToken: Kotlin has no public function or class of this name with a comment")

    def test_a_file_that_is_not_generated_is_refused_among_those_that_are(self):
        stray = "bindings/python/src/enrollkit/_generated/more.py"
        (self.top / stray).write_text("")
        self.refused(f"{stray} is not generated")
        self.assertEqual(self.generate(), (0, f"removed {stray}\n"))

    def test_the_marks_of_a_generated_part_have_to_be_there(self):
        self.edit("include/enroll.h", "/* <generated by `make generate`> */\n", "")
        self.refused("must each be there once. Put them back.")

    def test_a_type_with_two_names_is_refused(self):
        self.said["$defs"]["SignOff"] = self.said["$defs"]["SignOut"]
        self.command("logout.begin")["output"] = {"$ref": "#/$defs/SignOff"}
        self.refused("SignOff and SignOut are one type under two names", "Give both Schemas the same name")

    def test_a_name_in_two_spellings_is_refused(self):
        self.said["$defs"]["signOut"] = {"type": "string", "maxLength": 77}
        self.refused("one name in two spellings. Choose one.")

    def test_an_object_without_a_name_is_refused(self):
        self.command("logout.begin")["output"] = self.said["$defs"]["SignOut"]
        self.refused("logout.begin: its result has several members and no name. Name its Schema.")

    def test_an_object_without_a_description_is_refused(self):
        del self.said["$defs"]["SignOut"]["description"]
        self.refused("SignOut: the object has no description. Give its Schema a sentence.")

    def test_an_error_without_a_home_is_refused(self):
        for command in self.said["commands"]:
            command["errors"] = [status for status in command["errors"] if status != "codeRejected"]
        self.refused("codeRejected: no command answers this error. Name it in the `fails:`")

    def test_an_error_that_every_command_answers_is_not_named_again(self):
        self.command("token.access")["errors"].append("busy")
        self.refused("token.access: every command answers busy. Remove it from its `fails:`.")

    def test_an_error_with_another_number_than_its_case_is_refused(self):
        next(error for error in self.said["errors"] if error["status"] == "busy")["code"] = -88
        self.refused("case busy = -8 is not what the daemon says")

    def test_a_command_without_its_c_function_is_refused(self):
        self.edit("include/enroll.h", "enroll_status enroll_pin_set(", "enroll_status enroll_set_pin(")
        self.refused(
            "pin.set: include/enroll.h declares no enroll_pin_set", "enroll_set_pin runs no command by the rule",
            "functions.txt",
        )  # fmt: skip

    def test_a_command_without_its_swift_method_is_refused(self):
        self.command("pin.set")["method"] = "setPin"
        self.refused("pin.set: EnrollKit has no method setPin. Add it")

    def test_a_source_that_the_header_tells_otherwise_is_refused(self):
        self.command("token.revoke")["source"] = "RFC 7009 §2"
        self.refused('token.revoke: include/enroll.h names the source "RFC 7009", the command "RFC 7009 2". Give both the same')

    def test_a_source_that_the_header_does_not_tell_is_refused(self):
        self.command("pin.set")["source"] = "RFC 2104"
        self.refused('pin.set: include/enroll.h names the source "", the command "RFC 2104"')

    def test_two_commands_with_one_method_are_refused(self):
        self.command("token.revoke")["method"] = "refresh"
        self.refused("token.revoke and token.refresh have one method, refresh")

    def test_a_type_that_swift_names_otherwise_is_refused(self):
        self.said = json.loads(json.dumps(self.said).replace("StoreDiagnosis", "StoreReport"))
        self.refused("StoreReport: no Swift type has this name. Name both alike")

    def test_a_word_without_its_c_constant_is_refused(self):
        self.said["$defs"]["Step"]["enum"].append("waiting")
        self.refused("Step: include/enroll.h has no ENROLL_STEP_WAITING. Declare them")

    def test_a_parameter_that_only_one_binding_would_miss_is_refused(self):
        self.command("client.open")["input"]["properties"]["colour"] = {"type": "string", "description": "A colour."}
        self.refused("client.open: Kotlin's own function knows", "colour", "Change both.")

    def test_a_new_text_of_the_gateway_has_a_case_with_its_placeholders(self):
        english = "Sources/EnrollGatewayPages/Texts/en.json"
        self.edit(english, '"frame.skip":', '"frame.now": "{provider} and {date} at {product}", "frame.skip":')
        keys = self.top / "Sources/EnrollGatewayPages/Language/PageText.swift"
        self.addCleanup(keys.write_text, keys.read_text())
        self.refused("Language/PageText.swift is not what the sources say")
        self.assertEqual(self.generate()[0], 0)
        self.assertIn('  case frameNow = "frame.now"\n', keys.read_text())
        self.assertIn("    case .frameNow: [.provider, .date]\n", keys.read_text())

    def test_a_text_of_the_gateway_whose_key_is_not_two_words_is_refused(self):
        self.edit("Sources/EnrollGatewayPages/Texts/en.json", '"frame.skip":', '"skip":')
        self.refused("the key texts.skip is not two words with a dot, such as signIn.title")

    def test_a_manifest_of_another_format_is_refused(self):
        self.said["manifest"] = 1
        self.refused("the manifest has format 1, the generator knows 2")


if __name__ == "__main__":
    unittest.main()
