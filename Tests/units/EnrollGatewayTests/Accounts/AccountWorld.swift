// A gateway with two providers, `fake` and `other`, and users who sign in at these providers by name.

import EnrollRules
import EnrollJSON
import EnrollTesting
import Foundation
import Testing

@testable import EnrollGateway
@testable import EnrollGatewayStore
import EnrollHTTP

extension SQLiteStore {
  func count(_ table: String) throws -> Int64 { try number("SELECT count(*) FROM \(table)") }
}

struct AccountWorld {
  let world: TestGateway

  init(_ more: [(String, JSON)] = []) throws {
    let own: [(String, JSON)] = [
      ("issuer", .string("https://id.example")), ("clientId", .string("gateway")),
      ("clientSecret", .string("a gateway's own secret")),
    ]
    world = try TestGateway(
      [("providers", .object([("fake", .object(own)), ("other", .object(own))]))] + more)
  }

  var store: SQLiteStore { world.store }
  var now: UnixTime { world.clock.wallTime() }

  /// Sets the user who signs in next at both providers. All users have the same e-mail address.
  /// - Parameter asked: how many seconds ago the user entered the password at the provider (`auth_time`);
  ///   nil: the provider does not say.
  func person(_ name: String, sid: String? = nil, asked: Int64? = 0) {
    let time = asked.map { JSON.integer((now - $0).seconds) }
    world.provider.change {
      $0.subject = name
      $0.claims = {
        $0["email"] = .string("somebody@example.org")
        $0["email_verified"] = .bool(true)
        $0["auth_time"] = time
        $0["sid"] = sid.map { .string($0) }
      }
    }
  }

  func key(_ name: String, at provider: String = "fake") -> IdentityKey {
    IdentityKey(provider: provider, subject: "https://id.example " + name)
  }

  /// A browser in which this person has just signed in.
  func browser(_ name: String, at provider: String = "fake") -> TestBrowser {
    let browser = TestBrowser(world.gateway)
    signIn(browser, name, at: provider)
    return browser
  }

  @discardableResult
  func signIn(_ browser: TestBrowser, _ name: String, at provider: String = "fake") -> WebResponse {
    person(name)
    return browser.comeBack(from: browser.get("/v1/auth/\(provider)"), by: world.provider)
  }

  func account(_ name: String, at provider: String = "fake") throws -> AccountID? {
    try store.account(of: key(name, at: provider))
  }

  func formToken(_ browser: TestBrowser) throws -> String {
    let page = text(browser.get("/account"))
    let found = try #require(page.range(of: #"name="token" value=""#))
    return String(page[found.upperBound...].prefix { $0 != "\"" })
  }

  /// Presses a button on a page of this browser's session.
  func press(_ browser: TestBrowser, _ path: String, _ fields: [(String, String)] = []) throws
    -> WebResponse
  {
    browser.post(path, form: [("token", try formToken(browser))] + fields)
  }

  func startConnecting(_ browser: TestBrowser, _ provider: String = "other") throws -> WebResponse {
    try press(browser, "/account/connect", [("provider", provider)])
  }

  /// Connects an identity of this user to the account of the browser: goes through all steps.
  @discardableResult
  func connect(_ browser: TestBrowser, _ name: String, at provider: String = "other") throws -> WebResponse {
    let start = try startConnecting(browser, provider)
    person(name)
    return browser.comeBack(from: start, by: world.provider)
  }
}
