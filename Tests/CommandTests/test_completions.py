"""Completions, asked of the shells themselves."""

import subprocess

from cases import ENROLL, CommandCase
from terminal import TIMEOUT, Terminal


class Completions(CommandCase):
    def setUp(self):
        super().setUp()
        # The shells call the program by its name.
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
        """What bash offers for the last word."""
        line = " ".join(words)
        quoted = " ".join(f"'{word}'" for word in words)
        # As the line editor does it: the function that complete names, with the line in COMP_WORDS.
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
        self.configure("work")
        self.assertEqual(set(self.bash("enroll", "status", "--profile", "")), {"default", "work"})
        self.sign_in("--account", "alice-at-home")
        self.assertIn("alice-at-home", self.bash("enroll", "token", "--account", ""))
        # compgen and the script agree on what there is.
        offered = self.shell(
            "bash", "--norc", "-c", f". /usr/share/bash-completion/bash_completion; . {self.script('bash')}; complete -p enroll")
        self.assertIn("enroll", offered)

    def zsh(self, line):
        """What zsh shows for the line, in a terminal of its own."""
        rc = self.home / ".zshrc"
        rc.write_text(f"autoload -U compinit; compinit -D; . {self.script('zsh')}; PS1='ready> '; LISTMAX=999\n")
        (self.home / "zsh").write_text("")
        terminal = Terminal(["/usr/bin/zsh", "-i"], {**self.environment, "ZDOTDIR": str(self.home)})
        self.addCleanup(terminal.close)
        terminal.shows("ready> ")
        terminal.type(line + "\t")
        return terminal

    # Names that a shell would make something else of: commands, words, files.
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
            # What every shell's script asks for; fish does so in a terminal only.
            words = ["enroll", "token", option, ""]
            offered = self.run_enroll("---completion", "token", "--", option, "3", "0", *words)[0]
            self.assertEqual(set(offered.split("\n")) - {""}, expected)
            self.zsh(f"enroll token {option} pla").shows(next(name for name in expected if name.startswith("pla")))
        self.assertFalse((self.home / "ran").exists())
        # They are not lost to the program itself.
        _, words = self.run_enroll("token", "--account", "a  b", status=3)
        self.assertIn("there is an account a b", words)

    def test_zsh_takes_the_script(self):
        path = self.script("zsh")
        self.shell("zsh", "-f", "-n", str(path))
        self.assertTrue(path.read_text().startswith("#compdef enroll"))
        said = self.shell("zsh", "-f", "-c", f"autoload -U compinit; compinit -D; . {path}; print -r -- $_comps[enroll]")
        self.assertIn("_enroll", said)

    def test_fish_offers_commands_and_options(self):
        path = self.script("fish")
        self.shell("fish", "--no-config", "--no-execute", str(path))
        offered = self.shell("fish", "--no-config", "-c", f"source {path}; complete -C 'enroll lo'")
        self.assertEqual({line.split("\t")[0] for line in offered.splitlines()}, {"login", "logout"})
        offered = self.shell("fish", "--no-config", "-c", f"source {path}; complete -C 'enroll token --min'")
        self.assertIn("--min-lifetime", offered)
