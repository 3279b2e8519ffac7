import EnrollJSON
import EnrollSandbox
import Foundation
import Testing

@Suite struct PushTests {
  @Test("off, it is not announced and not there")
  func off() async throws {
    try await withSandbox { client async throws in
      let metadata = try await client.browser.get("/.well-known/openid-configuration").json
      #expect(metadata["pushed_authorization_request_endpoint"] == nil)
      #expect(try await client.push().status == 404)
      let page = try await client.browser.get("/authorize?client_id=sample-app&request_uri=urn:x")
      #expect(page.status == 400)
    }
  }

  @Test("a pushed request is what the browser's name stands for, once (RFC 9126 §2.2, §4)")
  func once() async throws {
    try await withSandbox {
      $0.pushedRequests = .offered
    } _: { client async throws in
      let pushed = try await client.push()
      #expect(pushed.status == 201)
      #expect(pushed.json["expires_in"] == .integer(60))
      let url = client.naming(pushed)
      let redirect = try await client.provider.settle(authorizeURL: url)
      let items = URLComponents(string: redirect)?.queryItems ?? []
      #expect(items.contains { $0.name == "state" && $0.value == "state-1" })
      let code = items.first { $0.name == "code" }?.value ?? ""
      #expect(try await client.redeem(code).status == 200)
      await #expect(throws: ControlError.self) { try await client.provider.settle(authorizeURL: url) }
    }
  }

  @Test("the name dies after its time, and is its own client's alone")
  func expiry() async throws {
    try await withSandbox {
      $0.pushedRequests = .offered
      $0.clients.append(
        SandboxClient(id: "other-app", name: "Other", redirectURIs: [], postLogoutRedirectURIs: []))
    } _: { client async throws in
      let foreign = client.naming(try await client.push()).replacingOccurrences(
        of: "sample-app", with: "other-app")
      #expect(try await client.browser.get(foreign).status == 400)
      let late = client.naming(try await client.push())
      await client.provider.advanceClock(seconds: 61)
      let page = try await client.browser.get(late)
      #expect(page.status == 400)
      #expect(page.location == nil)
    }
  }

  @Test(
    "what could not be sent through a browser cannot be pushed",
    arguments: [
      (["client_id": nil], "invalid_client"), (["client_secret": "x"], "invalid_client"),
      (["redirect_uri": "https://evil.example/"], "invalid_request"),
      (["code_challenge_method": "plain"], "invalid_request"),
      (["response_type": "token"], "unsupported_response_type"),
      (["request_uri": "urn:x"], "invalid_request"),
    ] as [([String: String?], String)])
  func refused(_ change: [String: String?], _ code: String) async throws {
    try await withSandbox {
      $0.pushedRequests = .offered
    } _: { client async throws in
      let reply = try await client.push(change)
      #expect(reply.status >= 400)
      #expect(reply.json["error"] == .string(code))
    }
  }

  @Test("required, nothing else is taken")
  func required() async throws {
    try await withSandbox {
      $0.pushedRequests = .required
    } _: { client async throws in
      let metadata = try await client.browser.get("/.well-known/openid-configuration").json
      #expect(metadata["require_pushed_authorization_requests"] == .bool(true))
      let reply = try await client.browser.get(client.authorize())
      #expect(reply.parameters["error"] == "invalid_request")
      #expect(try await client.push().status == 201)
    }
  }
}

extension TestClient {
  /// Pushes the parameters of ``authorize(_:appending:)``.
  func push(_ changes: [String: String?] = [:]) async throws -> Reply {
    let items = URLComponents(string: authorize(changes))?.queryItems ?? []
    return try await browser.post("/par", items.map { ($0.name, $0.value ?? "") })
  }

  func naming(_ pushed: Reply) -> String {
    browser.issuer + "/authorize?client_id=sample-app&request_uri="
      + (pushed.json["request_uri"]?.string ?? "")
  }
}
