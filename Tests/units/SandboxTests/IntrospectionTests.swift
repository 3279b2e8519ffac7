import EnrollJSON
import EnrollSandbox
import Testing

@Suite struct IntrospectionTests {
  private func ask(_ client: TestClient, _ token: JSON?, showing: JSON?) async throws -> Reply {
    try await client.browser.post(
      "/introspect", [("token", token?.string ?? ""), ("client_id", "sample-app")],
      headers: showing?.string.map { ["Authorization": "Bearer \($0)"] } ?? [:])
  }

  @Test("a client is told of its own tokens, and nothing of what does not work (RFC 7662 §2.2)")
  func own() async throws {
    try await withSandbox { client async throws in
      let tokens = try await client.tokens()
      let access = tokens["access_token"]
      let told = try await ask(client, access, showing: access).json
      #expect(told["active"] == .bool(true))
      #expect(told["token_type"] == .string("Bearer"))
      #expect(told["exp"] == .integer(1_800_000_300))
      #expect(try await ask(client, tokens["refresh_token"], showing: access).json["active"] == .bool(true))
      let unknown = try await ask(client, .string("unknown"), showing: access)
      #expect(unknown.json == .object([("active", .bool(false))]))
      let renewed = try await client.refresh(tokens["refresh_token"]?.string ?? "").json
      let old = try await ask(client, tokens["refresh_token"], showing: renewed["access_token"])
      #expect(old.json == .object([("active", .bool(false))]))
    }
  }

  @Test("who shows no token of theirs is told nothing")
  func credentials() async throws {
    try await withSandbox { client async throws in
      let tokens = try await client.tokens()
      #expect(try await ask(client, tokens["access_token"], showing: nil).status == 401)
      #expect(try await ask(client, tokens["access_token"], showing: .string("x")).status == 401)
    }
  }
}
