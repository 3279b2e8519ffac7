import EnrollJSON
import EnrollSandbox
import Foundation
import Testing

@Suite("The sandbox's passwordless sign-in, in Auth0's dialect") struct PasswordlessTests {
  private func start(_ client: TestClient, _ members: [(String, JSON?)]) async throws -> Reply {
    let body = JSON.object([("client_id", .string("sample-app"))] + members).serialized()
    return try await client.browser.send(
      "POST", "/passwordless/start", headers: ["Content-Type": "application/json"], body: Data(body))
  }

  private func redeem(_ client: TestClient, _ code: String, of name: String, realm: String = "email")
    async throws -> Reply
  {
    try await client.browser.post(
      "/token",
      [
        ("grant_type", "http://auth0.com/oauth/grant-type/passwordless/otp"), ("client_id", "sample-app"),
        ("username", name), ("otp", code), ("realm", realm), ("scope", "openid email offline_access"),
      ])
  }

  private func last(_ client: TestClient) async throws -> JSON {
    try await client.control(#"{"do":"messages"}"#).json["messages"]?.array?.last ?? .null
  }

  private static let mail: [(String, JSON?)] = [
    ("connection", .string("email")), ("email", .string("alice@example.com")), ("send", .string("code")),
  ]

  @Test("a code by e-mail is worth tokens, once, to whoever has the address")
  func code() async throws {
    try await withSandbox { client async throws in
      #expect(try await start(client, Self.mail).status == 200)
      let code = try await last(client)["code"]?.string ?? ""
      #expect(code.count == 6)
      let tokens = try await redeem(client, code, of: "Alice@example.com")
      #expect(TestIDToken(tokens.json["id_token"]?.string)?.claims["sub"] == .string("user-alice"))
      #expect(tokens.json["refresh_token"] != nil)
      #expect(
        try await redeem(client, code, of: "alice@example.com").json["error"] == .string("invalid_grant"))
    }
  }

