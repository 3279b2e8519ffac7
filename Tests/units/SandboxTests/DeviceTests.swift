import EnrollJSON
import EnrollSandbox
import Foundation
import Testing

@Suite("The sandbox's device grant (RFC 8628)") struct DeviceTests {
  private func authorize(_ client: TestClient, _ changes: [(String, String)] = []) async throws -> Reply {
    try await client.browser.post(
      "/device/authorize",
      [("client_id", "sample-app"), ("scope", "openid profile offline_access")] + changes)
  }

  private func poll(_ client: TestClient, _ begun: Reply, as clientID: String = "sample-app") async throws
    -> Reply
  {
    try await client.browser.post(
      "/token",
      [
        ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"), ("client_id", clientID),
        ("device_code", begun.json["device_code"]?.string ?? ""),
      ])
  }

  private func error(_ reply: Reply) -> String? { reply.json["error"]?.string }

  /// Enters the code; returns the first page of the sign-in.
  private func type(_ code: String, _ client: TestClient) async throws -> Reply {
    var reply = try await client.browser.post("/device", [("user_code", code), ("action", "continue")])
    while let location = reply.location { reply = try await client.browser.get(location) }
    return reply
  }

  @Test("type the code, sign in, allow: the device gets tokens, once")
  func whole() async throws {
    try await withSandbox { client async throws in
      let begun = try await authorize(client)
      let code = begun.json["user_code"]?.string ?? ""
      #expect(begun.json["verification_uri"] == .string(client.browser.issuer + "/device"))
      #expect(begun.json["interval"] == .integer(5) && begun.json["expires_in"] == .integer(600))
      #expect(error(try await poll(client, begun)) == "authorization_pending")
      // Users type small letters, and no hyphen.
      let signIn = try await type(code.lowercased().replacingOccurrences(of: "-", with: ""), client)
      let consent = try await client.browser.submit(
        signIn, [("username", "alice"), ("password", "alice-password"), ("action", "continue")])
      #expect(consent.text.contains("value=\"consent\""))
      let done = try await client.browser.submit(consent, [("action", "continue")])
      #expect(done.status == 200 && done.text.contains("Your device is connected"))
      await client.provider.advanceClock(seconds: 5)
      let tokens = try await poll(client, begun)
      #expect(tokens.json["access_token"] != nil && tokens.json["refresh_token"] != nil)
      let idToken = try #require(TestIDToken(tokens.json["id_token"]?.string))
      #expect(idToken.claims["sub"] == .string("user-alice") && idToken.claims["nonce"] == nil)
      #expect(error(try await poll(client, begun)) == "invalid_grant")
    }
  }

  @Test("somebody who allowed the app before is asked again: the link may be another person's (§5.4)")
  func asksAgain() async throws {
    try await withSandbox { client async throws in
      let first = try await client.browser.open(client.authorize())
      _ = try await client.browser.signIn(first)
      let page = try await type(try await authorize(client).json["user_code"]?.string ?? "", client)
      #expect(page.text.contains("value=\"consent\""))
    }
  }

  @Test("the address with the code in it fills the form in, and sends nothing by itself (§3.3.1)")
  func complete() async throws {
    try await withSandbox { client async throws in
      let begun = try await authorize(client)
      let address = begun.json["verification_uri_complete"]?.string ?? ""
      let page = try await client.browser.get(address)
      #expect(
        page.status == 200 && page.text.contains("value=\"\(begun.json["user_code"]?.string ?? "-")\""))
      let hostile = try await client.browser.get("/device?user_code=%22%3E%3Cscript%3E")
      #expect(!hostile.text.contains("<script"))
    }
  }

  @Test("no: the device is told, and so is the user")
  func denied() async throws {
    try await withSandbox { client async throws in
      let begun = try await authorize(client)
      let page = try await type(begun.json["user_code"]?.string ?? "", client)
      let refused = try await client.browser.submit(page, [("action", "cancel")])
      #expect(refused.text.contains("not connected"))
      #expect(error(try await poll(client, begun)) == "access_denied")
    }
  }

  @Test("who polls too fast is told to slow down, by five seconds more each time (§3.5)")
  func slowDown() async throws {
    try await withSandbox { client async throws in
      let begun = try await authorize(client)
      #expect(error(try await poll(client, begun)) == "authorization_pending")
      #expect(error(try await poll(client, begun)) == "slow_down")
      await client.provider.advanceClock(seconds: 9)
      #expect(error(try await poll(client, begun)) == "slow_down")
      await client.provider.advanceClock(seconds: 15)
      #expect(error(try await poll(client, begun)) == "authorization_pending")
    }
  }

  @Test("an expired code, an unknown one and another client's are refused")
  func refused() async throws {
    try await withSandbox({
      $0.clients.append(
        SandboxClient(id: "other", name: "Other", redirectURIs: [], postLogoutRedirectURIs: []))
    }) {
      client async throws in
      let begun = try await authorize(client)
      #expect(error(try await poll(client, begun, as: "other")) == "invalid_grant")
      await client.provider.advanceClock(seconds: 600)
      #expect(error(try await poll(client, begun)) == "expired_token")
      let late = try await type(begun.json["user_code"]?.string ?? "", client)
      #expect(late.status == 422 && late.text.contains("role=\"alert\""))
      #expect(try await type("AAAA-AAAA", client).status == 422)
      #expect(try await authorize(client, [("client_id", "sample-app")]).status == 400, "twice")
      let unknown = try await client.browser.post("/device/authorize", [("client_id", "nobody")])
      #expect(unknown.status == 401)
    }
  }

  @Test("a test settles a device without pages")
  func control() async throws {
    try await withSandbox { client async throws in
      let begun = try await authorize(client)
      let code = begun.json["user_code"]?.string ?? ""
      #expect(
        try await client.control(#"{"do":"device","userCode":"\#(code)","user":"bob"}"#).status == 200)
      let tokens = try await poll(client, begun)
      #expect(TestIDToken(tokens.json["id_token"]?.string)?.claims["sub"] == .string("user-bob"))
      #expect(try await client.control(#"{"do":"device","userCode":"\#(code)"}"#).status == 400)
    }
  }
}
