// Changes of accounts, on both databases: who may make them, what is left, and two changes at the same time.

import EnrollRules
import EnrollGateway
import Expectations
import Testing

@testable import EnrollGatewayStore

@Suite("Changes of accounts")
struct AccountChangeTests {
  private let now = Sample.now

  /// A signed-in user, and the proof of the sign-in.
  struct Person {
    let identity: Identity
    let account: AccountID
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
    try expect(store.account(of: other.key), is: nil)
    try expect(store.link(other, by: person.proof, at: now), is: .linked)
    try expect(store.link(other, by: person.proof, at: now), is: .already)
    try expect(store.account(of: other.key), is: person.account)
    let found = try store.begin(Sample.session(), for: other)
    #expect(found.account.id == person.account && !found.isNew)
    try expect(store.identities(ofAccount: person.account).map(\.key), is: [person.identity.key, other.key])
  }

  @Test(
    "an identity that another account has stays there, whatever its e-mail address",
    arguments: Database.installed)
  func linkTaken(database: Database) throws {
    let store = try database.store()
    let person = try Self.person(in: store)
    let other = try Self.person(in: store)
    expect(person.identity.email, is: other.identity.email)
    try expect(store.link(other.identity, by: person.proof, at: now), is: .other(account: other.account))
    try expect(store.account(of: other.identity.key), is: other.account)
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
    nobody.account = .sample
    for proof in [late, foreign, unknown, nobody] {
      try expect(store.link(new, by: proof, at: now), is: .notRecent)
      try expect(store.unlink(person.identity.key, by: proof, at: now), is: .notRecent)
      try expect(store.merge(other.account, provenBy: other.identity.key, by: proof, at: now), is: .notRecent)
      try expect(store.deleteAccount(person.account, by: proof, at: now), is: nil)
    }
    // The proof for one account cannot delete another account.
    try expect(store.deleteAccount(other.account, by: person.proof, at: now), is: nil)
    try store.endSession(tokenHash: person.session.tokenHash)
    try expect(store.link(new, by: person.proof, at: now), is: .notRecent)
    try expect(store.account(of: new.key), is: nil)
    try expect(store.count("accounts"), is: 2)
    try expect(store.count("identities"), is: 3)
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
      expect(outcomes.count { $0 == .linked }, is: 1)
      expect(outcomes.count { $0 == .other(account: owner) }, is: people.count - 1)
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
    _ = try store.signIn(second, newAccountID: Sample.id(), creating: .code(code), at: now)
    try store.keepToken("sealed", of: second.key)
    try expect(
      store.unlink(second.key, by: person.proof, at: now),
      is: .unlinked(
        endedSessions: 1, token: KeptProviderToken(identity: second.key, sealed: "sealed")))
    #expect(try !isLive(begun, in: store))
    #expect(try isLive(person.session, in: store))
    let redeemed = try store.redeem(
      codeHash: code.codeHash, provider: "work", challenge: "challenge", session: Sample.session(), at: now)
    expect(redeemed, is: .unknown)
    try expect(store.unlink(second.key, by: person.proof, at: now), is: .unknown)
    // A sign-in with this identity now makes a new account.
    #expect(try store.begin(Sample.session(), for: second).isNew)
  }

  @Test("the last identity stays, and so does another account's", arguments: Database.installed)
  func unlinkLast(database: Database) throws {
    let store = try database.store()
    let person = try Self.person(in: store)
    let other = try Self.person(in: store)
    try expect(store.unlink(person.identity.key, by: person.proof, at: now), is: .last)
    try expect(store.unlink(other.identity.key, by: person.proof, at: now), is: .unknown)
    let hostile = IdentityKey(provider: "google", subject: "a\0b")
    try expect(store.unlink(hostile, by: person.proof, at: now), is: .unknown)
    try expect(store.count("identities"), is: 2)
  }

