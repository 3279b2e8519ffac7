"""`enroll token --format aws`, against a fake AWS Security Token Service that sends the answers in AWS's
documentation."""

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

        self.arguments = ["token", "--format", "aws", "--role", ROLE, "--sts", f"{self.serve(Service)}/"]

    def serve(self, handler):
        """Starts a server; returns its address."""
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}"

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

    def test_a_region_is_a_part_of_a_host_and_nothing_else(self):
        self.sign_in()
        for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
            for region in ("evil.example/", "evil.example#", "eu@evil.example", "EU-WEST-1"):
                with self.subTest(name, region=region):
                    _, words = self.run_enroll(
                        *self.arguments[:-2], environment={**self.environment, name: region}, status=2)
                    self.assertIn(f"{name} is {region}", words)

    def test_the_service_of_a_region_and_no_certificates_of_the_provider_for_it(self):
        self.sign_in()
        # This certificate file does not exist: if `enroll` read the file for AWS, the command would fail before it
        # connects.
        self.configure(caFile=str(self.home / "none.pem"))
        hosts = []

        class Proxy(http.server.BaseHTTPRequestHandler):
            def do_CONNECT(self):
                hosts.append(self.path)
                self.send_error(502)

            def log_message(self, *_):
                pass

        proxy = self.serve(Proxy)
        for region, host in [("eu-west-1", "sts.eu-west-1.amazonaws.com"), ("", "sts.amazonaws.com"),
                             ("cn-north-1", "sts.cn-north-1.amazonaws.com.cn")]:
            with self.subTest(region):
                self.run_enroll(
                    *self.arguments[:-2], status=4,
                    environment={**self.environment, "AWS_REGION": region, "https_proxy": proxy})
                self.assertEqual(hosts[-1], f"{host}:443")
        self.assertIn("caFile", self.run_enroll(*self.arguments, status=2)[1])

    def test_without_a_session_nothing_is_asked(self):
        self.run_enroll(*self.arguments, status=3)
        self.assertEqual(self.asked, [])
        self.assertIn("--role", self.run_enroll("token", "--format", "aws", status=2)[1])
        self.assertIn("--role", self.run_enroll("token", "--role", ROLE, status=2)[1])
