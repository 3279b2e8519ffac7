// A provider that forbids offline access: a default scope is left out, and a configured scope is named in the
// error.

import EnrollRules
import EnrollSteps
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@Suite("The default offline_access where the provider forbids it")
struct OfflineAccessTests {
  private static let refusals: [(String, Int)] = [("invalid_scope", 400), ("not_allowed", 400)]

  private func scopes(_ url: String, _ bench: Bench) -> String {
    let query = url.split(separator: "?").last.map(String.init) ?? ""
    let pairs = (try? FormEncoding.decode(Array(query.utf8))) ?? []
    return pairs.first { $0.0 == "scope" }?.1 ?? ""
  }

  @Test("a redirect with invalid_scope goes on in the browser, as the same transaction, without it")
  func redirect() throws {
    let bench = try Bench([])
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(prompt: "login"), cancellation: nil)
    let back = bench.provider.refuse(begun.url, error: "invalid_scope")
    let next = try #require(
      try engine.signIn.resume(back, mayContinueInBrowser: true, cancellation: nil).nextURL)
    expect(scopes(next, bench), is: "openid profile")
    #expect(next.contains("prompt=login"))
    try expect(engine.transactions.transactionStatus(begun.transactionID), is: .pending)
    #expect(bench.seen.reported.isEmpty)
    // An answer to the first request is no longer accepted.
    expect(
      code { _ = try engine.signIn.resume(back, mayContinueInBrowser: true, cancellation: nil) },
      is: .unsolicited)
    let settled = try engine.signIn.resume(
      bench.provider.signIn(at: next), mayContinueInBrowser: true, cancellation: nil)
    expect(settled.transactionID, is: begun.transactionID)
    expect(engine.state, is: .active(.confirmed))
  }

  @Test("so does a code that the token endpoint refuses, after the password", arguments: refusals)
  func exchange(error: String, status: Int) throws {
    let bench = try Bench([])
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    bench.provider.next(.token, .status(status, body: #"{"error":"\#(error)"}"#))
    let settled = try engine.signIn.resume(
      bench.provider.signIn(at: begun.url), mayContinueInBrowser: true, cancellation: nil)
    let next = try #require(settled.nextURL)
    expect(scopes(next, bench), is: "openid profile")
    _ = try engine.signIn.resume(
      bench.provider.signIn(at: next), mayContinueInBrowser: true, cancellation: nil)
    expect(engine.state, is: .active(.confirmed))
  }

  @Test("a pushed request that is refused is pushed again without it")
  func pushed() throws {
    let bench = try Bench([("pushedRequests", .string("always"))])
    bench.provider.change { $0.takesPushedRequests = true }
    bench.provider.next(.pushed, .status(400, body: #"{"error":"invalid_scope"}"#))
    _ = try bench.engine().signIn.begin(SignInOptions(), cancellation: nil)
    let bodies = bench.provider.requests(.pushed).map { String(decoding: $0.body, as: UTF8.self) }
    #expect(
      bodies.count == 2 && bodies[0].contains("offline_access") && !bodies[1].contains("offline_access"))
  }

  @Test("it is remembered, in every process, until the account is deregistered")
  func remembered() throws {
    let bench = try Bench([])
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    // A host that cannot open another URL gets the error.
    let back = bench.provider.refuse(begun.url, error: "invalid_scope")
    guard case .failed(let error) = try engine.signIn.resume(back, cancellation: nil).ending else {
      throw Unexpected(what: "no failure")
    }
    #expect(error.message.contains("the next sign-in leaves offline_access out"))
    let other = bench.engine()
    let again = try other.signIn.begin(SignInOptions(), cancellation: nil)
    expect(scopes(again.url, bench), is: "openid profile")
    let chosen = try other.signIn.begin(
      SignInOptions(scopes: ["openid", "offline_access"]), cancellation: nil)
    expect(scopes(chosen.url, bench), is: "openid offline_access")
    _ = try other.logout.deregister(cancellation: nil)
    try expect(
      scopes(other.signIn.begin(SignInOptions(), cancellation: nil).url, bench),
      is: "openid profile offline_access")
  }

  @Test("a scope that was configured or asked for is named in the error, and nothing goes on")
  func configured() throws {
    for (error, isCode) in [("invalid_scope", false), ("not_allowed", true)] {
      let bench = try Bench(scopes: ["openid", "offline_access"])
      let engine = bench.engine()
      let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
      bench.provider.next(.token, .status(400, body: #"{"error":"\#(error)"}"#))
      let back =
        isCode ? bench.provider.signIn(at: begun.url) : bench.provider.refuse(begun.url, error: error)
      let settled = try engine.signIn.resume(back, mayContinueInBrowser: true, cancellation: nil)
      guard case .failed(let reason) = settled.ending else { throw Unexpected(what: "no failure") }
      #expect(settled.nextURL == nil && reason.message.contains("asked: openid offline_access"))
      #expect(reason.field == "scopes" && !reason.message.contains("the next sign-in"))
      try expect(bench.record.refusesOfflineAccess, is: false)
    }
  }

  @Test("without it the refusal is about another scope, and ends the sign-in")
  func others() throws {
    let bench = try Bench([])
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    let back = bench.provider.refuse(begun.url, error: "invalid_scope")
    let next = try #require(
      try engine.signIn.resume(back, mayContinueInBrowser: true, cancellation: nil).nextURL)
    let refused = bench.provider.refuse(next, error: "invalid_scope")
    let settled = try engine.signIn.resume(refused, mayContinueInBrowser: true, cancellation: nil)
    #expect(settled.nextURL == nil && engine.state.kind == .registrationFailed)
  }

  @Test("a device is asked for again without it")
  func device() throws {
    let bench = try Bench([])
    bench.provider.next(.deviceAuthorization, .status(400, body: #"{"error":"invalid_scope"}"#))
    _ = try bench.engine().signIn.begin(SignInOptions(kind: .device), cancellation: nil)
    let bodies = bench.provider.requests(.deviceAuthorization).map {
      String(decoding: $0.body, as: UTF8.self)
    }
    #expect(
      bodies.count == 2 && bodies[0].contains("offline_access") && !bodies[1].contains("offline_access"))
  }

  @Test("an account that remembers it is stored and read again")
  func stored() throws {
    var record = AccountRecord()
    (record.refusesOfflineAccess, record.narrowsSessions, record.isAccessRefused) = (true, true, true)
    let document = AccountDocument(account: .default, lineage: "l", record: record)
    try expect(AccountDocument(decoding: document.encoded()), is: document)
  }
}
