"""Completions, as the shells themselves produce them."""

import subprocess

from cases import ENROLL, CommandCase
from terminal import TIMEOUT, Terminal


class Completions(CommandCase):
    def setUp(self):
        super().setUp()
        # The shells call the program by its name, so it must be in PATH.
        bin = self.home / "bin"
        bin.mkdir()
        (bin / "enroll").symlink_to(ENROLL)
        self.environment["PATH"] = f"{bin}:{self.environment['PATH']}"

    def script(self, shell):
        path = self.home / f"completion.{shell}"
        path.write_text(self.run_enroll("completions", shell)[0])
        return path

    def shell(self, *words):
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True, timeout=TIMEOUT)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def bash(self, *words):
        """The completions of bash for the last word."""
        line = " ".join(words)
        quoted = " ".join(f"'{word}'" for word in words)
        # Calls the function that `complete` names, as bash's line editor does, with the line in COMP_WORDS.
        return self.shell("bash", "--norc", "-c", f"""
            . /usr/share/bash-completion/bash_completion; . {self.script('bash')}
            COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}
            COMP_TYPE=9; COMP_KEY=9
            function=$(complete -p enroll | sed -E 's/.*-F ([^ ]+).*/\\1/')
            "$function" enroll '{words[-1]}' '{words[-2]}'
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """).split()

    def test_bash_offers_commands_options_and_what_is_there(self):
        self.assertEqual(set(self.bash("enroll", "lo")), {"login", "logout"})
        self.assertIn("--min-lifetime", self.bash("enroll", "token", "--"))
        self.assertEqual(set(self.bash("enroll", "status", "--keys", "")), {"auto", "file", "passphrase", "secret-service"})
        self.assertEqual(set(self.bash("enroll", "login", "--set", "dpo")), {"dpop=always", "dpop=auto", "dpop=never"})
        self.assertEqual(self.bash("enroll", "login", "--set", "caF"), ["caFile="])
        self.configure("work")
        self.assertEqual(set(self.bash("enroll", "status", "--profile", "")), {"default", "work"})
        self.sign_in("--account", "alice-at-home")
        self.assertIn("alice-at-home", self.bash("enroll", "token", "--account", ""))
        # compgen and the completion script agree.
        offered = self.shell(
            "bash", "--norc", "-c", f". /usr/share/bash-completion/bash_completion; . {self.script('bash')}; complete -p enroll")
        self.assertIn("enroll", offered)

    def other_program(self):
        """A program in PATH."""
        program = self.home / "bin/otherprogram"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)

    def test_after_exec_the_other_command_line_is_completed(self):
        self.other_program()
        self.assertEqual(self.bash("enroll", "exec", "--", "otherpro"), ["otherprogram"])
        self.assertEqual(self.fish("enroll exec -- otherpro"), {"otherprogram"})
        self.zsh("enroll exec -- otherpro").shows("enroll exec -- otherprogram ")
        # The completion of the other program itself, which here is also `enroll`.
        self.assertEqual(self.bash("enroll", "exec", "--min-lifetime", "5", "--", "enroll", "tok"), ["token"])
        self.assertEqual(self.fish("enroll exec --min-lifetime 5 -- enroll tok"), {"token"})
        self.zsh("enroll exec -- enroll tok").shows("enroll exec -- enroll token ")

    def zsh(self, line):
        """The output of zsh for the line, in a separate terminal."""
        rc = self.home / ".zshrc"
        rc.write_text(f"autoload -U compinit; compinit -D; . {self.script('zsh')}; PS1='ready> '; LISTMAX=999\n")
        (self.home / "zsh").write_text("")
        terminal = Terminal(["/usr/bin/zsh", "-i"], {**self.environment, "ZDOTDIR": str(self.home)}, columns=300)
        self.addCleanup(terminal.close)
        terminal.shows("ready> ")
        terminal.type(line + "\t")
        return terminal

    # Names that a shell would interpret as commands, as several words, or as files.
    HOSTILE = ("x$(touch${IFS}$HOME/ran)@evil.example", "`touch $HOME/ran`", "a b", "~root", "{x,y}", "*", "a;b", "a'b", 'a"b')

    def hostile_names(self):
        for name in self.HOSTILE:
            self.sign_in("--account", name)
            if "/" not in name:
                self.configure(name)
        self.configure("$(touch ran)")
        self.sign_in("--account", "plain@example.com")
        self.configure("plain")

    def test_a_name_that_a_shell_would_expand_is_not_offered_and_not_run(self):
        self.hostile_names()
        for option, expected in (("--account", {"plain@example.com"}), ("--profile", {"default", "plain"})):
            self.assertEqual(set(self.bash("enroll", "token", option, "")), expected)
            self.assertEqual(self.fish(f"enroll token {option} "), expected)
            # The command that each shell's script runs.
            offered = self.run_enroll("---complete", "token", option, "")[0]
            self.assertEqual(set(offered.split("\n")) - {""}, expected)
            self.zsh(f"enroll token {option} pla").shows(next(name for name in expected if name.startswith("pla")))
        self.assertFalse((self.home / "ran").exists())
        # The program itself accepts such names.
        _, words = self.run_enroll("token", "--account", "a  b", status=3)
        self.assertIn("there is an account a b", words)

    def test_zsh_takes_the_script(self):
        path = self.script("zsh")
        self.shell("zsh", "-f", "-n", str(path))
        self.assertTrue(path.read_text().startswith("#compdef enroll"))
        said = self.shell("zsh", "-f", "-c", f"autoload -U compinit; compinit -D; . {path}; print -r -- $_comps[enroll]")
        self.assertIn("_enroll", said)

    def test_zsh_offers_options_values_and_accounts(self):
        self.configure("work")
        self.sign_in("--account", "alice@home.example")
        self.zsh("enroll token --min").shows("enroll token --min-lifetime ")
        self.zsh("enroll completions z").shows("enroll completions zsh ")
        self.zsh("enroll token --profile wo").shows("enroll token --profile work ")
        self.zsh("enroll token --profile=wo").shows("enroll token --profile=work ")
        self.zsh("enroll token --account al").shows("enroll token --account alice@home.example ")
        # Each completion has its description.
        self.zsh("enroll log").shows("Sign in with the browser or on another device.")

    def fish(self, line):
        """The completions of fish for a line, without their descriptions."""
        offered = self.shell("fish", "--no-config", "-c", f"source {self.script('fish')}; complete -C '{line}'")
        return {one.split("\t")[0] for one in offered.splitlines()}

    def test_fish_offers_commands_options_values_and_what_is_there(self):
        self.shell("fish", "--no-config", "--no-execute", str(self.script("fish")))
        self.assertEqual(self.fish("enroll lo"), {"login", "logout"})
        self.assertEqual(self.fish("enroll token --min"), {"--min-lifetime"})
        self.assertEqual(self.fish("enroll status --keys "), {"auto", "file", "passphrase", "secret-service"})
        self.configure("work")
        self.sign_in("--account", "alice@home.example")
        self.assertEqual(self.fish("enroll token --profile "), {"default", "work"})
        self.assertEqual(self.fish("enroll token --profile=w"), {"--profile=work"})
        self.assertEqual(self.fish("enroll token --account al"), {"alice@home.example"})

    def test_files_and_folders_are_offered_where_an_option_names_one(self):
        (self.home / "here" / "inside").mkdir(parents=True)
        for name in ("conf.json", "conf.txt"):
            (self.home / "here" / name).write_text("{}")
        place = f"{self.home}/here/"
        files = {f"{place}conf.json", f"{place}inside"}
        self.assertEqual(set(self.bash("enroll", "token", "--config", place)), files)
        self.assertEqual(set(self.bash("enroll", "token", "--store", place)), {f"{place}inside"})
        everything = files | {f"{place}conf.txt"}
        self.assertEqual(set(self.bash("enroll", "login", "--client-secret-file", place)), everything)
        self.assertEqual(set(self.bash("enroll", "exec", "--", place)), {f"{place}inside"})
        self.assertEqual(set(self.bash("enroll", "exec", "--", "cat", place)), everything)
        self.assertEqual(self.fish(f"enroll token --config {place}"), {f"{place}conf.json", f"{place}inside/"})
        self.assertEqual(self.fish(f"enroll token --store {place}"), {f"{place}inside/"})
        self.zsh(f"enroll token --config {place}con").shows(f"{place}conf.json ")
        self.zsh(f"enroll token --store={place}ins").shows(f"--store={place}inside/")

    def test_bash_completes_words_that_it_splits(self):
        self.configure("work")
        for account in ("alice@home.example", "alice@work.example"):
            self.sign_in("--account", account)

        def offered(line, *words):
            """Splits the line as bash's line editor does: also at =, : and @."""
            quoted = " ".join(f"'{word}'" for word in words)
            return set(self.shell("bash", "--norc", "-c", f"""
                . {self.script('bash')}
                COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; COMP_LINE='{line}'; COMP_POINT={len(line)}
                _enroll; printf '%s\\n' "${{COMPREPLY[@]}}"
            """).split())

        self.assertEqual(offered("enroll token --profile=wo", "enroll", "token", "--profile", "=", "wo"), {"work"})
        self.assertEqual(offered("enroll token --profile=", "enroll", "token", "--profile", "="), {"default", "work"})
        self.assertEqual(
            offered("enroll token --account alice@", "enroll", "token", "--account", "alice", "@"),
            {"home.example", "work.example"})
        self.assertEqual(
            offered("enroll token --account alice@w", "enroll", "token", "--account", "alice", "@", "w"), {"work.example"})
        # Completes a word before the end of the line, at the cursor.
        self.assertEqual(offered("enroll lo", "enroll", "login"), {"login", "logout"})
