import EnrollCrypto
import EnrollJSON
import EnrollSandbox
import Foundation
import Testing

@Suite struct ControlTests {
  @Test("the control side takes JSON only, which a page of a foreign site cannot send")
  func contentType() async throws {
    try await withSandbox { client async throws in
      #expect(try await client.control(#"{"do":"counts"}"#, type: "text/plain").status == 415)
      #expect(try await client.browser.get("/_control").status == 405)
    }
  }

  @Test("counters tell how often each endpoint was asked, and refreshes apart")
  func counts() async throws {
    try await withSandbox { client async throws in
      let tokens = try await client.tokens()
      _ = try await client.refresh(tokens["refresh_token"]?.string ?? "")
      let reply = try await client.control(#"{"do":"counts"}"#).json
      #expect(reply["counts"]?["token"] == .integer(2))
      #expect(reply["counts"]?["authorize"] == .integer(1))
      #expect(reply["refreshes"] == .integer(1))
      _ = try await client.control(#"{"do":"resetCounts"}"#)
      #expect(try await client.control(#"{"do":"counts"}"#).json["refreshes"] == .integer(0))
    }
  }

  @Test("settle gives the redirect of a sign-in without pages, or of an error")
  func settle() async throws {
    try await withSandbox { client async throws in
      let url = client.browser.issuer + client.authorize()
      func settle(_ more: String) async throws -> Reply {
        try await client.control(#"{"do":"settle","url":"\#(url)"\#(more)}"#)
      }
      let redirect = try await settle(#","user":"bob""#).json["redirect"]?.string ?? ""
      #expect(redirect.hasPrefix(TestClient.redirectURI + "?code="))
      #expect(
        try await settle(#","error":"access_denied""#).json["redirect"]?.string?.contains(
          "error=access_denied") == true)
      #expect(try await settle(#","user":"nobody""#).status == 400)
      #expect(
        try await client.control(#"{"do":"settle","url":"https://evil.example/authorize"}"#).status == 400)
    }
  }

  @Test("sessions are listed and can be ended; refreshes are then refused")
  func sessions() async throws {
    try await withSandbox { client async throws in
      let tokens = try await client.tokens()
      let listed = try await client.control(#"{"do":"sessions"}"#).json["sessions"]?.array?.first
      #expect(listed?["user"] == .string("alice"))
      #expect(listed?["end"] == nil)
      _ = try await client.control(#"{"do":"endSessions"}"#)
      #expect(try await client.refresh(tokens["refresh_token"]?.string ?? "").status == 400)
    }
  }

  @Test("the clock moves on demand")
  func clock() async throws {
    try await withSandbox { client async throws in
      #expect(try await client.control(#"{"do":"advanceClock","seconds":86400}"#).status == 200)
      #expect(try await client.browser.get("/jwks").headers["date"] == "Sat, 16 Jan 2027 08:00:00 GMT")
    }
  }

  @Test(
    "a number with which a date or a size would overflow is refused",
    arguments: [
      #"{"do":"advanceClock","seconds":9223372036854775807}"#,
      #"{"do":"advanceClock","seconds":-1000000000001}"#,
      #"{"do":"fault","fault":"delay","endpoint":"jwks","value":9223372036854775807}"#,
      #"{"do":"fault","fault":"hugeBody","endpoint":"jwks","value":-9223372036854775808}"#,
    ])
  func numbers(request: String) async throws {
    try await withSandbox { client async throws in
      let reply = try await client.control(request)
      #expect(reply.status == 400)
      #expect(reply.text.contains("an integer from -1000000000000 to 1000000000000"))
      #expect(try await client.browser.get("/jwks").status == 200)
    }
  }

  @Test("neither log nor ready line shows a token, a code, a state or a typed password")
  func secrets() async throws {
    let lines = Lines()
    try await withSandbox {
      $0.log = { lines.append($0) }
    } _: { client async throws in
      let browser = client.browser
      let redirect = try await browser.signIn(browser.open(client.authorize(["state": "canary-state"])))
      let code = redirect.parameters["code"] ?? ""
      let tokens = try await client.redeem(code).json
      _ = try await client.userinfo(tokens["access_token"]?.string ?? "")
      _ = try await client.refresh(tokens["refresh_token"]?.string ?? "")
      let text = lines.text + (await client.provider.readyLine)
      #expect(text.contains("POST /token 200"))
      for name in ["access_token", "refresh_token", "id_token"] {
        #expect(!text.contains(tokens[name]?.string ?? "missing"), "\(name)")
      }
      #expect(!text.contains(code) && !text.contains("canary-state"))
      #expect(!lines.text.contains("alice-password"))
    }
  }

  @Test("a port that is taken is an error at once")
  func portTaken() async throws {
    try await withSandbox { client async throws in
      let port = UInt16(client.browser.issuer.split(separator: ":").last ?? "") ?? 0
      var options = SandboxOptions()
      options.algorithms = [.ES256]
      let second = try Sandbox(port: port, options)
      await #expect(throws: Sandbox.PortIsTaken.self) { try await second.start() }
    }
  }

  @Test("after stop nobody answers")
  func stop() async throws {
    var options = SandboxOptions()
    options.algorithms = [.ES256]
    let sandbox = try Sandbox(options)
    let browser = TestBrowser(try await sandbox.start())
    #expect(try await browser.get("/jwks").status == 200)
    await sandbox.stop()
    await #expect(throws: URLError.self) { try await browser.get("/jwks") }
  }
}

private final class Lines: @unchecked Sendable {
  // Unchecked: every access holds the lock.
  private let lock = NSLock()
  private var lines: [String] = []

  func append(_ line: String) { lock.withLock { lines.append(line) } }
  var text: String { lock.withLock { lines.joined(separator: "\n") } }
}
