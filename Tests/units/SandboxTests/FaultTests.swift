import EnrollJSON
@testable import EnrollSandbox
import Foundation
import Testing

@Suite struct FaultTests {
  @Test("an answer dropped after the rotation leaves the old refresh token spent")
  func droppedAfter() async throws {
    try await withSandbox { client async throws in
      let token = try await client.tokens()["refresh_token"]?.string ?? ""
      await client.provider.add(Fault(.dropAfter, at: .token, times: 1))
      await #expect(throws: URLError.self) { try await client.refresh(token) }
      #expect(await client.provider.sessions.map(\.generation) == [2])
      #expect(await client.provider.count(.token) == 2)
      #expect(try await client.refresh(token).status == 400)
    }
  }

  @Test("a request dropped before it was processed changed nothing")
  func droppedBefore() async throws {
    try await withSandbox { client async throws in
      let token = try await client.tokens()["refresh_token"]?.string ?? ""
      await client.provider.add(Fault(.dropBefore, at: .token, times: 1))
      await #expect(throws: URLError.self) { try await client.refresh(token) }
      #expect(await client.provider.sessions.map(\.generation) == [1])
      #expect(try await client.refresh(token).status == 200)
    }
  }

  @Test("half of a body arrives, then the connection ends")
  func half() async throws {
    try await withSandbox { client async throws in
      await client.provider.add(Fault(.halfBody, at: .jwks, times: 1))
      await #expect(throws: URLError.self) { try await client.browser.get("/jwks") }
      #expect(try await client.browser.get("/jwks").status == 200)
    }
  }

  @Test("after and times: which requests are struck")
  func plan() async throws {
    try await withSandbox { client async throws in
      await client.provider.add(Fault(.status(503, retryAfter: "7"), at: .jwks, after: 1, times: 2))
      var statuses: [Int] = []
      for _ in 0..<5 { statuses.append(try await client.browser.get("/jwks").status) }
      #expect(statuses == [200, 503, 503, 200, 200])
      #expect(await client.provider.count(.jwks) == 5)
      #expect(await client.provider.plannedFaults.isEmpty)
    }
  }

