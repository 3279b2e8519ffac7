"""More programs that ask `enroll` for a token, as Debian packages them: neomutt and mutt, mbsync with a real Dovecot
that accepts OAuth (its passdb calls the provider's userinfo endpoint), and rclone."""

import grp
import os
import pwd
import shutil
from pathlib import Path

from processes import Child, free_port, is_listening
from terminal import Terminal
from test_programs import Mail, ProgramCase, Threaded

DOVECOT = shutil.which("dovecot") or "/usr/sbin/dovecot"
LETTER = "From: b@x.example\nTo: a@x.example\nSubject: a letter\nDate: Mon, 30 Nov 2026 10:00:00 +0000\n\nhello\n"


class Mutt(ProgramCase):
    def send(self, program, status=0):
        server = Threaded(("127.0.0.1", 0), Mail)
        server.token, server.mails = self.token(), []
        port = self.start_server(server).rpartition(":")[2]
        settings = self.home / "muttrc"
        settings.write_text(f"""set from="a@x.example"
set smtp_url="smtp://a@127.0.0.1:{port}"
set smtp_oauth_refresh_command="enroll token"
set smtp_authenticators="oauthbearer"
set ssl_starttls=no
set ssl_force_tls=no
set copy=no
""")
        _, words = self.run_program(
            program, "-F", settings, "-s", "a letter", "b@x.example", given="hello\n", status=status)
        return server.mails, words

    def test_both_send_with_plain_enroll_token(self):
        for program in ("mutt", "neomutt"):
            with self.subTest(program):
                mails, _ = self.send(program)
                self.assertIn(b"Subject: a letter", mails[0])

    def test_without_a_session_nothing_is_sent(self):
        self.run_enroll("logout")
        self.assertRaises(AssertionError, self.send, "neomutt")


class Mailbox(ProgramCase):
    """A Dovecot that asks the sandbox who a token is for."""

    def setUp(self):
        super().setUp()
        self.user = self.json("status")["profile"]["sub"]
        # Dovecot refuses to deliver mail as root.
        own = pwd.getpwnam("nobody") if os.getuid() == 0 else pwd.getpwuid(os.getuid())
        group = grp.getgrgid(own.pw_gid).gr_name
        place = self.home / "dovecot"
        for folder in ("Maildir/new", "Maildir/cur", "Maildir/tmp", "run"):
            (place / folder).mkdir(parents=True)
        (place / "Maildir/new/1").write_text(LETTER)
        for path in [place, *place.rglob("*")]:
            os.chown(path, own.pw_uid, own.pw_gid)
        for folder in (self.home, *self.home.parents):
            if folder.owner() == pwd.getpwuid(os.getuid()).pw_name and folder != Path("/"):
                folder.chmod(folder.stat().st_mode | 0o011)
        self.port, self.encrypted_port = free_port(), free_port()
        key, certificate = self.certify()
        (place / "oauth2.conf").write_text(f"""introspection_mode = auth
introspection_url = {self.sandbox.issuer}/userinfo
username_attribute = sub
""")
        (place / "dovecot.conf").write_text(f"""base_dir = {place}/run
log_path = {place}/log
protocols = imap
ssl = yes
ssl_cert = <{certificate}
ssl_key = <{key}
disable_plaintext_auth = no
auth_mechanisms = oauthbearer xoauth2
default_login_user = {own.pw_name}
default_internal_user = {own.pw_name}
default_internal_group = {group}
first_valid_uid = 1
last_valid_uid = 0
first_valid_gid = 1
mail_location = maildir:{place}/Maildir
passdb {{
  driver = oauth2
  mechanisms = oauthbearer xoauth2
  args = {place}/oauth2.conf
}}
userdb {{
  driver = static
  args = uid={own.pw_uid} gid={own.pw_gid} home={place}
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    address = 127.0.0.1
    port = {self.port}
  }}
  inet_listener imaps {{
    address = 127.0.0.1
    port = {self.encrypted_port}
    ssl = yes
  }}
}}
service anvil {{
  chroot =
}}
""")
        child = Child([DOVECOT, "-F", "-c", place / "dovecot.conf"], place / "stderr")
        self.addCleanup(child.stop)
        child.wait_for(lambda: is_listening(self.port), "Dovecot listens")

    def test_mbsync_gets_the_mail(self):
        settings = self.home / "mbsyncrc"
        settings.write_text(f"""IMAPAccount a
Host 127.0.0.1
Port {self.port}
User {self.user}
PassCmd "enroll token"
AuthMechs XOAUTH2
SSLType None

IMAPStore far
Account a

MaildirStore near
Path {self.home}/near/
Inbox {self.home}/near/INBOX

Channel a
Far :far:
Near :near:
Patterns INBOX
Create Near
Sync Pull
""")
        (self.home / "near").mkdir()
        self.run_program("mbsync", "-c", settings, "-a")
        (letter,) = (self.home / "near/INBOX/new").iterdir()
        self.assertIn("a letter", letter.read_text())
        self.run_enroll("logout")
        self.assertIn("enroll login", self.run_program("mbsync", "-c", settings, "-a", status=1)[1])

    def test_mutt_shows_the_mail(self):
        settings = self.home / "muttrc"
        settings.write_text(f"""set imap_oauth_refresh_command="enroll token"
set ssl_starttls=no
set ssl_force_tls=no
set imap_authenticators="oauthbearer"
set imap_user="{self.user}"
set folder="imaps://127.0.0.1:{self.encrypted_port}/"
set spoolfile="+INBOX"
set header_cache=""
set certificate_file="{self.home}/certificate.pem"
""")
        for program in ("mutt", "neomutt"):
            with self.subTest(program):
                terminal = Terminal([shutil.which(program), "-F", str(settings)], self.environment)
                self.addCleanup(terminal.close)
                terminal.shows("a letter")


class Rclone(ProgramCase):
    ANSWER = """<?xml version="1.0"?><d:multistatus xmlns:d="DAV:">
<d:response><d:href>/</d:href><d:propstat><d:status>HTTP/1.1 200 OK</d:status><d:prop>
<d:resourcetype><d:collection/></d:resourcetype></d:prop></d:propstat></d:response>
<d:response><d:href>/hello.txt</d:href><d:propstat><d:status>HTTP/1.1 200 OK</d:status><d:prop><d:resourcetype/>
<d:getcontentlength>5</d:getcontentlength></d:prop></d:propstat></d:response></d:multistatus>"""

    def setUp(self):
        super().setUp()
        self.server, self.host = self.serve("Bearer")
        (self.server.folder / "index").write_text(self.ANSWER)

    def list(self, command, status=0):
        output, words = self.run_program(
            "rclone", "lsf", ":webdav:", "--config", "/dev/null", "--retries", "1", "--webdav-url", f"http://{self.host}",
            "--webdav-bearer-token-command", command, status=status)
        return output.split(), words

    def test_it_lists_files_and_runs_the_command_again_after_a_401(self):
        self.assertEqual(self.list("enroll token")[0], ["hello.txt"])
        before = self.token()
        self.server.refused = before
        self.assertEqual(self.list("enroll token --renew-if-asked-again 30")[0], ["hello.txt"])
        self.assertNotEqual(self.token(), before)
        self.run_enroll("logout")
        self.assertIn("enroll login", self.list("enroll token", status=1)[1])

