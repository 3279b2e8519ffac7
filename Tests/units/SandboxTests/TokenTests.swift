import EnrollJSON
import EnrollSandbox
import Foundation
import Testing

@Suite struct TokenTests {
  @Test("a code gives tokens, once; the second time everything that it gave is revoked")
  func codeOnce() async throws {
    try await withSandbox { client async throws in
      let code = try await client.code()
      let tokens = try await client.redeem(code).json
      let accessToken = tokens["access_token"]?.string ?? ""
      #expect(tokens["expires_in"] == .integer(300))
      #expect(try await client.userinfo(accessToken).status == 200)
      let again = try await client.redeem(code)
      #expect(again.status == 400)
      #expect(again.json["error"] == .string("invalid_grant"))
      #expect(try await client.userinfo(accessToken).status == 401)
      #expect(await client.provider.sessions.map(\.end) == ["codeReuse"])
    }
  }

  @Test(
    "a code with another verifier, redirect or client is refused",
    arguments: [
      (["code_verifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXK"], "invalid_grant"),
      (["code_verifier": TestClient.challenge], "invalid_grant"),
      (["code_verifier": nil], "invalid_request"),
      (["redirect_uri": "http://127.0.0.1/callback"], "invalid_grant"),
      (["redirect_uri": nil], "invalid_grant"),
      (["client_id": "other-app"], "invalid_grant"), (["client_id": "nobody"], "invalid_client"),
      (["client_id": nil], "invalid_client"), (["client_secret": "x"], "invalid_client"),
      (["code": "unknown"], "invalid_grant"), (["grant_type": "password"], "unsupported_grant_type"),
      (["grant_type": nil], "invalid_request"),
    ] as [([String: String?], String)])
  func refused(_ change: [String: String?], _ error: String) async throws {
    try await withSandbox {
      $0.clients.append(
        SandboxClient(id: "other-app", name: "Other", redirectURIs: [], postLogoutRedirectURIs: []))
    } _: { client async throws in
      let reply = try await client.redeem(client.code(), change)
      #expect(reply.json["error"] == .string(error))
      #expect(reply.json["access_token"] == nil)
    }
  }

  @Test(
    "a client that has a secret proves itself with it, in one way",
    arguments: [
      (nil, nil, 401), ("s+c", nil, 200), ("wrong", nil, 401), (nil, "sample-app:s%2Bc", 200),
      (nil, "sample-app:wrong", 401),
      ("s+c", "sample-app:s%2Bc", 401), (nil, "other:s%2Bc", 401), (nil, "sample-app", 401),
    ] as [(String?, String?, Int)])
  func secrets(_ body: String?, _ header: String?, _ status: Int) async throws {
    try await withSandbox {
      $0.clients[0].secret = "s+c"
    } _: { client async throws in
      let headers = header.map { ["authorization": "Basic " + Data($0.utf8).base64EncodedString()] } ?? [:]
      let reply = try await client.redeem(client.code(), ["client_secret": body], headers: headers)
      #expect(reply.status == status)
    }
  }

  @Test("a code works until its end and not a second longer")
  func codeExpiry() async throws {
    try await withSandbox { client async throws in
      let (first, second) = (try await client.code(), try await client.code())
      await client.provider.advanceClock(seconds: 60)
      #expect(try await client.redeem(first).status == 200)
      await client.provider.advanceClock(seconds: 1)
      #expect(try await client.redeem(second).json["error"] == .string("invalid_grant"))
    }
  }

  @Test("each refresh replaces the refresh token, keeps auth_time and sends no nonce")
  func rotation() async throws {
    try await withSandbox { client async throws in
      let first = try await client.tokens()
      await client.provider.advanceClock(seconds: 10)
      let second = try await client.refresh(text(first)).json
      #expect(text(second) != text(first) && !text(second).isEmpty)
      let claims = TestIDToken(second["id_token"]?.string)?.claims
      #expect(claims?["auth_time"] == .integer(1_800_000_000))
      #expect(claims?["iat"] == .integer(1_800_000_010))
      #expect(claims?["nonce"] == nil)
      #expect(await client.provider.sessions.map(\.generation) == [2])
      #expect(await client.provider.refreshCount == 1)
    }
  }

  @Test("a refresh token that was replaced ends the whole family (RFC 9700 §4.14.2)")
  func reuse() async throws {
    try await withSandbox { client async throws in
      let first = try await client.tokens()
      let second = try await client.refresh(text(first)).json
      let other = try await client.tokens()
      #expect(try await client.refresh(text(first)).json["error"] == .string("invalid_grant"))
      #expect(try await client.refresh(text(second)).json["error"] == .string("invalid_grant"))
      #expect(try await client.userinfo(second["access_token"]?.string ?? "").status == 401)
      #expect(try await client.refresh(text(other)).status == 200, "another session is not touched")
    }
  }

  @Test("within the grace the token before gives the current one again; after it, reuse")
  func grace() async throws {
    try await withSandbox {
      $0.refreshGraceSeconds = 30
    } _: { client async throws in
      let first = try await client.tokens()
      let second = try await client.refresh(text(first)).json
      await client.provider.advanceClock(seconds: 30)
      let repeated = try await client.refresh(text(first)).json
      #expect(text(repeated) == text(second))
      #expect(repeated["access_token"] != second["access_token"])
      await client.provider.advanceClock(seconds: 1)
      #expect(try await client.refresh(text(first)).status == 400)
      #expect(await client.provider.sessions.map(\.end) == ["reuse"])
    }
  }