  @Test("a fault with no end strikes until the faults are cleared")
  func clear() async throws {
    try await withSandbox { client async throws in
      await client.provider.add(Fault(.status(500), at: .jwks))
      for _ in 0..<3 { #expect(try await client.browser.get("/jwks").status == 500) }
      await client.provider.clearFaults()
      #expect(try await client.browser.get("/jwks").status == 200)
    }
  }

  @Test("what a named fault does to the answer of the token endpoint", arguments: tokenCases)
  func token(_ named: TokenCase) async throws {
    try await withSandbox { client async throws in
      #expect(try await client.control(named.request).status == 200)
      let reply = try await client.redeem(client.code())
      #expect(named.check(reply), "\(named.request) gave \(reply.status) \(reply.text.prefix(300))")
      await client.provider.clearFaults()
      let proper = try await client.redeem(client.code())
      #expect(!named.check(proper), "the check of \(named.request) would not notice its absence")
    }
  }

  @Test("what a named fault does to an id_token", arguments: idTokenCases)
  func idToken(_ named: IDTokenCase) async throws {
    try await withSandbox { client async throws in
      func differs() async throws -> Bool {
        let text = try await client.redeem(client.code()).json["id_token"]?.string
        let token = try #require(TestIDToken(text))
        let isSigned = (try? token.isSigned(by: await client.browser.get("/jwks").json)) ?? false
        return named.check(token, isSigned)
      }
      #expect(try await client.control(named.request).status == 200)
      #expect(try await differs(), "\(named.request)")
      await client.provider.clearFaults()
      #expect(try await !differs(), "the check of \(named.request) would not notice its absence")
    }
  }

  @Test(
    "what a named fault does to the redirect",
    arguments: [
      ("omitIssuer", "{}", "iss", nil), ("wrongIssuer", "{}", "iss", "https://evil.example"),
      ("wrongState", "{}", "state", "other"), ("omitState", "{}", "state", nil),
      ("codeAndError", "{}", "error", "server_error"),
      ("oauthError", #"{"value":"server_error"}"#, "error", "server_error"),
      ("setParameter", #"{"member":"code","value":"x"}"#, "code", "x"),
    ] as [(String, String, String, String?)])
  func redirect(_ fault: String, _ extra: String, _ parameter: String, _ value: String?) async throws {
    try await withSandbox { client async throws in
      let more = extra == "{}" ? "" : "," + extra.dropFirst().dropLast()
      _ = try await client.control(
        #"{"do":"fault","endpoint":"authorize","fault":"\#(fault)"\#(more),"times":1}"#)
      let opened = try await client.browser.open(client.authorize())
      let reply = opened.location == nil ? try await client.browser.signIn(opened) : opened
      #expect(reply.location?.hasPrefix(TestClient.redirectURI + "?") == true)
      #expect(reply.parameters[parameter] == value)
    }
  }

  @Test("a code twice, and a fragment")
  func redirectText() async throws {
    try await withSandbox { client async throws in
      await client.provider.add(
        Fault(.repeatParameter("code"), .fragment("access_token=x"), at: .authorize, times: 1))
      let reply = try await client.browser.signIn(client.browser.open(client.authorize()))
      let location = reply.location ?? ""
      #expect(location.components(separatedBy: "code=").count == 3)
      #expect(location.hasSuffix("#access_token=x"))
    }
  }

  @Test(
    "what a named fault does to the set of keys",
    arguments: [
      ("emptyKeySet", 0), ("duplicateKeyID", 2), ("wrongUse", 1), ("weakKey", 1), ("tooManyKeys", 101),
    ])
  func keySet(_ fault: String, _ count: Int) async throws {
    try await withSandbox { client async throws in
      let proper = try await client.browser.get("/jwks").json
      _ = try await client.control(#"{"do":"fault","fault":"\#(fault)"}"#)
      let altered = try await client.browser.get("/jwks").json
      #expect(altered != proper)
      #expect(altered["keys"]?.array?.count == count)
    }
  }

  @Test("a wrong clock shows in the Date header")
  func date() async throws {
    try await withSandbox { client async throws in
      #expect(try await client.browser.get("/jwks").headers["date"] == "Fri, 15 Jan 2027 08:00:00 GMT")
      await client.provider.add(Fault(.dateOffset(seconds: -3600), at: .jwks))
      #expect(try await client.browser.get("/jwks").headers["date"] == "Fri, 15 Jan 2027 07:00:00 GMT")
    }
  }

  @Test("other issuer and subject where they can be told")
  func elsewhere() async throws {
    try await withSandbox { client async throws in
      _ = try await client.control(#"{"do":"fault","fault":"wrongIssuer","endpoint":"discovery"}"#)
      _ = try await client.control(#"{"do":"fault","fault":"wrongSubject","endpoint":"userinfo"}"#)
      let metadata = try await client.browser.get("/.well-known/openid-configuration").json
      #expect(metadata["issuer"] == .string("https://evil.example"))
      let token = try await client.tokens()["access_token"]?.string ?? ""
      #expect(try await client.userinfo(token).json["sub"] == .string("somebody-else"))
    }
  }

  @Test("every row of the table can be planned, and says where it strikes")
  func table() async throws {
    #expect(Set(FaultTable.rows.map(\.name)).count == FaultTable.rows.count)
    for row in FaultTable.rows {
      for endpoint in row.endpoints {
        let request = JSON.object([
          ("fault", .string(row.name)), ("endpoint", .string(endpoint.rawValue)),
          ("member", .string("exp")),
          ("value", row.value == .integer ? .integer(1) : .string("x")),
        ])
        #expect(try !Fault(request).effects.isEmpty, "\(row.name) at \(endpoint)")
      }
      #expect(FaultTable.text.contains("\(row.name)\n    \(row.summary)"))
    }
  }

  @Test(
    "a fault that cannot be planned is refused with the reason",
    arguments: [
      #"{"do":"fault","fault":"nonsense"}"#, #"{"do":"fault","fault":"delay"}"#,
      #"{"do":"fault","fault":"delay","value":"1"}"#, #"{"do":"fault","fault":"omitClaim"}"#,
      #"{"do":"fault","fault":"wrongNonce","endpoint":"jwks"}"#,
      #"{"do":"fault","fault":"dropAfter","times":0}"#,
      #"{"do":"fault","fault":"dropAfter","endpoint":"control"}"#, #"{"do":"dance"}"#, "[]", "{",
    ])
  func refused(_ request: String) async throws {
    try await withSandbox { client async throws in
      let reply = try await client.control(request)
      #expect(reply.status == 400)
      #expect(reply.json["error"]?.string?.isEmpty == false)
    }
  }
}