  @Test("codes and links, by e-mail and SMS, are in the inbox, the newest first")
  func inbox() async throws {
    try await withSandbox { client async throws in
      #expect(try await client.browser.get("/inbox").text.contains("Nothing was sent yet"))
      _ = try await start(client, Self.mail)
      let code = try await last(client)["code"]?.string ?? "-"
      _ = try await client.control(#"{"do":"advanceClock","seconds":1}"#)
      _ = try await start(
        client, [("connection", .string("sms")), ("phone_number", .string("+31612345678"))])
      let number = try await last(client)["code"]?.string ?? "-"
      _ = try await client.control(#"{"do":"advanceClock","seconds":1}"#)
      _ = try await start(
        client,
        [
          ("connection", .string("email")), ("email", .string("bob@example.com")),
          ("send", .string("link")),
          (
            "authParams",
            .object([
              ("response_type", .string("code")), ("redirect_uri", .string("com.example.app:/callback")),
              ("scope", .string("openid")), ("state", .string("s")), ("nonce", .string("n")),
              ("code_challenge", .string("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")),
              ("code_challenge_method", .string("S256")),
            ])
          ),
        ])
      let link = try await last(client)["link"]?.string ?? "-"
      let inbox = try await client.browser.get("/inbox").text
      let expected = [
        "<strong>Your link</strong>", "To bob@example.com", "href=\"\(link)\"",
        "<strong>A text message</strong>", "To +31612345678", number,
        "<strong>Your code</strong>", "To alice@example.com", code,
      ]
      var rest = inbox[...]
      for text in expected {
        let found = try #require(rest.range(of: text), "\(text) is missing, or not at its place")
        rest = rest[found.upperBound...]
      }
    }
  }

  @Test("somebody new gets an account, with an address that is verified")
  func newcomer() async throws {
    try await withSandbox { client async throws in
      _ = try await start(
        client,
        [
          ("connection", .string("email")), ("email", .string("new@example.com")),
          ("send", .string("code")),
        ])
      let code = try await last(client)["code"]?.string ?? ""
      let tokens = try await redeem(client, code, of: "new@example.com")
      let claims = TestIDToken(tokens.json["id_token"]?.string)?.claims
      #expect(claims?["email"] == .string("new@example.com") && claims?["email_verified"] == .bool(true))
    }
  }

  @Test("a wrong code may be tried again, the third one ends it, and a late one is too late")
  func tries() async throws {
    try await withSandbox { client async throws in
      _ = try await start(client, Self.mail)
      let code = try await last(client)["code"]?.string ?? ""
      for expected in ["invalid_grant", "invalid_grant", "too_many_attempts", "invalid_grant"] {
        let reply = try await redeem(client, "x", of: "alice@example.com")
        #expect(reply.status == 403 && reply.json["error"] == .string(expected))
      }
      #expect(try await redeem(client, code, of: "alice@example.com").status == 403)
      _ = try await start(client, Self.mail)
      let second = try await last(client)["code"]?.string ?? ""
      await client.provider.advanceClock(seconds: 180)
      #expect(try await redeem(client, second, of: "alice@example.com").status == 403)
    }
  }

  @Test("a code by SMS")
  func sms() async throws {
    try await withSandbox { client async throws in
      let number: [(String, JSON?)] = [
        ("connection", .string("sms")), ("phone_number", .string("+31612345678")),
      ]
      #expect(try await start(client, number).json["phone_number"] == .string("+31612345678"))
      let message = try await last(client)
      #expect(message["to"] == .string("+31612345678"))
      let reply = try await redeem(
        client, message["code"]?.string ?? "", of: "+31612345678", realm: "sms")
      #expect(reply.json["access_token"] != nil)
    }
  }

  @Test("a link leads to a page, its button back to the app with a code and the state; it works once")
  func link() async throws {
    try await withSandbox { client async throws in
      let parameters = JSON.object([
        ("response_type", .string("code")), ("redirect_uri", .string(TestClient.redirectURI)),
        ("scope", .string("openid")), ("state", .string("state-1")), ("nonce", .string("nonce-1")),
        ("code_challenge", .string(TestClient.challenge)), ("code_challenge_method", .string("S256")),
      ])
      let wish = Self.mail.dropLast() + [("send", .string("link")), ("authParams", parameters)]
      #expect(try await start(client, Array(wish)).status == 200)
      let link = try await last(client)["link"]?.string ?? ""
      // A mail scanner opens the link twice.
      _ = try await client.browser.get(link)
      let page = try await client.browser.get(link)
      #expect(page.status == 200 && page.text.contains("alice@example.com"))
      let redirect = try await client.browser.post("/passwordless/link", page.hiddenFields)
      #expect(redirect.parameters["state"] == "state-1")
      let tokens = try await client.redeem(redirect.parameters["code"] ?? "")
      #expect(TestIDToken(tokens.json["id_token"]?.string)?.claims["nonce"] == .string("nonce-1"))
      #expect(try await client.browser.post("/passwordless/link", page.hiddenFields).status == 400)
    }
  }

  @Test(
    "what cannot be sent is refused in Auth0's words",
    arguments: [
      ([("connection", JSON.string("pigeon"))], "bad.connection"),
      ([("connection", .string("email")), ("email", .string("alice"))], "bad.email"),
      ([("connection", .string("sms")), ("phone_number", .string("06"))], "bad.phone_number"),
      (
        [("connection", .string("email")), ("email", .string("a@b")), ("send", .string("link"))],
        "invalid_request"
      ),
    ] as [([(String, JSON)], String)])
  func refused(members: [(String, JSON)], error: String) async throws {
    try await withSandbox { client async throws in
      let reply = try await start(client, members.map { ($0.0, $0.1) })
      #expect(reply.status == 400 && reply.json["error"] == .string(error))
      #expect(try await last(client) == .null)
    }
  }
}
