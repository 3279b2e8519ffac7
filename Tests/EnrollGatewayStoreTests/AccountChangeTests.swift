// Changes of accounts, on both databases: who may make them, what they leave, and what happens when two of them meet.

import EnrollCore
import EnrollGateway
import Testing

@testable import EnrollGatewayStore

@Suite("Changes of accounts")
struct AccountChangeTests {
  private let now = Sample.now

  /// Somebody who is signed in, and the proof that they are.
  struct Person {
    let identity: Identity
    let account: String
    let session: NewSession

    var proof: RecentSignIn {
      RecentSignIn(tokenHash: session.tokenHash, account: account, since: Sample.now - 600)
    }
  }

  static func person(in store: any AccountStore, at now: UnixTime = Sample.now) throws -> Person {
    let (identity, session) = (Sample.person(), Sample.session())
    let account = try store.begin(session, for: identity, at: now).account.id
    return Person(identity: identity, account: account, session: session)
  }

  private func isLive(_ session: NewSession, in store: any AccountStore) throws -> Bool {
    try store.session(tokenHash: session.tokenHash, at: now) != nil
  }

  // MARK: Linking

  @Test(
    "a linked identity leads to the account; linked again it is already there",
    arguments: Database.installed)
  func link(database: Database) throws {
    let store = try database.store()
    let person = try Self.person(in: store)
    let other = Sample.person(at: "work")
    #expect(try store.account(of: other.key) == nil)
    #expect(try store.link(other, by: person.proof, at: now) == .linked)
    #expect(try store.link(other, by: person.proof, at: now) == .already)
    #expect(try store.account(of: other.key) == person.account)
    let found = try store.begin(Sample.session(), for: other)
    #expect(found.account.id == person.account && !found.isNew)
    #expect(try store.identities(ofAccount: person.account).map(\.key) == [person.identity.key, other.key])
  }

  @Test(
    "an identity that another account has stays there, whatever its e-mail address",
    arguments: Database.installed)
  func linkTaken(database: Database) throws {
    let store = try database.store()
    let person = try Self.person(in: store)
    let other = try Self.person(in: store)
    #expect(person.identity.email == other.identity.email)
    #expect(try store.link(other.identity, by: person.proof, at: now) == .other(account: other.account))
    #expect(try store.account(of: other.identity.key) == other.account)
    #expect(try isLive(other.session, in: store))
  }

