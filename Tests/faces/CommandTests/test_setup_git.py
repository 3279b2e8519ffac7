"""`enroll setup git HOST`: git asks only this program for the host's token, whatever else is in its configuration."""

import re

from test_setup import HOST, SetupCase

KEY = f"credential.https://{HOST}"
OWN = f"!enroll credential git --host {HOST}"


class SetupGit(SetupCase):
    def setUp(self):
        super().setUp()
        self.settings = self.home / ".gitconfig"
        self.saved = self.home / ".git-credentials"

    def values(self):
        return self.run_program("git", "config", "--get-all", f"{KEY}.helper")[0].splitlines()

    def assertOnlyOwn(self):
        """Checks that git gets the token, and hands it to no other helper."""
        filled, _ = self.run_program("git", "credential", "fill", given=f"url=https://{HOST}\n\n")
        self.assertIn(f"password={self.token()}\n", filled)
        self.run_program("git", "credential", "approve", given=filled)
        self.assertFalse(self.saved.exists())

    def fake_git(self, line):
        """A git that runs `line` first."""
        return self.script("git", f'PATH=${{PATH#*:}}\n{line}\nexec git "$@"')

    def test_git(self):
        server, host = self.serve("Basic")
        bare = server.folder / "a.git"
        self.run_program("git", "init", "-q", "--bare", bare)
        self.run_program("git", "-C", bare, "update-server-info")
        self.run_program("git", "config", "--global", "credential.helper", "store")
        before = (self.home / ".gitconfig").read_text()
        self.assertDone("git", HOST, "--username", "it's me")
        for words, key in [(f"https://{HOST}", "get"), ("https://other.example", "none")]:
            output, _ = self.run_program("git", "credential", "fill", given=f"url={words}\n\n", status=0 if key == "get" else 128)
            self.assertEqual(f"password={self.token()}\n" in output, key == "get")
            self.assertEqual("username=it's me\n" in output, key == "get")
        self.assertDone("git", HOST, "--remove")
        self.assertEqual((self.home / ".gitconfig").read_text(), before)
        key = f"credential.https://{HOST}.helper"
        self.run_program("git", "config", "--global", key, "other")
        before = (self.home / ".gitconfig").read_text()
        words = self.set_up("git", HOST, "--yes", status=1)[1]
        self.assertIn("another helper", words)
        self.assertIn(f"git config --global --add enroll-setup.https://{HOST}.helper", re.sub(r"\s+", " ", words))
        self.assertEqual((self.home / ".gitconfig").read_text(), before)
        # The advised command, run by hand, disables the other helper; --remove enables that helper again.
        by_hand = re.search(r"git config .* && .*", re.sub(r"\s+", " ", words)).group()
        self.run_program("sh", "-c", by_hand)
        self.assertIn("nothing to change", self.set_up("git", HOST, "--yes")[1])
        self.set_up("git", HOST, "--remove", "--yes")
        self.assertEqual((self.home / ".gitconfig").read_text(), before)
        # A helper that was added later stays, together with the empty entry before it.
        self.run_program("git", "config", "--global", "--unset-all", key)
        self.set_up("git", HOST, "--yes")
        self.run_program("git", "config", "--global", "--add", key, "!other credential git of enroll")
        self.set_up("git", HOST, "--remove", "--yes")
        present, _ = self.run_program("git", "config", "--global", "--get-all", key)
        self.assertEqual(present, "\n!other credential git of enroll\n")

    def test_it_comes_after_the_other_helpers(self):
        host = f'[credential "https://{HOST}"]\n'
        for text in (
            f"{host}\tusername = bob\n[user]\n\tname = X\n[credential]\n\thelper = store\n",
            f'{host}[credential "https://*.example"]\n\thelper = store\n[credential "{HOST}"]\n\thelper = store\n',
            f'{host}[credential "https://bob@{HOST.upper()}/x"]\n\thelper = store\n[credential "https://other.example"]\n\thelper = x\n',
        ):
            with self.subTest(text):
                self.settings.write_text(text)
                self.assertDone("git", HOST)
                self.assertOnlyOwn()
                self.assertDone("git", HOST, "--remove")
                self.assertEqual(self.settings.read_text().replace(host, ""), text.replace(host, ""))

    def test_a_helper_that_was_added_later_gets_nothing_after_a_second_run(self):
        self.set_up("git", HOST, "--yes")
        self.run_program("git", "config", "--global", "credential.helper", "store")
        self.assertDone("git", HOST)
        self.assertOnlyOwn()
        # A helper that git reads after every file cannot be dropped.
        later = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "credential.helper", "GIT_CONFIG_VALUE_0": "store"}
        self.environment.update(later)
        self.assertIn("GIT_CONFIG_COUNT", self.set_up("git", HOST, "--yes", status=1)[1])
        self.environment["GIT_CONFIG_KEY_0"] = f"{KEY}.helper"
        self.assertIn("GIT_CONFIG_COUNT", self.set_up("git", HOST, "--yes", status=1)[1])
        for name in later:
            del self.environment[name]
        # A helper that is only for the repository in this folder is mentioned.
        self.run_program("git", "init", "-q")
        self.run_program("git", "config", "credential.helper", "store")
        self.run_program("git", "config", "--global", "credential.helper", "cache")
        self.set_up("git", HOST, "--remove", "--yes")
        self.assertIn("The repository in this folder", self.run_program("enroll", "setup", "git", HOST, "--yes")[1])

    def test_a_failure_leaves_no_half_of_the_section(self):
        self.run_program("git", "config", "--global", "credential.helper", "store")
        before = self.settings.read_text()
        for number in range(1, 4):
            for end in ("exit 255", "kill -9 $PPID; exit 255"):
                # The n-th command that changes something fails; or the program is killed there.
                count = f"n=$(($(cat $HOME/n 2>/dev/null) + 1)); echo $n >$HOME/n; [ $n = {number} ] && {{ {end}; }}"
                program = self.fake_git(f'case "$*" in *--replace-all*|*--add*|*--rename-section*) {count} ;; esac')
                said = self.set_up("git", HOST, "--yes", status=1 if end == "exit 255" else -9)[1]
                program.unlink()
                (self.home / "n").unlink()
                if end == "exit 255":
                    self.assertIn("Run the command again", said)
                self.run_program("git", "config", "--get-all", f"{KEY}.helper", status=1)
                if number == 3:
                    self.assertDone("git", HOST, "--remove")
                    self.assertEqual(self.settings.read_text(), before)
                self.assertDone("git", HOST)
                self.assertOnlyOwn()
                self.assertDone("git", HOST, "--remove")
                self.assertEqual(self.settings.read_text(), before)
        self.set_up("git", HOST, "--yes")
        program = self.fake_git('case "$*" in *--unset-all*) exit 255 ;; esac')
        self.set_up("git", HOST, "--remove", "--yes", status=1)
        program.unlink()
        self.assertOnlyOwn()
        self.assertDone("git", HOST, "--remove")
        self.assertEqual(self.settings.read_text(), before)

    def test_a_users_own_empty_helper_stays(self):
        self.run_program("git", "config", "--global", f"{KEY}.helper", "")
        before = self.settings.read_text()
        said = self.set_up("git", HOST, "--yes", status=1)[1]
        self.assertIn("turns all helpers off", said)
        self.assertEqual(self.set_up("git", HOST, "--remove", "--yes")[0], "")
        self.assertEqual(self.settings.read_text(), before)

    def test_a_users_empty_helper_in_the_same_section_stays(self):
        section, store = f'[credential "https://{HOST}"]\n', "[credential]\n\thelper = store\n"
        empty, own = "\thelper =\n", f'\thelper = "{OWN}"\n'
        # Each row: the file with lines of the user beside the lines of this program, and the file after --remove.
        for text, left in (
            (f"{store}{section}{empty}{empty}{own}", f"{store}{section}{empty}{empty}"),
            (f"{store}{section}{empty}{own}{empty}", f"{store}{section}{empty}{empty}"),
            (f"{store}{section}{empty}{own}{empty}\thelper = cache\n", f"{store}{section}{empty}{empty}\thelper = cache\n"),
            (f"{section}\thelper = cache\n{empty}{own}", f"{section}\thelper = cache\n"),
            (f"{section}{empty}{own}{section}{empty}{own}", ""),
        ):
            with self.subTest(text):
                self.settings.write_text(text)
                self.assertDone("git", HOST, "--remove")
                self.assertEqual(self.settings.read_text(), left)
        # git cannot remove the second empty helper and keep the first.
        for text in (
            f"{store}{section}{empty}\thelper = cache\n{empty}{own}",
            f"{section}{empty}{store}{section}{empty}{own}",
        ):
            with self.subTest(text):
                self.settings.write_text(text)
                said = self.set_up("git", HOST, "--remove", "--yes", status=1)[1]
                self.assertIn("several empty helpers", said)
                self.assertIn("by hand", said)
                self.assertEqual(self.settings.read_text(), text)

    def test_the_advice_for_lines_that_it_does_not_change_works(self):
        more = self.home / "more"
        for section in (f'[credential "https://{HOST}/"]\n', f'[credential "https://{HOST}"]\n'):
            with self.subTest(section):
                # The lines are in another file, beside another helper.
                more.write_text(f'{section}\thelper = cache\n\thelper =\n\thelper = "{OWN}"\n')
                self.settings.write_text("[include]\n\tpath = more\n")
                said = self.set_up("git", HOST, "--remove", "--yes", status=1)[1]
                self.follow(said, r"Remove it by hand: (git config .*)")
                self.assertEqual(more.read_text(), f"{section}\thelper = cache\n")
                # If the user's own file has lines, too, these are removed.
                more.write_text(f'{section}\thelper =\n\thelper = "{OWN}"\n')
                self.set_up("git", HOST, "--yes")
                self.run_program("git", "config", "--global", f"{KEY}.helper", "")
                self.run_program("git", "config", "--global", "--add", f"{KEY}.helper", OWN)
                said = self.set_up("git", HOST, "--remove", "--yes")[1]
                self.assertIn(f"{more} names the helper, too", re.sub(r"\s+", " ", said))
                self.assertEqual(self.settings.read_text(), "[include]\n\tpath = more\n")
                more.unlink()
                # An empty helper turns all helpers off.
                self.settings.write_text(f"{section}\thelper =\n\tusername = x\n")
                said = self.set_up("git", HOST, "--yes", status=1)[1]
                self.follow(said, r"Run this, and then the command again: (git config .*)")
                self.assertEqual(self.settings.read_text(), f"{section}\tusername = x\n")
                self.assertDone("git", HOST)
                self.assertOnlyOwn()
        self.settings.unlink()
        self.environment.update(GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0=f"{KEY}.helper", GIT_CONFIG_VALUE_0=OWN)
        said = self.set_up("git", HOST, "--remove", "--yes", status=1)[1]
        self.assertIn("Unset these variables", said)
        self.assertNotIn("git config --file", said)

    def follow(self, said, pattern):
        """Runs the command that a message advises."""
        self.run_program("sh", "-c", re.search(pattern, re.sub(r"\s+", " ", said))[1])

    def test_another_spelling_of_the_host_is_the_same_host(self):
        for host in (HOST.upper(), f"{HOST}:443"):
            self.assertDone("git", host)
            self.assertDone("git", HOST)
            self.assertOnlyOwn()
            self.assertDone("git", host, "--remove")
            self.assertEqual(self.settings.read_text(), "")

    def test_it_sees_what_git_sees(self):
        # Another file has the section already.
        (self.home / "more").write_text(f'[credential "https://{HOST}"]\n\thelper =\n\thelper = "{OWN}"\n')
        self.settings.write_text("[include]\n\tpath = more\n")
        self.assertIn("nothing to change", self.set_up("git", HOST, "--yes")[1])
        self.assertIn("/more", self.set_up("git", HOST, "--remove", "--yes", status=1)[1])
        (self.home / "more").write_text(f'[credential "https://{HOST}/"]\n\thelper = store\n')
        self.assertIn("another helper", self.set_up("git", HOST, "--yes", status=1)[1])
        self.assertEqual(self.settings.read_text(), "[include]\n\tpath = more\n")
        self.environment["GIT_CONFIG_GLOBAL"] = str(self.bin)
        self.assertIn("not a file", self.set_up("git", HOST, "--yes", status=1)[1])
        del self.environment["GIT_CONFIG_GLOBAL"]
        self.settings.write_text("[credential\n")
        self.assertIn("Correct git's configuration", self.set_up("git", HOST, "--yes", status=1)[1])

    def test_any_user_name_is_one_word(self):
        for name in ("it's me", "'\u0301; exit 1 #", "a+\u0301|b", "\\"):
            with self.subTest(name):
                self.assertDone("git", HOST, "--username", name)
                filled, _ = self.run_program("git", "credential", "fill", given=f"url=https://{HOST}\n\n")
                self.assertIn(f"username={name}\n", filled)
                self.assertDone("git", HOST, "--remove")
                self.assertEqual(self.settings.read_text(), "")

    def test_paths_do_not_depend_on_the_folder(self):
        self.run_program("enroll", "setup", "git", HOST, "--store", "x y", "--config", "./own.json", "--yes")
        self.assertIn(f"--store '{self.home}/x y'", self.values()[-1])
        self.assertIn(f"--config {self.home}/./own.json", self.values()[-1])
