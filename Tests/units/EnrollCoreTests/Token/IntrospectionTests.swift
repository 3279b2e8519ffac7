import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollStore
import EnrollTesting
import Expectations
import Testing

@Suite("Introspection (RFC 7662)")
struct IntrospectionTests {
  @Test("asked as a public client first, with the access token where that is not enough (§2.1)")
  func whole() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    let told = try engine.introspection.introspect(.refreshToken, cancellation: nil)
    expect(told["active"], is: .bool(true))
    let requests = bench.provider.requests(.introspection)
    expect(requests.count, is: 2)
    let body = String(decoding: requests[0].body, as: UTF8.self)
    expect(body, is: "token=refresh-2&token_type_hint=refresh_token&client_id=native")
    #expect(!requests[0].headers.contains { $0.name == "Authorization" })
    #expect(requests[1].headers.contains(HTTPHeader("Authorization", "Bearer access-2")))
    _ = try engine.introspection.introspect(.accessToken, cancellation: nil)
    let last = try #require(bench.provider.requests(.introspection).last)
    #expect(
      String(decoding: last.body, as: UTF8.self).hasPrefix("token=access-2&token_type_hint=access_token"))
  }

  @Test("a token that is bound to a key is shown with its proof (RFC 9449 §7)")
  func bound() throws {
    let bench = try Bench()
    bench.provider.change { $0.dpopAlgorithms = ["ES256"] }
    let told = try bench.signedIn().introspection.introspect(.accessToken, cancellation: nil)
    expect(told["active"], is: .bool(true))
    let last = try #require(bench.provider.requests(.introspection).last)
    #expect(last.headers.contains(HTTPHeader("Authorization", "DPoP access-2")))
    #expect(last.headers.contains { $0.name == "DPoP" })
  }

  @Test("without a session, an endpoint or a refresh token there is nothing to ask")
  func impossible() throws {
    let bench = try Bench()
    expect(
      code { _ = try bench.engine().introspection.introspect(.accessToken, cancellation: nil) },
      is: .reauthenticate)
    let silent = try Bench()
    silent.provider.change { $0.metadata = { $0["introspection_endpoint"] = nil } }
    let engine = try silent.signedIn()
    expect(
      code { _ = try engine.introspection.introspect(.accessToken, cancellation: nil) }, is: .unsupported)
    let short = try Bench()
    short.provider.change { $0.givesRefreshToken = false }
    let other = try short.signedIn()
    expect(code { _ = try other.introspection.introspect(.refreshToken, cancellation: nil) }, is: .notFound)
  }

  @Test("the token of a session that is over, refused or expired is not sent")
  func living() throws {
    let changes: [(Bench) throws -> Void] = [
      {
        try $0.store.update(.default) { record throws(EnrollError) in record.sessionEnded = "invalid_grant" }
      },
      {
        try $0.store.update(.default) { record throws(EnrollError) in
          record.confirmed?.refreshToken = nil
          record.isAccessRefused = true
        }
      },
      { $0.clock.advance(seconds: 4000) },
    ]
    for (change, expected) in zip(changes, [EnrollError.Code.reauthenticate, .reauthenticate, .expired]) {
      let bench = try Bench()
      let engine = try bench.signedIn()
      try change(bench)
      for subject in Introspection.Subject.allCases {
        expect(code { _ = try engine.introspection.introspect(subject, cancellation: nil) }, is: expected)
      }
      expect(code { _ = try engine.identity.userinfo(cancellation: nil) }, is: expected)
      #expect(bench.provider.count(.introspection) == 0 && bench.provider.count(.userinfo) == 0)
    }
  }

  @Test("a back end's session token is not shown to the issuer")
  func bff() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    try bench.store.update(.default) { record throws(EnrollError) in record.confirmed?.source = .bff }
    expect(
      code { _ = try engine.introspection.introspect(.accessToken, cancellation: nil) }, is: .unsupported)
    expect(bench.provider.count(.introspection), is: 0)
  }

  static let refused: [(Int, String, EnrollError.Code)] = [
    (200, "{}", .responseInvalid), (200, #"{"active":"true"}"#, .responseInvalid),
    (200, #"{"active":1}"#, .responseInvalid), (200, "e30.e30.", .responseInvalid),
    (200, "[true]", .responseInvalid), (302, "", .responseInvalid), (404, "", .responseInvalid),
    (401, "", .oauth), (403, "", .oauth), (400, #"{"error":"invalid_request"}"#, .oauth), (503, "", .server),
  ]

  @Test(
    "an answer that does not say plainly whether the token is active is refused (§2.2)", arguments: refused)
  func bad(status: Int, body: String, code: EnrollError.Code) {
    expect(refusal { try Introspection.accept(Fixture.json(body, status: status)) }?.code, is: code)
  }

  @Test("a member that is null is absent")
  func nulls() throws {
    let body = #"{"active":true,"scope":null,"exp":null,"ext":{"a":null,"b":1}}"#
    let told = try Introspection.accept(Fixture.json(body))
    expect(told, is: JSONObject([("active", .bool(true)), ("ext", .object([("b", .integer(1))]))]))
  }

  @Test("inactive is an answer")
  func inactive() throws {
    try expect(Introspection.accept(Fixture.json(#"{"active":false}"#))["active"], is: .bool(false))
  }
}