  @Test(
    "only a live session of the account that began lately changes it", arguments: Database.installed)
  func notRecent(database: Database) throws {
    let store = try database.store()
    let person = try Self.person(in: store)
    let other = try Self.person(in: store)
    let new = Sample.person()
    _ = try store.link(Sample.person("second", at: "work"), by: person.proof, at: now)
    var late = person.proof
    late.since = now + 1
    var foreign = person.proof
    foreign.account = other.account
    var unknown = person.proof
    unknown.tokenHash = Sample.hash()
    var nobody = person.proof
    nobody.account = "nobody"
    for proof in [late, foreign, unknown, nobody] {
      #expect(try store.link(new, by: proof, at: now) == .notRecent)
      #expect(try store.unlink(person.identity.key, by: proof, at: now) == .notRecent)
      #expect(
        try store.merge(other.account, provenBy: other.identity.key, by: proof, at: now) == .notRecent)
      #expect(try store.deleteAccount(person.account, by: proof, at: now) == nil)
    }
    // One account's proof deletes no other.
    #expect(try store.deleteAccount(other.account, by: person.proof, at: now) == nil)
    try store.endSession(tokenHash: person.session.tokenHash)
    #expect(try store.link(new, by: person.proof, at: now) == .notRecent)
    #expect(try store.account(of: new.key) == nil)
    #expect(try store.count("accounts") == 2)
    #expect(try store.count("identities") == 3)
  }

  @Test(
    "one new identity that two accounts link at once belongs to one of them", arguments: Database.installed)
  func linkRace(database: Database) throws {
    let store = try database.store()
    let people = try (0..<8).map { _ in try Self.person(in: store) }
    for _ in 0..<10 {
      let new = Sample.person()
      let outcomes = try onThreads(people.count) { thread in
        try store.link(new, by: people[thread].proof, at: Sample.now)
      }
      let owner = try #require(try store.account(of: new.key))
      #expect(outcomes.count { $0 == .linked } == 1)
      #expect(outcomes.count { $0 == .other(account: owner) } == people.count - 1)
    }
  }

  // MARK: Unlinking

  @Test(
    "an identity is unlinked with the sessions and codes that it began; the others stay",
    arguments: Database.installed)
  func unlink(database: Database) throws {
    let store = try database.store()
    let person = try Self.person(in: store)
    let second = Sample.person(at: "work")
    _ = try store.link(second, by: person.proof, at: now)
    let begun = Sample.session()
    try store.begin(begun, for: second)
    let code = Sample.code(provider: "work")
    _ = try store.signIn(second, newAccountID: Sample.id(), beginning: .code(code), at: now)
    try store.keepToken("sealed", of: second.key)
    #expect(
      try store.unlink(second.key, by: person.proof, at: now)
        == .unlinked(
          endedSessions: 1, token: KeptProviderToken(identity: second.key, sealed: "sealed")))
    #expect(try !isLive(begun, in: store))
    #expect(try isLive(person.session, in: store))
    let redeemed = try store.redeem(
      codeHash: code.codeHash, provider: "work", challenge: "challenge", session: Sample.session(), at: now)
    #expect(redeemed == .unknown)
    #expect(try store.unlink(second.key, by: person.proof, at: now) == .unknown)
    // Whoever signs in with it now is somebody new.
    #expect(try store.begin(Sample.session(), for: second).isNew)
  }

  @Test("the last identity stays, and so does another account's", arguments: Database.installed)
  func unlinkLast(database: Database) throws {
    let store = try database.store()
    let person = try Self.person(in: store)
    let other = try Self.person(in: store)
    #expect(try store.unlink(person.identity.key, by: person.proof, at: now) == .last)
    #expect(try store.unlink(other.identity.key, by: person.proof, at: now) == .unknown)
    let hostile = IdentityKey(provider: "google", subject: "a\0b")
    #expect(try store.unlink(hostile, by: person.proof, at: now) == .unknown)
    #expect(try store.count("identities") == 2)
  }

  @Test("of two identities that are unlinked at once one stays", arguments: Database.installed)
  func unlinkRace(database: Database) throws {
    let store = try database.store()
    for _ in 0..<20 {
      let person = try Self.person(in: store)
      let third = Sample.session()
      // Neither of the two began the session that asks.
      let keys = [Sample.person(at: "work"), Sample.person(at: "home")]
      for key in keys { _ = try store.link(key, by: person.proof, at: now) }
      _ = try store.unlink(person.identity.key, by: person.proof, at: now)
      try store.begin(third, for: keys[0])
      let proof = RecentSignIn(tokenHash: third.tokenHash, account: person.account, since: now)
      let outcomes = try onThreads(2) { try store.unlink(keys[$0].key, by: proof, at: Sample.now) }
      #expect(try store.identities(ofAccount: person.account).count == 1)
      let isOne = outcomes.count { if case .unlinked = $0 { true } else { false } } == 1
      #expect(isOne, "\(outcomes)")
    }
  }

  // MARK: Merging

  @Test(
    "a merge moves every identity, and ends the sessions and codes of the account that disappears",
    arguments: Database.installed)
  func merge(database: Database) throws {
    let store = try database.store()
    let (person, other) = (try Self.person(in: store), try Self.person(in: store))
    let second = Sample.person(at: "work")
    _ = try store.link(second, by: other.proof, at: now)
    try store.keepToken("sealed", of: second.key)
    let code = Sample.code()
    _ = try store.signIn(other.identity, newAccountID: Sample.id(), beginning: .code(code), at: now)
    let merging = {
      try store.merge(other.account, provenBy: other.identity.key, by: person.proof, at: now)
    }
    #expect(try merging() == .merged(endedSessions: 1))
    #expect(try merging() == .already)
    #expect(try !isLive(other.session, in: store))
    #expect(try isLive(person.session, in: store))
    #expect(try store.account(of: other.identity.key) == person.account)
    #expect(try store.account(of: second.key) == person.account)
    let redeemed = try store.redeem(
      codeHash: code.codeHash, provider: "google", challenge: "challenge", session: Sample.session(),
      at: now)
    #expect(redeemed == .unknown)
    #expect(try store.count("accounts") == 1)
    // A token stays with its identity.
    #expect(
      try store.deleteAccount(person.account, by: nil, at: now)?.tokens
        == [KeptProviderToken(identity: second.key, sealed: "sealed")])
  }

  @Test(
    "an account is merged by an identity that it still has, and by no other", arguments: Database.installed)
  func mergeGone(database: Database) throws {
    let store = try database.store()
    let (person, other) = (try Self.person(in: store), try Self.person(in: store))
    let third = try Self.person(in: store)
    #expect(
      try store.merge(other.account, provenBy: third.identity.key, by: person.proof, at: now) == .gone)
    #expect(
      try store.merge("nobody", provenBy: other.identity.key, by: person.proof, at: now) == .gone)
    _ = try store.deleteAccount(other.account, by: nil, at: now)
    #expect(
      try store.merge(other.account, provenBy: other.identity.key, by: person.proof, at: now) == .gone)
    #expect(try store.count("accounts") == 2)
  }

  @Test(
    "two accounts that are merged into each other at once become one, with both identities",
    arguments: Database.installed)
  func mergeRace(database: Database) throws {
    let store = try database.store()
    for _ in 0..<20 {
      let people = [try Self.person(in: store), try Self.person(in: store)]
      let outcomes = try onThreads(4) { thread in
        let (mine, other) = (people[thread % 2], people[1 - thread % 2])
        if thread > 1 {
          return (try store.begin(Sample.session(), for: mine.identity)).isNew ? "new" : "known"
        }
        return
          "\(try store.merge(other.account, provenBy: other.identity.key, by: mine.proof, at: Sample.now))"
      }
      let owners = Set(try people.map { try store.account(of: $0.identity.key) })
      #expect(owners.count == 1, "\(outcomes)")
      #expect(!outcomes.contains("new"))
      #expect(outcomes.count { $0.hasPrefix("merged") } == 1, "\(outcomes)")
      #expect(try store.orphans == 0)
    }
  }

  // MARK: Deletion

  @Test("deletion takes everything, once", arguments: Database.installed)
  func delete(database: Database) throws {
    let store = try database.store()
    let person = try Self.person(in: store)
    let bystander = try Self.person(in: store)
    let second = Sample.person(at: "work")
    _ = try store.link(second, by: person.proof, at: now)
    try store.keepToken("sealed", of: second.key)
    _ = try store.signIn(second, newAccountID: Sample.id(), beginning: .code(Sample.code()), at: now)
    let deleted = try #require(try store.deleteAccount(person.account, by: person.proof, at: now))
    #expect(Set(deleted.identities.map(\.key)) == [person.identity.key, second.key])
    #expect(deleted.tokens == [KeptProviderToken(identity: second.key, sealed: "sealed")])
    #expect(try store.deleteAccount(person.account, by: person.proof, at: now) == nil)
    #expect(try !isLive(person.session, in: store))
    #expect(try isLive(bystander.session, in: store))
    for table in ["accounts", "identities", "sessions"] { #expect(try store.count(table) == 1, "\(table)") }
    #expect(try store.count("app_codes") == 0)
    #expect(try store.begin(Sample.session(), for: person.identity).isNew)
    // Nothing is kept for somebody who is gone.
    try store.keepToken("sealed", of: second.key)
  }

  @Test(
    "sign-ins, links and codes that meet a deletion leave no account without a person",
    arguments: Database.installed)
  func deletionRace(database: Database) throws {
    let store = try database.store()
    for _ in 0..<20 {
      let person = try Self.person(in: store)
      let code = Sample.code()
      _ = try store.signIn(
        person.identity, newAccountID: Sample.id(), beginning: .code(code), at: now)
      let late = Sample.person(at: "work")
      let signedIn = try onThreads(8) { thread -> SignedIn? in
        switch thread {
        case 0: _ = try store.deleteAccount(person.account, by: nil, at: Sample.now)
        case 1: _ = try store.link(late, by: person.proof, at: Sample.now)
        case 2:
          _ = try store.redeem(
            codeHash: code.codeHash, provider: "google", challenge: "challenge",
            session: Sample.session(), at: Sample.now)
        default: return try store.begin(Sample.session(), for: person.identity)
        }
        return nil
      }
      // The account before, the one after, and no third.
      let accounts = Set(signedIn.compactMap { $0?.account.id })
      #expect(accounts.subtracting([person.account]).count <= 1)
      #expect(try store.identities(ofAccount: person.account).isEmpty)
      #expect(try store.account(of: late.key) == nil)
      #expect(try store.orphans == 0)
      #expect(
        try store.number("SELECT count(*) FROM sessions WHERE account NOT IN (SELECT id FROM accounts)")
          == 0)
    }
  }

  // MARK: Sessions of a provider

  @Test(
    "the sessions of an identity end, or those of one session of its provider",
    arguments: Database.installed)
  func providerSessions(database: Database) throws {
    let store = try database.store()
    var person = Sample.person()
    let (first, second, unknown) = (Sample.session(), Sample.session(), Sample.session())
    for (session, name) in [(first, "iss 1"), (second, "iss 2"), (unknown, nil)] as [(NewSession, String?)] {
      person.providerSession = name
      try store.begin(session, for: person)
    }
    func end(_ name: String?, until end: UnixTime = Sample.now) throws -> Int {
      try store.endSessions(ofIdentity: person.key, providerSession: name, begunUntil: end, at: Sample.now)
    }
    #expect(try end("iss 1", until: now - 1) == 0)
    // The session that is named, and the one of which nobody knows.
    #expect(try end("iss 1") == 2)
    #expect(try isLive(second, in: store))
    #expect(try end(nil) == 1)
    #expect(try store.count("sessions") == 0)
  }

  @Test(
    "a provider's logout ends what belongs to its session, in browsers, apps and codes",
    arguments: Database.installed)
  func logout(database: Database) throws {
    let store = try database.store()
    var person = Sample.person()
    person.providerSession = "iss 3"
    func begin() throws -> (code: NewAppCode, session: NewSession) {
      let (code, session) = (Sample.code(), Sample.session())
      _ = try store.signIn(person, newAccountID: Sample.id(), beginning: .code(code), at: now)
      return (code, session)
    }
    func redeem(_ begun: (code: NewAppCode, session: NewSession)) throws -> Redemption {
      try store.redeem(
        codeHash: begun.code.codeHash, provider: "google", challenge: "challenge", session: begun.session,
        at: now)
    }
    func end(_ subject: String?, _ session: String?, at provider: String = "google") throws -> Int? {
      try store.end(
        ProviderLogout(
          provider: provider, subject: subject, session: session, hash: Sample.hash(), expires: now + 60),
        at: now)
    }
    let first = try begin()
    _ = try redeem(first)
    #expect(try isLive(first.session, in: store))
    #expect(try end(nil, "iss 3", at: "work") == 0)
    #expect(try end(nil, "iss 4") == 0)
    #expect(try end(person.subject, "iss 4") == 0)
    #expect(try isLive(first.session, in: store))
    #expect(try end(nil, "iss 3") == 1)
    #expect(try !isLive(first.session, in: store))
    for (subject, session) in [(nil, "iss 3"), (person.subject, "iss 3"), (person.subject, nil)] {
      let waiting = try begin()
      #expect(try end(subject, session) == 0)
      #expect(try redeem(waiting) == .unknown)
      try store.begin(Sample.session(), for: person)
      #expect(try end(subject, session) == 1)
    }
    #expect(throws: StoreFailure.self) { try end("a\0", nil) }
  }

  @Test("the same logout counts once, from however many replicas it comes", arguments: Database.installed)
  func logoutOnce(database: Database) throws {
    let store = try database.store()
    let person = Sample.person()
    try store.begin(Sample.session(), for: person)
    let logout = ProviderLogout(
      provider: "google", subject: person.subject, session: nil, hash: Sample.hash(), expires: now + 60)
    let ended = try onThreads(8) { _ in try store.end(logout, at: Sample.now) }
    #expect(ended.compactMap { $0 } == [1])
    try store.begin(Sample.session(), for: person)
    #expect(try store.end(logout, at: now) == nil)
    #expect(try store.count("sessions") == 1)
    // It is forgotten three days after its end, by both clocks.
    let long = UnixTime(seconds: 1_700_000_000)
    _ = try store.number("UPDATE spent SET expires = \(long.seconds)")
    #expect(try store.prune(at: long + 3 * Sample.day - 1) == 0)
    #expect(try store.prune(at: long + 3 * Sample.day) == 1)
    #expect(try store.end(logout, at: now) == 1)
  }
}
