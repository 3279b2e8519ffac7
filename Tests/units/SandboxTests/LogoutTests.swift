import EnrollJSON
import EnrollSandbox
import Foundation
import Testing

@Suite struct LogoutTests {
  @Test("asked, then confirmed: the session and its tokens end, and the app gets its state back")
  func whole() async throws {
    try await withSandbox { client async throws in
      let browser = client.browser
      let code = try await browser.signIn(browser.open(client.authorize())).parameters["code"] ?? ""
      let tokens = try await client.redeem(code).json
      let hint = tokens["id_token"]?.string ?? ""
      let path = endSession([
        "id_token_hint": hint, "post_logout_redirect_uri": "com.example.app:/signed-out", "state": "s-9",
      ])
      let page = try await browser.get(path)
      #expect(page.text.contains("<h1>Sign out?</h1>"))
      let reply = try await browser.post("/end-session", page.hiddenFields + [("action", "sign-out")])
      #expect(reply.location == "com.example.app:/signed-out?state=s-9")
      #expect(try await client.refresh(tokens["refresh_token"]?.string ?? "").status == 400)
      #expect(try await browser.open(client.authorize()).text.contains("<h1>Sign in</h1>"))
      #expect(await client.provider.sessions.map(\.end) == ["signedOut"])
    }
  }

  @Test("stay signed in changes nothing")
  func stay() async throws {
    try await withSandbox { client async throws in
      let browser = client.browser
      _ = try await browser.signIn(browser.open(client.authorize()))
      let page = try await browser.get(endSession(["client_id": "sample-app"]))
      let reply = try await browser.post("/end-session", page.hiddenFields + [("action", "stay")])
      #expect(reply.text.contains("You are still signed in"))
      #expect(try await browser.open(client.authorize()).parameters["code"] != nil)
    }
  }

  @Test("with nobody signed in the browser returns at once, or is told")
  func nobody() async throws {
    try await withSandbox { client async throws in
      let target = [
        "client_id": "sample-app", "post_logout_redirect_uri": "http://127.0.0.1:4711/signed-out",
      ]
      #expect(
        try await client.browser.get(endSession(target)).location == "http://127.0.0.1:4711/signed-out")
      #expect(try await client.browser.get("/end-session").text.contains("You are signed out"))
    }
  }

  @Test("an address that is not registered, and a foreign id_token, are refused")
  func refused() async throws {
    try await withSandbox { client async throws in
      let cases: [[String: String]] = [
        ["client_id": "sample-app", "post_logout_redirect_uri": "https://evil.example/"],
        ["post_logout_redirect_uri": "com.example.app:/signed-out"], ["id_token_hint": "a.b.c"],
      ]
      for parameters in cases {
        let reply = try await client.browser.get(endSession(parameters))
        #expect(reply.status == 400 && reply.location == nil)
      }
      await client.provider.add(Fault(.sign(.foreignKey), at: .token))
      let forged = try await client.tokens()["id_token"]?.string ?? ""
      #expect(try await client.browser.get(endSession(["id_token_hint": forged])).status == 400)
    }
  }

  private func endSession(_ parameters: [String: String]) -> String {
    var components = URLComponents()
    components.queryItems = parameters.sorted { $0.key < $1.key }.map { URLQueryItem(name: $0, value: $1) }
    return "/end-session?" + (components.percentEncodedQuery ?? "")
  }
}
