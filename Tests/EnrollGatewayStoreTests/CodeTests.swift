// One-time codes of apps, on both databases (RFC 6749 §4.1.2, RFC 7636 §4.6).

import EnrollCore
import EnrollGateway
import Testing

@testable import EnrollGatewayStore

@Suite("One-time codes")
struct CodeTests {
  private let now = Sample.now

  private func add(_ code: NewAppCode, to store: any CountedStore) throws -> Account {
    try store.signIn(
      Sample.person("1", at: code.provider), newAccountID: Sample.id(), beginning: .code(code), at: now
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
    #expect(try redeem(code, in: store, for: session) == .begun(account))
    let live = try #require(try store.session(tokenHash: session.tokenHash, at: now + 2))
    #expect(live.account == account)
    #expect(live.app == "notes")
    #expect(live.device == "Pixel")
    #expect(live.identity.subject == "1")
    #expect(live.created == now + 1)
    #expect(live.expires == now + 1_001)
    #expect(try store.count("sessions") == 1)
  }

  @Test(
    "a code that is not known, came too late or is another provider's begins nothing",
    arguments: Database.installed)
  func refused(database: Database) throws {
    let store = try database.store()
    let code = Sample.code(lasting: 60)
    let account = try add(code, to: store)
    #expect(try redeem(Sample.code(), in: store) == .unknown)
    #expect(try redeem(code, in: store, provider: "apple") == .otherProvider)
    #expect(try redeem(code, in: store, provider: "goo\0gle") == .unknown)
    #expect(try redeem(code, in: store, after: 60) == .expired)
    #expect(try redeem(code, in: store, challenge: "other", after: 60) == .expired)
    #expect(try store.count("sessions") == 0)
    #expect(try redeem(code, in: store, after: 59) == .begun(account))
  }

  @Test("another verifier begins nothing and leaves the code good", arguments: Database.installed)
  func otherVerifier(database: Database) throws {
    let store = try database.store()
    let code = Sample.code()
    let account = try add(code, to: store)
    #expect(try redeem(code, in: store, challenge: "other") == .otherVerifier)
    #expect(try store.count("sessions") == 0)
    #expect(try redeem(code, in: store) == .begun(account))
  }

  @Test(
    "a code used again ends the session that it gave, whatever else was wrong",
    arguments: Database.installed)
  func reused(database: Database) throws {
    let store = try database.store()
    for (provider, challenge, seconds) in [
      ("google", "challenge", 2), ("apple", "challenge", 2), ("google", "other", 2),
      ("google", "challenge", 90),
    ] as [(String, String, Int64)] {
      let code = Sample.code()
      let account = try add(code, to: store)
      let session = Sample.session()
      let bystander = Sample.session()
      try store.begin(bystander, for: Sample.person("1"))
      #expect(try redeem(code, in: store, for: session) == .begun(account))
      #expect(
        try redeem(code, in: store, provider: provider, challenge: challenge, after: seconds) == .reused)
      #expect(try store.session(tokenHash: session.tokenHash, at: now) == nil)
      #expect(try store.session(tokenHash: bystander.tokenHash, at: now) != nil)
    }
  }

  @Test("a code redeemed twice with the same session counts as reused", arguments: Database.installed)
  func sameSession(database: Database) throws {
    let store = try database.store()
    let code = Sample.code()
    let account = try add(code, to: store)
    let session = Sample.session()
    #expect(try redeem(code, in: store, for: session) == .begun(account))
    #expect(try redeem(code, in: store, for: session) == .reused)
    #expect(try store.count("sessions") == 0)
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
      #expect(answers.filter { $0 == .begun(account) }.count == 1)
      #expect(answers.filter { $0 == .reused }.count == 31)
      #expect(try store.count("sessions") == 0)
    }
  }
}
