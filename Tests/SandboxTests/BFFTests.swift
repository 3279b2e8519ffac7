import EnrollJSON
@testable import EnrollSandbox
import Foundation
import Testing

@Suite("The back end (flows.md §10)")
struct BFFTests {
  private static let start =
    "/v1/auth/google?platform=mobile&code_challenge=\(TestClient.challenge)&code_challenge_method=S256"
    + "&state=app-state"

  /// From the app's URL to the callback of the provider, where alice said yes.
  private func callback(
    _ client: TestClient, _ path: String = start, user: String = "alice", error: String? = nil
  ) async throws -> (sent: Reply, callback: String) {
    let sent = try await client.browser.get(path)
    let url = try #require(sent.location)
    return (sent, try await client.provider.settle(authorizeURL: url, user: user, error: error))
  }

  /// What the app is handed.
  private func redirect(_ client: TestClient, _ path: String = start, user: String = "alice") async throws
    -> Reply
  {
    try await client.browser.get(try await callback(client, path, user: user).callback)
  }

  private func redeem(
    _ client: TestClient, _ code: String?, verifier: String = TestClient.verifier,
    at provider: String = "google",
    type: String = "application/json"
  ) async throws -> Reply {
    let body = JSON.object([("code", code.map { .string($0) }), ("code_verifier", .string(verifier))])
    return try await client.browser.send(
      "POST", "/v1/auth/\(provider)/redeem", headers: ["Content-Type": type], body: Data(body.serialized()))
  }

