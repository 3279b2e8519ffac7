import EnrollJSON
import EnrollSandbox
import Foundation
import Testing

@Suite("The host's own back end (flows.md §7)") struct HostBackEndTests {
  private let check = #"{"installationId":"i","platform":{"type":"ios"}}"#

  private func post(
    _ client: TestClient, _ path: String, _ body: String, token: String? = nil,
    type: String = "application/json"
  ) async throws -> Reply {
    var headers = ["Content-Type": type]
    if let token { headers["Authorization"] = "Bearer \(token)" }
    return try await client.browser.send("POST", path, headers: headers, body: Data(body.utf8))
  }

  @Test("the check answers sub and e-mail of the token's user, and needs a working token")
  func checked() async throws {
    try await withSandbox { client async throws in
      let token = try await client.tokens()["access_token"]?.string ?? ""
      let path = "/app/registration-check"
      let answer = try await post(client, path, check, token: token).json
      #expect(answer == .object([("sub", .string("user-alice")), ("email", .string("alice@example.com"))]))
      #expect(try await post(client, path, check).status == 401)
      #expect(try await post(client, path, check, token: "forged").status == 401)
      #expect(try await client.browser.get(path).status == 405)
    }
  }

  @Test(
    "what is not as it should be is refused",
    arguments: ["", "[]", "{}", "{", #"{"installationId":""}"#, #"{"installationId":"i","platform":1}"#])
  func refused(body: String) async throws {
    try await withSandbox { client async throws in
      let token = try await client.tokens()["access_token"]?.string ?? ""
      #expect(try await post(client, "/app/registration-check", body, token: token).status == 400)
      #expect(try await post(client, "/app/error-report", body).status == 400)
      #expect([400, 422].contains(try await post(client, "/app/profile", body, token: token).status))
      #expect(await client.provider.receivedMessages.isEmpty)
    }
  }

  @Test("a user can be made unknown, and known again")
  func unknown() async throws {
    try await withSandbox { client async throws in
      let token = try await client.tokens()["access_token"]?.string ?? ""
      _ = try await client.control(#"{"do":"setKnown","user":"alice","known":false}"#)
      let answer = try await post(client, "/app/registration-check", check, token: token).json
      #expect(answer == .object([("unknownAccount", .bool(true))]))
      _ = try await client.control(#"{"do":"setKnown","user":"alice"}"#)
      #expect(
        try await post(client, "/app/registration-check", check, token: token).json["sub"] != nil)
    }
  }

  @Test("profile and failures are kept for tests to look at; a profile must be the token's user's")
  func kept() async throws {
    try await withSandbox { client async throws in
      let token = try await client.tokens()["access_token"]?.string ?? ""
      let own = #"{"profile":{"sub":"user-alice"}}"#
      #expect(try await post(client, "/app/profile", own, token: token).status == 204)
      #expect(
        try await post(client, "/app/profile", #"{"profile":{"sub":"user-bob"}}"#, token: token).status
          == 422
      )
      let report = #"{"code":"network","messageKey":"error.network"}"#
      #expect(try await post(client, "/app/error-report", report).status == 204)
      #expect(try await post(client, "/app/error-report", report, type: "text/plain").status == 400)
      let kept = try await client.control(#"{"do":"received"}"#).json["messages"]?.array ?? []
      #expect(kept.map { $0["endpoint"]?.string } == ["profileUpdate", "errorReport"])
      #expect(kept.first?["user"] == .string("alice"))
    }
  }

  @Test("faults strike there too")
  func faults() async throws {
    try await withSandbox { client async throws in
      let token = try await client.tokens()["access_token"]?.string ?? ""
      for (fault, path) in [
        ("registrationCheck", "/app/registration-check"), ("profileUpdate", "/app/profile"),
        ("errorReport", "/app/error-report"),
      ] {
        _ = try await client.control(
          #"{"do":"fault","fault":"status","value":503,"times":1,"endpoint":"\#(fault)"}"#)
        #expect(try await post(client, path, check, token: token).status == 503)
      }
      _ = try await client.control(#"{"do":"fault","fault":"wrongSubject","endpoint":"registrationCheck"}"#)
      let answer = try await post(client, "/app/registration-check", check, token: token).json
      #expect(answer["sub"] == .string("somebody-else"))
    }
  }

  @Test("an address can become verified")
  func verified() async throws {
    try await withSandbox { client async throws in
      let code = try await client.code(user: "bob")
      let token = try await client.redeem(code).json["access_token"]?.string ?? ""
      #expect(try await client.userinfo(token).json["email_verified"] == .bool(false))
      _ = try await client.control(#"{"do":"verifyEmail","user":"bob"}"#)
      #expect(try await client.userinfo(token).json["email_verified"] == .bool(true))
    }
  }
}
