"""`enroll token --format aws`, with a double of AWS's Security Token Service that gives the answers of its documentation."""

import http.server
import json
import urllib.parse
from threading import Thread

from cases import CommandCase

ROLE = "arn:aws:iam::123456789012:role/FederatedWebIdentityRole"
#: The shape of the answers in the AWS STS API Reference, AssumeRoleWithWebIdentity.
GOOD = """<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <AssumeRoleWithWebIdentityResult>
    <SubjectFromWebIdentityToken>alice</SubjectFromWebIdentityToken>
    <AssumedRoleUser><Arn>arn:aws:sts::123456789012:assumed-role/x/enroll</Arn></AssumedRoleUser>
    <Credentials>
      <SessionToken>TOKEN+/=&amp;&lt;x&gt;</SessionToken>
      <SecretAccessKey>SECRET/KEY</SecretAccessKey>
      <Expiration>2026-11-30T23:00:23Z</Expiration>
      <AccessKeyId>ASgeIAIOSFODNN7EXAMPLE</AccessKeyId>
    </Credentials>
  </AssumeRoleWithWebIdentityResult>
</AssumeRoleWithWebIdentityResponse>"""
BAD = """<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type>
<Code>{}</Code><Message>{}</Message></Error><RequestId>1</RequestId></ErrorResponse>"""


class AWS(CommandCase):
    def setUp(self):
        super().setUp()
        self.asked, self.answer = [], (200, GOOD)
        case = self

        class Service(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                case.asked.append((self.headers, urllib.parse.parse_qs(body, strict_parsing=True)))
                status, text = case.answer
                self.send_response(status)
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
        Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.arguments = ["token", "--format", "aws", "--role", ROLE, "--sts", f"http://127.0.0.1:{server.server_port}/"]

    def test_the_credentials_of_the_id_token(self):
        self.sign_in()
        output, words = self.run_enroll(*self.arguments)
        self.assertEqual(json.loads(output), {
            "Version": 1, "AccessKeyId": "ASgeIAIOSFODNN7EXAMPLE", "SecretAccessKey": "SECRET/KEY",
            "SessionToken": "TOKEN+/=&<x>", "Expiration": "2026-11-30T23:00:23Z"})
        self.assertEqual(words, "")
        (headers, form), = self.asked
        self.assertNotIn("Authorization", headers)
        self.assertEqual(form, {
            "Action": ["AssumeRoleWithWebIdentity"], "Version": ["2011-06-15"], "RoleArn": [ROLE],
            "RoleSessionName": ["enroll"], "WebIdentityToken": [self.run_enroll("token", "--id-token")[0].strip()]})

    def test_a_refusal_is_told_in_the_words_of_the_service(self):
        self.sign_in()
        for status, answer, ending, said in [
            (400, BAD.format("InvalidIdentityToken", "No OpenIDConnect provider found &amp; so on"), 5,
             "(InvalidIdentityToken): No OpenIDConnect provider found & so on"),
            (403, BAD.format("AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity"), 5, "trust policy"),
            (400, BAD.format("IDPCommunicationError", "x"), 4, "Try again later"), (503, "busy", 4, "status 503"),
            (200, "<html>hello</html>", 5, "--sts"), (200, GOOD.replace("Expiration>", "Ex>"), 5, "--sts"),
        ]:
            with self.subTest(status, said=said):
                self.answer = status, answer
                output, words = self.run_enroll(*self.arguments, status=ending)
                self.assertEqual(output, "")
                self.assertIn(said, words)

    def test_without_a_session_nothing_is_asked(self):
        self.run_enroll(*self.arguments, status=3)
        self.assertEqual(self.asked, [])
        self.assertIn("--role", self.run_enroll("token", "--format", "aws", status=2)[1])
        self.assertIn("--role", self.run_enroll("token", "--role", ROLE, status=2)[1])