  @Test(
    "an app's sign-in: to the provider, back, a one-time code for the app, a session token for the code")
  func app() async throws {
    try await withSandbox { client async throws in
      let (sent, callback) = try await callback(client)
      #expect(sent.location?.hasPrefix(client.browser.issuer + "/authorize?") == true)
      #expect(
        sent.parameters["state"] != "app-state" && sent.parameters["code_challenge"] != TestClient.challenge
      )
      #expect(sent.parameters["redirect_uri"] == client.browser.issuer + "/v1/auth/google/callback")
      let reply = try await client.browser.get(callback)
      #expect(reply.location?.hasPrefix("com.example.app:/callback?code=") == true)
      #expect(reply.parameters["state"] == "app-state" && reply.parameters["session_token"] == nil)
      let given = try await redeem(client, reply.parameters["code"])
      #expect(given.status == 200 && given.json["expires_in"] == .integer(300))
      #expect(given.headers["cache-control"] == "no-store")
      let claims = try await client.userinfo(given.json["session_token"]?.string ?? "").json
      #expect(claims["sub"]?.string == (await client.provider.bffAccounts.first?.userID))
      #expect(claims["email"] == .string("alice@example.com"))
    }
  }

  @Test("the cookie is sealed, httpOnly, secure, SameSite, of ten minutes, and deleted afterwards")
  func cookie() async throws {
    try await withSandbox { client async throws in
      let (sent, callback) = try await callback(client)
      let cookie = try #require(sent.headers["set-cookie"])
      for attribute in ["HttpOnly", "Secure", "SameSite=Lax", "Max-Age=600", "Path=/v1/auth/google"] {
        #expect(cookie.contains("; " + attribute), "\(attribute)")
      }
      let value = cookie.components(separatedBy: "=")[1].components(separatedBy: ";")[0]
      let opened = String(decoding: Encoding.bytes(base64URL: value[...]) ?? [], as: UTF8.self)
      #expect(!opened.contains("google") && !cookie.contains("app-state"))
      let reply = try await client.browser.get(callback)
      #expect(reply.headers["set-cookie"]?.contains("=; Path=/v1/auth/google; Max-Age=0") == true)
      #expect(try await client.browser.get(callback).status == 403, "a repeated callback finds no cookie")
    }
  }

  @Test(
    "a repeated callback, even with its cookie, makes no second account; a second login updates the first")
  func idempotent() async throws {
    try await withSandbox { client async throws in
      let (_, callback) = try await callback(client)
      let cookies = client.browser.cookies
      #expect(try await client.browser.get(callback).parameters["code"] != nil)
      client.browser.cookies = cookies
      let again = try await client.browser.get(callback)
      #expect(again.parameters["code"] == nil && again.parameters["error"] == "server_error")
      let first = await client.provider.bffAccounts
      #expect(first.count == 1)

      await client.provider.advanceClock(seconds: 60)
      _ = try await redirect(client)
      var expected = first
      expected[0].lastLogin += 60
      #expect(await client.provider.bffAccounts == expected)
      #expect(first[0].providerID == "google" && first[0].providerUserID == "user-alice")
      #expect(first[0].email == "alice@example.com" && first[0].created == 1_800_000_000)

      _ = try await redirect(client, user: "bob")
      _ = try await redirect(client, Self.start.replacingOccurrences(of: "google", with: "apple"))
      let ids = await client.provider.bffAccounts.map(\.userID)
      #expect(Set(ids).count == 3)
    }
  }

  @Test("state and cookie must belong together, and be of this sign-in and this moment (CSRF)")
  func forged() async throws {
    try await withSandbox { client async throws in
      let (_, right) = try await callback(client)
      let cookies = client.browser.cookies
      let forged = right.replacingOccurrences(of: "state=", with: "state=x")
      #expect(try await client.browser.get(forged).status == 403)
      #expect(
        try await client.browser.get(right.replacingOccurrences(of: "google", with: "apple")).status == 403)
      client.browser.cookies = cookies.mapValues { "A" + $0.dropFirst() }
      #expect(try await client.browser.get(right).status == 403)
      client.browser.cookies = [:]
      #expect(try await client.browser.get(right).status == 403)
      #expect(await client.provider.bffAccounts.isEmpty)
      client.browser.cookies = cookies
      #expect(try await client.browser.get(right).parameters["code"] != nil, "the real one still works")

      let (_, late) = try await callback(client)
      await client.provider.advanceClock(seconds: 601)
      #expect(try await client.browser.get(late).status == 403)
    }
  }

  @Test("a code is redeemed once, with the verifier of the app's challenge, at its own provider, in time")
  func redeemRules() async throws {
    try await withSandbox { client async throws in
      let code = try await redirect(client).parameters["code"]
      #expect(try await redeem(client, code, verifier: TestClient.verifier + "x").status == 400)
      #expect(try await redeem(client, code, verifier: "").status == 400)
      #expect(try await redeem(client, code, at: "apple").status == 400)
      #expect(try await redeem(client, code, at: "nobody").status == 404)
      #expect(try await redeem(client, code, type: "text/plain").status == 400)
      #expect(try await redeem(client, "unknown").status == 400)
      let token = try await redeem(client, code).json["session_token"]?.string ?? ""
      #expect(try await client.userinfo(token).status == 200)
      #expect(try await redeem(client, code).json["error"] == .string("invalid_grant"))
      #expect(try await client.userinfo(token).status == 401, "a code used twice takes back what it gave")

      let late = try await redirect(client).parameters["code"]
      await client.provider.advanceClock(seconds: 61)
      #expect(try await redeem(client, late).status == 400)
    }
  }

  @Test(
    "an app without a proper challenge is told so; an unknown redirect, provider or platform gets a page",
    arguments: [
      ("&code_challenge=short&code_challenge_method=S256", 303), ("", 303),
      ("&code_challenge=\(TestClient.challenge)", 303),
      ("&code_challenge=\(TestClient.challenge)&code_challenge_method=plain", 303),
      ("&redirect_uri=https://evil.example/", 400), ("&platform=mobile", 400),
    ])
  func refusedStart(_ more: String, _ status: Int) async throws {
    try await withSandbox { client async throws in
      let reply = try await client.browser.get("/v1/auth/google?platform=mobile&state=s" + more)
      #expect(reply.status == status)
      if status == 303 {
        #expect(reply.location?.hasPrefix("com.example.app:/callback?error=invalid_request") == true)
        #expect(reply.parameters["state"] == "s")
      }
      #expect(try await client.browser.get("/v1/auth/nobody").status == 404)
      #expect(try await client.browser.get("/v1/auth/google?platform=fridge").status == 400)
      #expect(try await client.browser.get("/v1/auth/google").status == 400)
    }
  }

  @Test("the provider's errors are put in words for the app")
  func errors() async throws {
    try await withSandbox { client async throws in
      let (_, refused) = try await callback(client, error: "access_denied")
      let reply = try await client.browser.get(refused)
      #expect(reply.parameters["error"] == "access_denied" && reply.parameters["state"] == "app-state")
      #expect(reply.parameters["error_description"]?.contains("did not allow Google") == true)

      let (_, busy) = try await callback(client, error: "temporarily_unavailable")
      #expect(
        try await client.browser.get(busy).parameters["error_description"]?.contains("too busy") == true)
    }
  }

  @Test("the provider's pages may lead on to the app, which the back end's callback redirects to")
  func formAction() async throws {
    try await withSandbox { client async throws in
      let sent = try await client.browser.get(Self.start)
      let page = try await client.browser.get(
        try await client.browser.get(sent.location ?? "").location ?? "")
      let policy = page.headers["content-security-policy"] ?? ""
      #expect(policy.contains(" com.example.app: http://127.0.0.1:*;"), "\(policy)")
    }
  }
}
