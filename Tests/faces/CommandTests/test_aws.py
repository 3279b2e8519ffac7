"""`enroll token --format aws`, against a fake AWS Security Token Service that sends the answers in AWS's
documentation."""

import http.server
import json
import time
import urllib.parse
from threading import Event, Thread

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
      <Expiration>2099-11-30T23:00:23Z</Expiration>
      <AccessKeyId>ASgeIAIOSFODNN7EXAMPLE</AccessKeyId>
    </Credentials>
  </AssumeRoleWithWebIdentityResult>
</AssumeRoleWithWebIdentityResponse>"""
BAD = """<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type>
<Code>{}</Code><Message>{}</Message></Error><RequestId>1</RequestId></ErrorResponse>"""


class AWS(CommandCase):
    def setUp(self):
        super().setUp()
        self.asked, self.answer, self.headers = [], (200, GOOD), {}
        #: Set at the end of the test. Until then, a service that is slow sends its answer byte by byte.
        self.is_over = Event()
        self.is_slow = False
        self.addCleanup(self.is_over.set)
        case = self

        class Service(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                case.asked.append((self.headers, urllib.parse.parse_qs(body, strict_parsing=True)))
                status, text = case.answer
                self.send_response(status)
                self.send_header("Content-Length", str(len(text.encode())))
                for name, value in case.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                for byte in text.encode() if case.is_slow else b"":
                    if case.is_over.wait(0.5):
                        return
                    self.wfile.write(bytes([byte]))
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
            "SessionToken": "TOKEN+/=&<x>", "Expiration": "2099-11-30T23:00:23Z"})
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

    def assertRefused(self, answer, said, ending=5, status=200):
        """Runs the command with this answer of the service: it prints nothing on standard output."""
        self.answer = status, answer
        output, words = self.run_enroll(*self.arguments, status=ending)
        self.assertEqual(output, "")
        self.assertIn(said, words)
        return words

    def test_the_timeout_is_also_that_of_the_request(self):
        self.sign_in()
        self.is_slow = True
        begun = time.monotonic()
        output, words = self.run_enroll(*self.arguments, "--timeout", "3", status=4)
        self.assertLess(time.monotonic() - begun, 10)
        self.assertEqual(output, "")
        self.assertIn("http://127.0.0.1", words)
        # The provider is not asked, so its check would find nothing.
        self.assertNotIn("doctor", words)

    def test_a_refusal_that_repeats_the_id_token_is_not_shown(self):
        self.sign_in()
        token = self.run_enroll("token", "--id-token")[0].strip()
        for code, message in [
            ("InvalidIdentityToken", f"the token {token} is bad"), (token, "no"), (token, token),
            ("InvalidIdentityToken", f"bad: {urllib.parse.quote(token).replace('.', '%2E')}"),
            ("InvalidIdentityToken", "bad: &#x65;" + token[1:]),
        ]:
            with self.subTest(code[:20], message=message[:20]):
                words = self.assertRefused(BAD.format(code, message), "repeats a secret", status=400)
                self.assertNotIn(token[1:20], words)

    def test_too_many_requests_are_no_refusal(self):
        self.sign_in()
        self.headers = {"Retry-After": "40"}
        for status, answer in [
            (429, "busy"), (429, BAD.format("Throttling", "Rate exceeded")), (400, BAD.format("Throttling", "x")),
            (400, BAD.format("ThrottlingException", "Rate exceeded")),
            (503, BAD.format("ServiceUnavailable", "x")), (500, ""),
        ]:
            with self.subTest(status, answer=answer):
                words = self.assertRefused(answer, "Try again later", ending=4, status=status)
                self.assertIn("the server asks to wait 40 s", words)
                self.assertNotIn("--sts", words)

    def test_the_advice_is_about_the_cause(self):
        self.sign_in()
        for code, advice in [
            ("ExpiredTokenException", "--renew"), ("ValidationError", "--role"),
            ("RegionDisabledException", "AWS_REGION"), ("InvalidIdentityToken", "trust policy"),
        ]:
            with self.subTest(code):
                self.assertRefused(BAD.format(code, "no"), advice, status=400)

    def test_credentials_that_cannot_work_are_refused(self):
        self.sign_in()
        for old, new, said in [
            ("2099-11-30T23:00:23Z", "never", "Expiration"),
            ("2099-11-30T23:00:23Z", "2099-02-30T23:00:23Z", "Expiration"),
            ("2099-11-30T23:00:23Z", "2099-11-30 23:00:23", "Expiration"),
            ("2099-11-30T23:00:23Z", "1999-01-01T00:00:00Z", "expired at 1999-01-01T00:00:00Z"),
            ("ASgeIAIOSFODNN7EXAMPLE", "", "AccessKeyId"), ("SECRET/KEY", " ", "SecretAccessKey"),
            ("SECRET/KEY", "SECRET&#x1b;KEY", "SecretAccessKey"), ("ASgeI", "AS&#13;geI", "AccessKeyId"),
            ("TOKEN+", "&unknown;", "SessionToken"), ("TOKEN+", "&#xD800;", "SessionToken"),
            ("TOKEN+", "a<!-- x -->b", "SessionToken"),
        ]:
            with self.subTest(new):
                self.assertRefused(GOOD.replace(old, new), said)

    def test_references_and_dates_are_read_as_xml_and_rfc_3339_have_them(self):
        self.sign_in()
        for date, read in [
            ("2099-11-30T23:00:23.500Z", "2099-11-30T23:00:23Z"), ("2099-11-30T23:00:23+05:30", "2099-11-30T17:30:23Z"),
            ("2096-02-29t23:59:59-00:01", "2096-03-01T00:00:59Z"),
        ]:
            with self.subTest(date):
                answer = GOOD.replace("2099-11-30T23:00:23Z", date).replace("TOKEN+", "&#84;&#x4F;&#x4b;EN&#43;")
                self.answer = 200, answer
                document = json.loads(self.run_enroll(*self.arguments)[0])
                self.assertEqual(document["Expiration"], read)
                self.assertEqual(document["SessionToken"], "TOKEN+/=&<x>")

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
