import EnrollJSON
@testable import EnrollSandbox
import Foundation
import Testing

@Suite("Another app (flows.md §9)")
struct OtherAppTests {
  private func json(_ client: TestClient, _ path: String, _ members: [(String, JSON?)]) async throws
    -> Reply
  {
    try await client.browser.send(
      "POST", path, headers: ["Content-Type": "application/json"],
      body: Data(JSON.object(members).serialized()))
  }

  private func begin(_ client: TestClient) async throws -> (session: String, link: String) {
    let reply = try await client.browser.send("POST", "/other-app/init")
    #expect(reply.status == 200)
    return (reply.json["sessionId"]?.string ?? "", reply.json["link"]?.string ?? "")
  }

  private func artefact(_ redirect: String?) -> String? {
    URLComponents(string: redirect ?? "")?.queryItems?.first { $0.name == "artefactId" }?.value
  }

  private func complete(_ client: TestClient, _ session: String, _ artefact: String?) async throws -> Reply {
    try await json(
      client, "/other-app/complete",
      [("sessionId", .string(session)), ("artefactId", artefact.map { .string($0) })])
  }

  @Test("init, the page of the other app, the app link back, complete: tokens of who was chosen there")
  func whole() async throws {
    try await withSandbox { client async throws in
      let (session, link) = try await begin(client)
      #expect(link.hasPrefix(client.browser.issuer + "/other-app?request=") && !link.contains(session))
      let page = try await client.browser.get(link)
      #expect(page.text.contains("Continue as Bob Builder"))
      #expect(
        page.headers["content-security-policy"]?.contains("form-action 'self' com.example.app:") == true)
      let back = try await client.browser.post("/other-app", page.hiddenFields + [("user", "bob")])
      #expect(back.location?.hasPrefix("com.example.app:/callback?artefactId=") == true)
      let tokens = try await complete(client, session, artefact(back.location)).json
      #expect(TestIDToken(tokens["id_token"]?.string)?.claims["sub"] == .string("user-bob"))
      #expect(
        try await client.userinfo(tokens["access_token"]?.string ?? "").json["sub"] == .string("user-bob"))
      #expect(try await client.refresh(tokens["refresh_token"]?.string ?? "").status == 200)
      #expect(try await client.browser.get(link).status == 400, "a link works once")
    }
  }

  @Test("an artefact counts for its own session, once; a wrong one ends the session")
  func rules() async throws {
    try await withSandbox { client async throws in
      let (one, other) = (try await begin(client), try await begin(client))
      let mine = artefact(try await client.provider.approve(otherAppLink: one.link))
      let theirs = artefact(try await client.provider.approve(otherAppLink: other.link, user: "bob"))
      #expect(try await complete(client, one.session, theirs).json["error"] == .string("invalid_grant"))
      #expect(try await complete(client, one.session, mine).status == 400)
      #expect(try await complete(client, other.session, theirs).status == 200)
      #expect(try await complete(client, other.session, theirs).status == 400)
      #expect(try await complete(client, "unknown", mine).status == 400)
      #expect(try await complete(client, other.session, nil).json["error"] == .string("invalid_request"))

      let late = try await begin(client)
      let artefact = artefact(try await client.provider.approve(otherAppLink: late.link))
      await client.provider.advanceClock(seconds: 601)
      #expect(try await complete(client, late.session, artefact).status == 400)
      #expect(try await json(client, "/other-app/init", [("a", .integer(1))]).status == 400)
    }
  }

  @Test("cancelling tells nothing; the app still waits")
  func cancel() async throws {
    try await withSandbox { client async throws in
      let (_, link) = try await begin(client)
      let page = try await client.browser.get(link)
      let reply = try await client.browser.post("/other-app", page.hiddenFields + [("action", "cancel")])
      #expect(reply.status == 200 && reply.location == nil)
      #expect(try await client.browser.get(link).status == 200)
      #expect(try await client.browser.get("/other-app?request=unknown").status == 400)
    }
  }

  @Test("other names for the fields, and answers without an id_token or with a refresh token alone")
  func wishes() async throws {
    try await withSandbox { client async throws in
      _ = try await client.control(
        #"{"do":"otherApp","answer":"refreshTokenOnly","fields":{"sessionId":"sessionID","link":"digidRequest"}}"#
      )
      let reply = try await client.browser.send("POST", "/other-app/init").json
      let link = reply["digidRequest"]?.string ?? ""
      let settled = try await client.control(#"{"do":"otherApp","link":"\#(link)","user":"bob"}"#).json
      let tokens = try await json(
        client, "/other-app/complete",
        [
          ("sessionID", reply["sessionID"]),
          ("artefactId", artefact(settled["redirect"]?.string).map { .string($0) }),
        ]
      ).json
      #expect(tokens.object?.members.map(\.key) == ["refresh_token"])
      let renewed = try await client.refresh(tokens["refresh_token"]?.string ?? "").json
      #expect(TestIDToken(renewed["id_token"]?.string)?.claims["sub"] == .string("user-bob"))

      _ = try await client.control(#"{"do":"otherApp","answer":"withoutIDToken"}"#)
      let next = try await client.browser.send("POST", "/other-app/init").json
      let back = try await client.provider.approve(otherAppLink: next["digidRequest"]?.string ?? "")
      let plain = try await json(
        client, "/other-app/complete",
        [("sessionID", next["sessionID"]), ("artefactId", artefact(back).map { .string($0) })]
      ).json
      #expect(plain["access_token"] != nil && plain["id_token"] == nil)
      #expect(try await client.control(#"{"do":"otherApp","answer":"dance"}"#).status == 400)
      #expect(try await client.control(#"{"do":"otherApp","link":"nowhere"}"#).status == 400)
    }
  }
}
