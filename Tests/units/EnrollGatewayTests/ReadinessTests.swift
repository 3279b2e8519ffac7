// Tests of `/readyz`, which answers from memory with the result of the last check of the store; and of paths that need
// no database.

import EnrollRules
import EnrollTesting
import Expectations
import Testing

@testable import EnrollGateway
@testable import EnrollGatewayStore
import EnrollHTTP

@Suite("whether the gateway is ready")
struct ReadinessTests {
  let world: TestGateway
  let browser: TestBrowser

  init() throws {
    world = try TestGateway()
    browser = TestBrowser(world.gateway)
  }

  @Test(
    "it is ready when the last look found the store well, not before the first, and not long after the last"
  )
  func looks() {
    expect(browser.get("/readyz").status, is: 503)
    world.gateway.probe()
    expect(browser.get("/readyz").status, is: 204)
    world.clock.advance(seconds: Readiness.staleSeconds - 1)
    expect(browser.get("/readyz").status, is: 204)
    world.clock.advance(seconds: 1)
    expect(browser.get("/readyz").status, is: 503)
    world.gateway.probe()
    expect(browser.get("/readyz").status, is: 204)
    expect(browser.get("/livez").status, is: 204)
  }

  @Test("a store that stops answering is noticed by the next look, and said once")
  func closed() {
    // If the result is false, the store does not answer, and the caller checks more often.
    #expect(world.gateway.probe())
    world.store.close()
    expect(browser.get("/readyz").status, is: 204)
    for _ in 0..<3 { #expect(!world.gateway.probe()) }
    expect(browser.get("/readyz").status, is: 503)
    expect(browser.get("/livez").status, is: 204)
    expect(world.log.all.filter { $0.hasPrefix("not ready: ") }.count, is: 1)
  }

  @Test(
    "a full database is not ready, though it can be read; it is looked at every fifteen seconds, and every second while it is full"
  )
  func full() throws {
    _ = try world.store.number("PRAGMA max_page_count = 1")
    world.gateway.probe()
    expect(browser.get("/readyz").status, is: 503)
    #expect(world.log.all.contains { $0.hasPrefix("not ready: The disk that holds") })
    _ = try world.store.number("PRAGMA max_page_count = 100000")
    world.gateway.probe()
    expect(browser.get("/readyz").status, is: 503)
    world.clock.advance(seconds: 1)
    world.gateway.probe()
    expect(browser.get("/readyz").status, is: 204)
    expect(world.log.all.last, is: "ready again")
    // The disk is full again: the row of the probe is deleted and its page is freed, so the next probe finds
    // no page for the row.
    for text in ["DELETE FROM write_probe", "VACUUM", "PRAGMA max_page_count = 1"] {
      _ = try world.store.number(text)
    }
    world.clock.advance(seconds: Readiness.spaceCheckSeconds - 1)
    world.gateway.probe()
    expect(browser.get("/readyz").status, is: 204)
    world.clock.advance(seconds: 1)
    world.gateway.probe()
    expect(browser.get("/readyz").status, is: 503)
  }

  @Test(
    "what asks no database waits for none of its threads",
    arguments: [
      ("/readyz", false, Lane.here), ("/livez", false, .here), ("/", false, .here),
      ("/account", false, .here),
      ("/", true, .database), ("/account", true, .database), ("/login", true, .here),
      ("/nowhere", true, .here),
    ])
  func lanes(path: String, hasCookie: Bool, lane: Lane) {
    let headers = hasCookie ? [HTTPHeader("Cookie", "\(GatewaySessions.sessionCookie)=x")] : []
    var request = WebRequest(.get, path, headers: headers)
    expect(world.gateway.lane(for: &request), is: lane)
  }

  @Test("without a cookie the first page and the account lead to the sign-in, even when the store is away")
  func withoutStore() {
    world.store.close()
    for path in ["/", "/account"] { expect(browser.get(path).header("Location"), is: "/login") }
  }
}
