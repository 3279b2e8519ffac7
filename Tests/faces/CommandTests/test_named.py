"""Tests that the names in messages exist: the program knows each option, command, call and key that a text of the
library or of `enroll` contains. A test fails for any other name: correct the name, or add a row here that says where
it comes from."""

import json
import os
import re
import subprocess
import unittest

import literals
import test_hints
from cases import ENROLL, CommandCase

LIBRARY = ("EnrollRules", "EnrollSteps", "EnrollHost", "EnrollHTTP", "EnrollStore", "EnrollPosix", "EnrollKit", "EnrollFoundation",
           "EnrollCommands", "EnrollC")  # fmt: skip
COMMAND = ("enroll", "EnrollArguments")

#: Names that belong to other programs and formats, with the name of that program or format.
OTHERS = {
    "--next": "curl", "--global": "git", "--add": "git", "--unset-all": "git",
    "--keyring-provider": "pip, uv", "--mode": "keyring",
    "credHelpers": "Docker", "credentialHosts": "the part of a profile that only enroll reads",
    "--output": "keyring", "--credential_helper": "Bazel", "client.signIn": "Swift", "returnTo": "Auth0", "sessionId": "App2App", "artefactId": "App2App",
    "activationToken": "a place in a URL", "googleClient": "a place in a URL",
    "authorizationResponseIssParameterSupported": "a provider's metadata, in another spelling",
}  # fmt: skip


def manifest():
    daemon = os.environ["ENROLLD"]
    return json.loads(subprocess.run([daemon, "--manifest"], stdout=subprocess.PIPE, check=True).stdout)


def words(schema):
    """The names of members and the words of lists, at every depth."""
    if isinstance(schema, list):
        return {word for part in schema for word in words(part)}
    if not isinstance(schema, dict):
        return set()
    own = [*schema.get("properties", {}), *schema.get("enum", []), schema.get("const")]
    return {word for word in own if isinstance(word, str)} | words(list(schema.values()))


class Named(CommandCase):
    def assertAreKnown(self, named, known, what):
        unknown = {name: place for name, place in named.items() if name not in known and name not in OTHERS}
        self.assertEqual(unknown, {}, f"no such {what}")
        self.assertTrue(named)

    def test_each_option_of_the_command(self):
        names = [command["name"] for command in json.loads(self.run_enroll("--dump-commands")[0])["commands"]]
        formats = ["git", "docker", "bazel", "cargo", "go", "terraform", "keyring"]
        helps = [self.run_enroll(name, "--help")[0] for name in names] + [self.run_enroll("--help")[0]]
        helps += [self.run_enroll("credential", name, "--help")[0] for name in formats]
        helps += [self.run_enroll("setup", "git", "--help")[0]]
        known = {option for text in helps for option in literals.OPTION.findall(text)}
        self.assertAreKnown(literals.named(literals.OPTION, *COMMAND), known, "option")
        # The messages of the library must contain no command-line options, because other faces show the same messages.
        self.assertEqual(literals.named(literals.OPTION, *LIBRARY), {})

    def test_each_command(self):
        pattern = re.compile(r"(?<![\w/.-])enroll ([a-z][a-z-]*)")
        # In sentences about the program, `enroll` is followed by a verb, not by a command.
        verbs = {"finds", "saves", "registered", "chose", "asks"}
        for name, place in literals.named(pattern, *COMMAND).items():
            if name not in verbs:
                with self.subTest(name, place=place):
                    self.run_enroll(name, "--help")
        self.assertEqual(literals.named(pattern, *LIBRARY), {})

    def test_each_call(self):
        document = manifest()
        known = {call["name"] for call in document["commands"] + document["requests"] + document["events"]}
        areas = {name.partition(".")[0] for name in known}
        named = literals.named(literals.CALL, *LIBRARY)
        self.assertAreKnown({name: place for name, place in named.items() if name.partition(".")[0] in areas}, known, "call")

    def test_each_key(self):
        self.assertAreKnown(literals.named(literals.KEY, *LIBRARY, *COMMAND), words(manifest()), "key")

    def test_each_key_that_the_command_advises_is_one_of_a_configuration(self):
        for key, place in literals.named(literals.KEY, *COMMAND).items():
            if key in OTHERS:
                continue
            with self.subTest(key, place=place):
                given = ["--issuer", self.sandbox.issuer, "--client-id", "x", "--allow-loopback-http", "--set", f"{key}=x"]
                doctor = [ENROLL, "doctor", *given]
                done = subprocess.run(doctor, capture_output=True, text=True, env=self.environment, timeout=60)
                self.assertNotIn("no such key", done.stderr)
        _, told = self.run_enroll("doctor", *given[:-1], "tokenEndpointMethod=x", status=2)
        self.assertIn("no such key", told)

    # The advice after a failed renewal, and the test that follows this advice.
    REMEDIES = {
        "registerAgain": "test_a_session_that_is_over",
        "retry": "test_a_token_that_could_not_be_renewed",
        "wait": "test_a_token_that_could_not_be_renewed",
    }

    def test_each_remedy_is_followed_by_a_test(self):
        self.assertEqual(sorted(manifest()["$defs"]["Remedy"]["enum"]), sorted(self.REMEDIES))
        for test in self.REMEDIES.values():
            self.assertTrue(hasattr(test_hints.Hints, test), test)


class Literals(unittest.TestCase):
    def test_text_is_read_as_the_compiler_reads_it(self):
        source = '''
        // "no text"
        let a = "one \\(name.map { "two \\($0)" } ?? "three") end"; let b = #"raw \\n \\#(x)"#
        let c = """
          four "quoted" words
          """
        '''
        found = [words for _, words in literals.read(source)]
        self.assertEqual(found[:3], ["two …", "three", "one … end"])
        self.assertEqual((found[3], found[4].strip()), ("raw \\n …", 'four "quoted" words'))

    def test_names_are_found_in_it(self):
        text = "pass clientId by --client-id (registration.begin), not id.example.com/pathOf or caFile. See token.list."
        self.assertEqual(literals.KEY.findall(text), ["clientId", "caFile"])
        self.assertEqual(literals.OPTION.findall(text), ["--client-id"])
        self.assertEqual(literals.CALL.findall(text), ["registration.begin", "token.list"])
