// One-time codes of apps, on SQLite and PostgreSQL (RFC 6749 §4.1.2, RFC 7636 §4.6).

import EnrollRules
import EnrollGateway
import Expectations
import Testing

@testable import EnrollGatewayStore

@Suite("One-time codes")
struct CodeTests {
  private let now = Sample.now

  private func add(_ code: NewAppCode, to store: any CountedStore) throws -> Account {
    try store.signIn(
      Sample.person("1", at: code.provider), newAccountID: Sample.id(), creating: .code(code), at: now
    ).account
  }

  private func redeem(
    _ code: NewAppCode, in store: any CountedStore, provider: String = "google",
    challenge: String = "challenge",
    for session: NewSession = Sample.session(), after seconds: Int64 = 1
  ) throws -> Redemption {
    try store.redeem(
      codeHash: code.codeHash, provider: provider, challenge: challenge, session: session, at: now + seconds
    )
  }

  @Test(
    "a code gives one session, of the app and the identity that it was made for",
    arguments: Database.installed)
  func begun(database: Database) throws {
    let store = try database.store()
    let code = Sample.code(app: "notes")
    let account = try add(code, to: store)
    let session = Sample.session(app: "another", device: "Pixel", idle: 1_000)
    try expect(redeem(code, in: store, for: session), is: .created(account))
    let live = try #require(try store.session(tokenHash: session.tokenHash, at: now + 2))
    expect(live.account, is: account)
    expect(live.app, is: "notes")
    expect(live.device, is: "Pixel")
    expect(live.identity.subject, is: "1")
    expect(live.created, is: now + 1)
    expect(live.expires, is: now + 1_001)
    try expect(store.count("sessions"), is: 1)
  }

  @Test(
    "a code that is not known, came too late or is another provider's begins nothing",
    arguments: Database.installed)
  func refused(database: Database) throws {
    let store = try database.store()
    let code = Sample.code(lasting: 60)
    let account = try add(code, to: store)
    try expect(redeem(Sample.code(), in: store), is: .unknown)
    try expect(redeem(code, in: store, provider: "apple"), is: .otherProvider)
    try expect(redeem(code, in: store, provider: "goo\0gle"), is: .unknown)
    try expect(redeem(code, in: store, after: 60), is: .expired)
    try expect(redeem(code, in: store, challenge: "other", after: 60), is: .expired)
    try expect(store.count("sessions"), is: 0)
    try expect(redeem(code, in: store, after: 59), is: .created(account))
  }

  @Test("another verifier begins nothing and leaves the code good", arguments: Database.installed)
  func otherVerifier(database: Database) throws {
    let store = try database.store()
    let code = Sample.code()
    let account = try add(code, to: store)
    try expect(redeem(code, in: store, challenge: "other"), is: .otherVerifier)
    try expect(store.count("sessions"), is: 0)
    try expect(redeem(code, in: store), is: .created(account))
  }

  @Test(
    "a code used again with its verifier ends the session that it gave, whatever else was wrong",
    arguments: Database.installed)
  func reused(database: Database) throws {
    let store = try database.store()
    for (provider, seconds) in [("google", 2), ("apple", 2), ("google", 90)] as [(String, Int64)] {
      let code = Sample.code()
      let account = try add(code, to: store)
      let session = Sample.session()
      let bystander = Sample.session()
      try store.begin(bystander, for: Sample.person("1"))
      try expect(redeem(code, in: store, for: session), is: .created(account))
      try expect(redeem(code, in: store, provider: provider, after: seconds), is: .reused)
      try expect(store.session(tokenHash: session.tokenHash, at: now), is: nil)
      try expect(store.session(tokenHash: bystander.tokenHash, at: now), isNot: nil)
    }
  }

  @Test(
    "a spent code without its verifier ends nothing: somebody saw it in a redirect",
    arguments: Database.installed)
  func seen(database: Database) throws {
    let store = try database.store()
    let code = Sample.code()
    let session = Sample.session()
    let account = try add(code, to: store)
    try expect(redeem(code, in: store, for: session), is: .created(account))
    for seconds: Int64 in [2, 90] {
      try expect(redeem(code, in: store, challenge: "other", after: seconds), is: .otherVerifier)
    }
    try expect(store.session(tokenHash: session.tokenHash, at: now), isNot: nil)
  }

  @Test("a code redeemed twice with the same session counts as reused", arguments: Database.installed)
  func sameSession(database: Database) throws {
    let store = try database.store()
    let code = Sample.code()
    let account = try add(code, to: store)
    let session = Sample.session()
    try expect(redeem(code, in: store, for: session), is: .created(account))
    try expect(redeem(code, in: store, for: session), is: .reused)
    try expect(store.count("sessions"), is: 0)
  }

  @Test(
    "of 32 redemptions at once one begins, and the others end what it gave", arguments: Database.installed)
  func raced(database: Database) throws {
    let place = try database.place()
    let store = try place.open()
    _ = try store.migrate()
    let stores = [store, try place.open(), try place.open()]
    for _ in 0..<5 {
      let code = Sample.code()
      let account = try add(code, to: store)
      let sessions = (0..<32).map { _ in Sample.session() }
      let now = now
      let answers = try onThreads(32) { number in
        try stores[number % 3].redeem(
          codeHash: code.codeHash, provider: "google", challenge: "challenge", session: sessions[number],
          at: now + 1)
      }
      expect(answers.filter { $0 == .created(account) }.count, is: 1)
      expect(answers.filter { $0 == .reused }.count, is: 31)
      try expect(store.count("sessions"), is: 0)
    }
  }
}