  @Test("within the grace only the last token counts: the one before that is reuse")
  func graceOfTwo() async throws {
    try await withSandbox {
      $0.refreshGraceSeconds = 30
    } _: { client async throws in
      let first = try await client.tokens()
      let second = try await client.refresh(text(first)).json
      _ = try await client.refresh(text(second))
      #expect(try await client.refresh(text(first)).status == 400)
    }
  }

  @Test("of many refreshes with one token at once exactly one succeeds")
  func parallel() async throws {
    try await withSandbox { client async throws in
      let token = text(try await client.tokens())
      let address = client.browser.issuer
      let statuses = await withTaskGroup(of: Int.self) { group in
        for _ in 0..<8 {
          group.addTask {
            let fields = [
              ("grant_type", "refresh_token"), ("refresh_token", token), ("client_id", "sample-app"),
            ]
            return (try? await TestBrowser(address).post("/token", fields).status) ?? 0
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.sorted() == [200] + [Int](repeating: 400, count: 7))
      #expect(await client.provider.count(.token) == 9)
    }
  }

  @Test("rotation off: the refresh token stays, and none is sent")
  func noRotation() async throws {
    try await withSandbox {
      $0.rotatesRefreshTokens = false
    } _: { client async throws in
      let first = try await client.tokens()
      for _ in 0..<3 {
        let reply = try await client.refresh(text(first))
        #expect(reply.status == 200)
        #expect(reply.json["refresh_token"] == nil)
      }
    }
  }

  @Test("no refresh token without offline_access")
  func offline() async throws {
    try await withSandbox { client async throws in
      #expect(try await client.tokens(["scope": "openid"])["refresh_token"] == nil)
    }
  }

  @Test("a refresh may ask for fewer scopes, not for more")
  func scopes() async throws {
    try await withSandbox { client async throws in
      let tokens = try await client.tokens(["scope": "openid offline_access"])
      let more = try await client.refresh(text(tokens), ["scope": "openid email"])
      #expect(more.json["error"] == .string("invalid_scope"))
      let fewer = try await client.refresh(text(tokens), ["scope": "offline_access"]).json
      #expect(fewer["id_token"] == nil)
      #expect(fewer["scope"] == .string("offline_access"))
    }
  }

  @Test("lifetimes: an access token and a refresh token end when they say")
  func lifetimes() async throws {
    try await withSandbox {
      $0.accessLifetimeSeconds = 10
      $0.refreshLifetimeSeconds = 20
    } _: { client async throws in
      let tokens = try await client.tokens()
      let accessToken = tokens["access_token"]?.string ?? ""
      await client.provider.advanceClock(seconds: 9)
      #expect(try await client.userinfo(accessToken).status == 200)
      await client.provider.advanceClock(seconds: 1)
      #expect(try await client.userinfo(accessToken).status == 401)
      await client.provider.advanceClock(seconds: 11)
      #expect(try await client.refresh(text(tokens)).json["error"] == .string("invalid_grant"))
    }
  }

  @Test("userinfo answers the claims of the scopes, and only for a bearer token")
  func userinfo() async throws {
    try await withSandbox { client async throws in
      let tokens = try await client.tokens(["scope": "openid email"])
      let claims = try await client.userinfo(tokens["access_token"]?.string ?? "").json
      #expect(claims["sub"] == .string("user-alice"))
      #expect(claims["email"] == .string("alice@example.com"))
      #expect(claims["name"] == nil)
      let bare = try await client.browser.get("/userinfo")
      #expect(bare.status == 401 && bare.headers["www-authenticate"]?.hasPrefix("Bearer") == true)
    }
  }

  @Test(
    "revoking a refresh token ends the family, an access token only itself, an unknown one is fine (RFC 7009)"
  )
  func revocation() async throws {
    try await withSandbox { client async throws in
      func revoke(_ token: String) async throws -> Int {
        try await client.browser.post("/revoke", [("token", token), ("client_id", "sample-app")]).status
      }
      let tokens = try await client.tokens()
      let accessToken = tokens["access_token"]?.string ?? ""
      #expect(try await revoke("unknown") == 200)
      #expect(try await revoke(accessToken) == 200)
      #expect(try await client.userinfo(accessToken).status == 401)
      let next = try await client.refresh(text(tokens)).json
      #expect(try await revoke(text(next)) == 200)
      #expect(try await client.userinfo(next["access_token"]?.string ?? "").status == 401)
      #expect(try await client.refresh(text(next)).status == 400)
      #expect(await client.provider.sessions.map(\.end) == ["revoked"])
    }
  }

  @Test("the token endpoint wants a form, each parameter once")
  func form() async throws {
    try await withSandbox { client async throws in
      let json = try await client.browser.post("/token", [], headers: ["Content-Type": "application/json"])
      #expect(json.json["error"] == .string("invalid_request"))
      let twice = try await client.browser.post(
        "/token",
        [("grant_type", "refresh_token"), ("grant_type", "refresh_token"), ("client_id", "sample-app")])
      #expect(twice.json["error"] == .string("invalid_request"))
      #expect(try await client.browser.get("/token").status == 405)
    }
  }

  private func text(_ tokens: JSON) -> String { tokens["refresh_token"]?.string ?? "" }
}