  @Test("of two identities that are unlinked at once one stays", arguments: Database.installed)
  func unlinkRace(database: Database) throws {
    let store = try database.store()
    for _ in 0..<20 {
      let person = try Self.person(in: store)
      let third = Sample.session()
      // Neither of these identities began the session that makes the request.
      let keys = [Sample.person(at: "work"), Sample.person(at: "home")]
      for key in keys { _ = try store.link(key, by: person.proof, at: now) }
      _ = try store.unlink(person.identity.key, by: person.proof, at: now)
      try store.begin(third, for: keys[0])
      let proof = RecentSignIn(tokenHash: third.tokenHash, account: person.account, since: now)
      let outcomes = try onThreads(2) { try store.unlink(keys[$0].key, by: proof, at: Sample.now) }
      try expect(store.identities(ofAccount: person.account).count, is: 1)
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
    _ = try store.signIn(other.identity, newAccountID: Sample.id(), creating: .code(code), at: now)
    let merging = {
      try store.merge(other.account, provenBy: other.identity.key, by: person.proof, at: now)
    }
    try expect(merging(), is: .merged(endedSessions: 1))
    try expect(merging(), is: .already)
    #expect(try !isLive(other.session, in: store))
    #expect(try isLive(person.session, in: store))
    try expect(store.account(of: other.identity.key), is: person.account)
    try expect(store.account(of: second.key), is: person.account)
    let redeemed = try store.redeem(
      codeHash: code.codeHash, provider: "google", challenge: "challenge", session: Sample.session(),
      at: now)
    expect(redeemed, is: .unknown)
    try expect(store.count("accounts"), is: 1)
    // A provider's token stays with its identity.
    try expect(
      store.deleteAccount(person.account, by: nil, at: now)?.tokens,
      is: [KeptProviderToken(identity: second.key, sealed: "sealed")])
  }

  @Test(
    "an account is merged by an identity that it still has, and by no other", arguments: Database.installed)
  func mergeGone(database: Database) throws {
    let store = try database.store()
    let (person, other) = (try Self.person(in: store), try Self.person(in: store))
    let third = try Self.person(in: store)
    try expect(store.merge(other.account, provenBy: third.identity.key, by: person.proof, at: now), is: .gone)
    try expect(store.merge(.sample, provenBy: other.identity.key, by: person.proof, at: now), is: .gone)
    _ = try store.deleteAccount(other.account, by: nil, at: now)
    try expect(store.merge(other.account, provenBy: other.identity.key, by: person.proof, at: now), is: .gone)
    try expect(store.count("accounts"), is: 2)
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
      expect(owners.count, is: 1, "\(outcomes)")
      #expect(!outcomes.contains("new"))
      expect(outcomes.count { $0.hasPrefix("merged") }, is: 1, "\(outcomes)")
      try expect(store.orphans, is: 0)
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
    _ = try store.signIn(second, newAccountID: Sample.id(), creating: .code(Sample.code()), at: now)
    let deleted = try #require(try store.deleteAccount(person.account, by: person.proof, at: now))
    expect(Set(deleted.identities.map(\.key)), is: [person.identity.key, second.key])
    expect(deleted.tokens, is: [KeptProviderToken(identity: second.key, sealed: "sealed")])
    try expect(store.deleteAccount(person.account, by: person.proof, at: now), is: nil)
    #expect(try !isLive(person.session, in: store))
    #expect(try isLive(bystander.session, in: store))
    for table in ["accounts", "identities", "sessions"] { try expect(store.count(table), is: 1, "\(table)") }
    try expect(store.count("app_codes"), is: 0)
    #expect(try store.begin(Sample.session(), for: person.identity).isNew)
    // Nothing is kept for a deleted account.
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
        person.identity, newAccountID: Sample.id(), creating: .code(code), at: now)
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
      // The sign-ins used at most two accounts: one from before the deletion, and one from after the deletion.
      let accounts = Set(signedIn.compactMap { $0?.account.id })
      #expect(accounts.subtracting([person.account]).count <= 1)
      #expect(try store.identities(ofAccount: person.account).isEmpty)
      try expect(store.account(of: late.key), is: nil)
      try expect(store.orphans, is: 0)
      try expect(
        store.number("SELECT count(*) FROM sessions WHERE account NOT IN (SELECT id FROM accounts)"), is: 0)
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
    try expect(end("iss 1", until: now - 1), is: 0)
    // Two sessions end: the session with the name `iss 1`, and the session whose name is unknown.
    try expect(end("iss 1"), is: 2)
    #expect(try isLive(second, in: store))
    try expect(end(nil), is: 1)
    try expect(store.count("sessions"), is: 0)
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
      _ = try store.signIn(person, newAccountID: Sample.id(), creating: .code(code), at: now)
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
    try expect(end(nil, "iss 3", at: "work"), is: 0)
    try expect(end(nil, "iss 4"), is: 0)
    try expect(end(person.subject, "iss 4"), is: 0)
    #expect(try isLive(first.session, in: store))
    try expect(end(nil, "iss 3"), is: 1)
    #expect(try !isLive(first.session, in: store))
    for (subject, session) in [(nil, "iss 3"), (person.subject, "iss 3"), (person.subject, nil)] {
      let waiting = try begin()
      try expect(end(subject, session), is: 0)
      try expect(redeem(waiting), is: .unknown)
      try store.begin(Sample.session(), for: person)
      try expect(end(subject, session), is: 1)
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
    expect(ended.compactMap { $0 }, is: [1])
    try store.begin(Sample.session(), for: person)
    try expect(store.end(logout, at: now), is: nil)
    try expect(store.count("sessions"), is: 1)
    // The logout token is forgotten three days after its expiry, by the gateway's clock and by the
    // database's.
    let long = UnixTime(seconds: 1_700_000_000)
    _ = try store.number("UPDATE spent SET expires = \(long.seconds)")
    try expect(store.prune(at: long + 3 * Sample.day - 1), is: 0)
    try expect(store.prune(at: long + 3 * Sample.day), is: 1)
    try expect(store.end(logout, at: now), is: 1)
  }
}
