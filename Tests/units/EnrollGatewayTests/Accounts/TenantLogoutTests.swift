// Back-channel logout of a provider whose issuer is a template: a token counts only for the tenant that
// signed it.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@testable import EnrollGateway
import EnrollHTTP

@Suite("back-channel logout of many tenants")
struct TenantLogoutTests {
  private static let template = "https://login.example/{tenantid}/v2.0"
  private static let place = "https://login.example/common/v2.0/.well-known/openid-configuration"
  private static let first = "72f988bf-86f1-41af-91ab-2d7cd011db47"
  private static let second = "9188040d-6c67-4c5b-b112-36a304b66dad"
  private static let third = "f8cdef31-a31e-4b4a-93e4-5f571e91255a"

  /// A transport to the fake provider, which also serves the discovery document at the template's URL.
  private final class Place: Transport {
    let provider: FakeProvider

    init(_ provider: FakeProvider) { self.provider = provider }

    var trust: String { provider.trust }

    func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse {
      var request = request
      if request.url == TenantLogoutTests.place {
        request.url = "https://id.example/.well-known/openid-configuration"
      }
      return try provider.send(request, cancellation: cancellation)
    }
  }

  private let world: TestGateway
  private let provider: FakeProvider

  init() throws {
    let settings: [(String, JSON)] = [
      ("issuer", .string(Self.template)), ("discoveryUri", .string(Self.place)),
      ("tenants", .array([.string(Self.first), .string(Self.second)])), ("clientId", .string("gateway")),
      ("clientSecret", .string("a gateway's own secret")),
    ]
    var made: FakeProvider?
    world = try TestGateway([("providers", .object([("entra", .object(settings))]))]) { clock in
      let provider = try FakeProvider(clock: clock)
      made = provider
      return Place(provider)
    }
    provider = try #require(made)
    provider.change { $0.metadata = { $0["issuer"] = .string(Self.template) } }
  }

  private static func issuer(_ tenant: String) -> String { "https://login.example/\(tenant)/v2.0" }

  /// A browser in which alice of this tenant has signed in; she has the same `sub` at each tenant.
  private func browser(_ tenant: String, sid: String? = nil) -> TestBrowser {
    provider.change {
      $0.subject = "alice"
      $0.claims = {
        $0["iss"] = .string(Self.issuer(tenant))
        $0["tid"] = .string(tenant)
        $0["sid"] = sid.map { .string($0) }
      }
    }
    let browser = TestBrowser(world.gateway)
    let back = provider.signIn(at: browser.get("/v1/auth/entra").header("Location") ?? "")
    let path = String(back.dropFirst(TestGateway.origin.count))
    let named = path.firstRange(of: "&iss=").map { String(path[..<$0.lowerBound]) } ?? path
    browser.get(named + "&iss=" + PercentEncoding.encode(Self.issuer(tenant)))
    return browser
  }

  private func token(_ changes: [(String, JSON?)] = []) throws -> String {
    let now = world.clock.wallTime().seconds
    var claims = JSONObject([
      ("iss", .string(Self.issuer(Self.first))), ("tid", .string(Self.first)), ("aud", .string("gateway")),
      ("iat", .integer(now)), ("exp", .integer(now + 120)), ("jti", .string("logout-1")),
      ("sub", .string("alice")), ("events", .object([(LogoutToken.event, .object([]))])),
    ])
    for (name, value) in changes { claims[name] = value }
    return try provider.signed(claims, header: [("typ", .string("logout+jwt"))])
  }

  private func send(_ token: String) -> Int {
    world.gateway.answer(
      WebRequest(
        .post, "/v1/auth/entra/backchannel-logout",
        headers: [HTTPHeader("Content-Type", FormEncoding.contentType)],
        body: FormEncoding.encode([("logout_token", token)]))
    ).status
  }

  private func isSignedIn(_ browser: TestBrowser) -> Bool { browser.get("/account").status == 200 }

  @Test("a tenant's token ends the sessions of its own person, and nobody's at another tenant")
  func tenants() throws {
    let browsers = [browser(Self.first, sid: "s"), browser(Self.second, sid: "s")]
    expect(browsers.map(isSignedIn), is: [true, true])
    expect(send(try token([("jti", .string("1"))])), is: 200)
    expect(browsers.map(isSignedIn), is: [false, true])
    let other: [(String, JSON?)] = [
      ("iss", .string(Self.issuer(Self.second))), ("tid", .string(Self.second)), ("jti", .string("1")),
    ]
    // A `jti` is unique only for its issuer, and so is a `sid`.
    expect(send(try token(other + [("sub", nil), ("sid", .string("s"))])), is: 200)
    expect(browsers.map(isSignedIn), is: [false, false])
    expect(send(try token(other)), is: 400)
  }

  @Test("`tid` and `iss` name one tenant, which is allowed; the template is no issuer")
  func refused() throws {
    let browser = browser(Self.first)
    for changes in [
      [("tid", nil)], [("tid", .string("common"))], [("tid", .integer(1))], [("tid", .string(Self.second))],
      [("iss", nil)], [("iss", .string(Self.template))], [("iss", .string(Self.issuer(Self.second)))],
      [("iss", .string(Self.issuer("common")))], [("iss", .string(Self.issuer(Self.first) + "/"))],
      [("iss", .string(Self.issuer(Self.third))), ("tid", .string(Self.third))],
      [("iss", .string(Self.template)), ("tid", .string("{tenantid}"))],
    ] as [[(String, JSON?)]] { expect(send(try token(changes)), is: 400, "\(changes)") }
    #expect(isSignedIn(browser))
    expect(send(try token()), is: 200)
    #expect(!isSignedIn(browser))
  }

  @Test("one tenant's own key signs nothing for another")
  func keys() throws {
    let browsers = [browser(Self.first), browser(Self.second)]
    provider.change {
      $0.keySet = { set in
        set["keys"] = .array(
          (set["keys"]?.array ?? []).map { key in
            var key = key.object ?? JSONObject()
            key["issuer"] = .string(Self.issuer(Self.second))
            return .object(key)
          })
      }
    }
    world.clock.advance(seconds: 100_000)
    expect(send(try token()), is: 400)
    expect(
      send(
        try token([("iss", .string(Self.issuer(Self.second))), ("tid", .string(Self.second))])), is: 200)
    expect(browsers.map(isSignedIn), is: [true, false])
  }
}
