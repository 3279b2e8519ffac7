import EnrollCore
import EnrollHost
import EnrollTesting
import Expectations
import Testing

@Suite("A token endpoint that has moved (R18, R33)")
struct MovedEndpointTests {
  private let fresh = [HTTPHeader("Cache-Control", "max-age=86400")]

  @Test("where the token endpoint has moved, discovery is asked again although it is fresh")
  func moved() throws {
    let bench = try Bench()
    bench.provider.change { [fresh] in $0.documentHeaders = fresh }
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 4000)
    bench.provider.change { $0.tokenPath = "/v2/token" }
    let asked = bench.provider.count(.discovery)
    guard case .expired(_, let wait, let error) = try engine.access() else {
      throw Unexpected(what: "not expired")
    }
    expect(error.httpStatus, is: 404)
    expect(bench.provider.count(.discovery), is: asked, "one page of a proxy changes nothing")
    bench.clock.advance(seconds: wait ?? 0)
    try expect(engine.token(), is: "access-3")
    expect(bench.provider.count(.discovery), is: asked + 1)
  }

  @Test("metadata that nobody doubts is not asked for again: an outage says nothing about the endpoints")
  func unmoved() throws {
    let bench = try Bench()
    bench.provider.change { [fresh] in $0.documentHeaders = fresh }
    let engine = try bench.signedIn()
    let asked = bench.provider.count(.discovery)
    for reply in [FakeProvider.Reply.status(503), .status(400, body: "<p>"), .status(401), .unreachable] {
      bench.clock.advance(seconds: 4000)
      bench.provider.next(.token, reply, reply)
      guard case .expired(_, let wait, _) = try engine.access() else { throw Unexpected(what: "not expired") }
      bench.clock.advance(seconds: wait ?? 0)
      _ = try engine.token()
    }
    expect(bench.provider.count(.discovery), is: asked)
  }

  @Test("where discovery fails too, the metadata at hand serves on, and it is asked again a minute later")
  func movedInVain() throws {
    let bench = try Bench()
    bench.provider.change { [fresh] in $0.documentHeaders = fresh }
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 4000)
    let asked = bench.provider.count(.discovery)
    bench.provider.next(.token, .status(404), .status(404), .status(404), .status(404))
    bench.provider.next(.discovery, .status(404))
    for failures in 1...2 {
      guard case .expired(_, let wait, _) = try engine.access() else { throw Unexpected(what: "not expired") }
      expect(bench.provider.count(.discovery), is: asked + failures - 1)
      bench.clock.advance(seconds: wait ?? 0)
    }
    try expect(engine.token(), is: "access-3")
    expect(bench.provider.count(.discovery), is: asked + 1)
  }
}
