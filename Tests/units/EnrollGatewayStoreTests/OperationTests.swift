// The audit and the counters of limits, on both databases.

import EnrollRules
import EnrollGateway
import Expectations
import Testing

@testable import EnrollGatewayStore

@Suite("The audit and the limits")
struct OperationTests {
  private static let rule = LimitRule(requests: 10, seconds: 60)

  @Test("each change writes its entry, with who, when and from where", arguments: Database.installed)
  func entries(database: Database) throws {
    let store = try database.store()
    let session = Sample.session()
    let signedIn = try store.begin(session, for: Sample.person("1"))
    try store.begin(session, for: Sample.person("1"), at: Sample.now + 1)
    let code = Sample.code()
    _ = try store.signIn(
      Sample.person("1"), newAccountID: Sample.id(), creating: .code(code), at: Sample.now + 2)
    func redeem() throws -> Redemption {
      try store.redeem(
        codeHash: code.codeHash, provider: code.provider, challenge: code.challenge,
        session: Sample.session(), at: Sample.now + 3)
    }
    try expect(redeem(), is: .created(signedIn.account.later(2)))
    try expect(redeem(), is: .reused)
    try store.endSession(tokenHash: session.tokenHash)
    try store.endSession(tokenHash: session.tokenHash)
    try store.begin(Sample.session(), for: Sample.person("1"), at: Sample.now + 4)
    try expect(store.endSessions(ofAccount: signedIn.account.id, exceptTokenHash: nil), is: 1)
    let entries = try store.audit(ofAccount: signedIn.account.id, limit: 100).reversed()
    let events = entries.map(\.event)
    expect(events.first, is: .registered)
    expect(
      events.filter { $0 != .signedIn },
      is: [
        .registered, .sessionBegun, .codeReused, .sessionEnded, .sessionsEnded,
      ])
    #expect(entries.allSatisfy { $0.origin == Sample.origin && $0.account == signedIn.account.id })
    expect(entries.first { $0.event == .sessionBegun }?.detail, is: code.app)
    expect(entries.first { $0.event == .codeReused }?.outcome, is: .refused)
    expect(entries.first { $0.event == .sessionEnded }?.detail, is: session.id.text)
    try expect(store.audit(ofAccount: signedIn.account.id, limit: 2).count, is: 2)
  }

  /// The entries of an account, the oldest first: event and detail.
  private func notes(of account: AccountID, in store: any CountedStore) throws -> [String] {
    try store.audit(ofAccount: account, limit: 1_000).reversed().map {
      "\($0.event.rawValue) \($0.detail ?? "-") \($0.origin.address ?? "-")"
    }
  }

  @Test(
    "a sign-in by a link of an e-mail is an entry, and so is the password that it sets",
    arguments: Database.installed)
  func links(database: Database) throws {
    let store = try database.store()
    try AuditOrigin.$current.withValue(Sample.origin) {
      let first = try Sample.link()
      try store.keep(first, mail: nil, replacingOlder: true, at: Sample.now)
      let account = try #require(try store.register(first, password: "hash 1").account)
      let own = try store.identities(ofAccount: account)[0].subject
      func spend(_ purpose: NewMailLink.Purpose, _ password: String?, _ credential: NewCredential) throws {
        let link = try Sample.link(purpose, subject: own)
        try store.keep(link, mail: nil, replacingOlder: true, at: Sample.now)
        let spent = try store.spend(
          tokenHash: link.tokenHash, purpose: purpose, owner: .knownPerson(password: password),
          creating: credential, at: Sample.now)
        expect(spent.account, is: account)
      }
      try spend(.signIn, nil, .session(Sample.session()))
      try spend(.signIn, nil, .code(Sample.code(provider: "email")))
      try spend(.reset, "hash 2", .session(Sample.session()))
      let expected = [
        "registered email", "password_set -", "signed_in email", "signed_in email", "signed_in email",
        "password_changed 2",
      ]
      // Within one PostgreSQL statement, entries have no order.
      try expect(notes(of: account, in: store).sorted(), is: expected.map { $0 + " 192.0.2.7" }.sorted())
    }
  }

  @Test(
    "a changed password is an entry with the number of sessions that ended", arguments: Database.installed)
  func passwords(database: Database) throws {
    let store = try database.store()
    let link = try Sample.link()
    try store.keep(link, mail: nil, replacingOlder: true, at: Sample.now)
    let account = try #require(try store.register(link).account)
    let own = try store.identities(ofAccount: account)[0]
    let kept = Sample.session()
    try store.begin(kept, for: own)
    for hash in ["hash 1", "hash 2"] {
      #expect(
        try store.setPassword(
          hash, ofPerson: PersonID(bytes: account.bytes), exceptTokenHash: kept.tokenHash, at: Sample.now))
    }
    let notes = try notes(of: account, in: store).filter { $0.hasPrefix("password") }
    expect(notes, is: ["password_set 1 -", "password_changed 0 -"])
  }

  @Test("sessions that a provider ended are an entry of each account", arguments: Database.installed)
  func providers(database: Database) throws {
    let store = try database.store()
    var people: [(key: IdentityKey, account: AccountID)] = []
    for _ in 0..<2 {
      var person = Sample.person()
      person.providerSession = "one sid"
      try store.begin(Sample.session(), for: person)
      people.append((person.key, try store.begin(Sample.session(), for: person).account.id))
    }
    func logout(_ subject: String?, _ session: String?) throws -> Int? {
      try store.end(
        ProviderLogout(
          provider: "google", subject: subject, session: session, hash: Sample.hash(),
          expires: Sample.now + 60), at: Sample.now)
    }
    try expect(logout(nil, "one sid"), is: 4)
    try expect(logout(nil, "one sid"), is: 0)
    try store.begin(Sample.session(), for: Sample.person(people[0].key.subject))
    try expect(logout(people[0].key.subject, nil), is: 1)
    try store.begin(Sample.session(), for: Sample.person(people[0].key.subject))
    try expect(
      store.endSessions(
        ofIdentity: people[0].key, providerSession: nil, begunUntil: Sample.now, at: Sample.now), is: 1)
    for (person, count) in zip(people, [3, 1]) {
      let notes = try notes(of: person.account, in: store).filter { $0.hasPrefix("provider_logout") }
      expect(notes, is: Array(repeating: "provider_logout google -", count: count))
    }
  }

  @Test("a session that gives way to the hundred-and-first is an entry", arguments: Database.installed)
  func surplus(database: Database) throws {
    let store = try database.store()
    let person = Sample.person()
    var account = AccountID.sample
    for number in 0..<101 {
      account = try store.begin(Sample.session(), for: person, at: Sample.now + Int64(number)).account.id
    }
    func surplus() throws -> [String] {
      try notes(of: account, in: store).filter { $0.hasPrefix("surplus") }
    }
    try expect(surplus(), is: ["surplus_ended 1 192.0.2.7"])
    let code = Sample.code(lasting: 1_000)
    _ = try store.signIn(person, newAccountID: Sample.id(), creating: .code(code), at: Sample.now + 200)
    let redeemed = try store.redeem(
      codeHash: code.codeHash, provider: code.provider, challenge: code.challenge,
      session: Sample.session(), at: Sample.now + 200)
    guard case .created = redeemed else {
      Issue.record("\(redeemed)")
      return
    }
    try expect(surplus().count, is: 2)
    try expect(store.count("sessions"), is: 100)
  }

  @Test("nobody changes an entry, or removes one within thirty days", arguments: Database.installed)
  func stays(database: Database) throws {
    let store = try database.store()
    try store.append(
      AuditEntry(at: UnixTime(seconds: 4_000_000_000), .keysReloaded, account: nil, from: .program))
    let id: AccountID = Sample.id()
    try store.append(
      AuditEntry(at: UnixTime(seconds: 1_000), .deleted, account: id, from: Sample.origin))
    #expect(throws: StoreFailure.self) { try store.number("UPDATE audit SET event = 'x'") }
    #expect(throws: StoreFailure.self) { try store.number("DELETE FROM audit") }
    if database == .sqlite {
      #expect(throws: StoreFailure.self) {
        try store.number("INSERT OR REPLACE INTO audit SELECT * FROM audit")
      }
    }
    try expect(store.count("audit"), is: 2)
    // A gateway with a wrong date deletes only the entry that is really old.
    try expect(store.pruneAudit(before: UnixTime(seconds: 5_000_000_000)), is: 1)
    try expect(store.count("audit"), is: 1)
    try expect(store.audit(ofAccount: id, limit: 10), is: [])
  }

  @Test("a counter gives what its rule holds, to a thousand at once", arguments: Database.installed)
  func atOnce(database: Database) throws {
    let store = try database.store()
    let key = Sample.hash()
    let verdicts = try onThreads(8) { _ in
      try (0..<25).map { _ in try store.take(key, by: Self.rule, at: Sample.now) }
    }
    expect(verdicts.flatMap { $0 }.filter { $0 == .granted }.count, is: 10)
    try expect(store.take(key, by: Self.rule, at: Sample.now), is: .refused(retryAfterSeconds: 6))
    try expect(store.take(Sample.hash(), by: Self.rule, at: Sample.now), is: .granted)
    try expect(store.take(key, by: Self.rule, at: Sample.now + 6), is: .granted)
    try expect(store.take(key, by: Self.rule, at: Sample.now + 6), is: .refused(retryAfterSeconds: 6))
  }

  @Test("a gateway with a wrong date does not close a counter", arguments: Database.installed)
  func wrongDate(database: Database) throws {
    let store = try database.store()
    let key = Sample.hash()
    try expect(store.take(key, by: Self.rule, at: Sample.now + 1_000_000), is: .granted)
    try expect(store.take(key, by: Self.rule, at: Sample.now), is: .granted)
  }

  @Test("a full bucket is forgotten", arguments: Database.installed)
  func forgotten(database: Database) throws {
    let store = try database.store()
    _ = try store.take(Sample.hash(), by: Self.rule, at: Sample.now)
    _ = try store.take(Sample.hash(), by: Self.rule, at: Sample.now + 60)
    try expect(store.pruneLimits(at: Sample.now + 30), is: 1)
    try expect(store.count("limit_counters"), is: 1)
  }

  @Test("an account is found by its address and by its id", arguments: Database.installed)
  func found(database: Database) throws {
    let store = try database.store()
    let account = try store.begin(Sample.session(), for: Sample.person()).account
    try expect(store.accounts(withEmail: "A@Example.com"), is: [account])
    try expect(store.accounts(withEmail: "b@example.com"), is: [])
    try expect(store.account(account.id), is: account)
    try expect(store.account(Sample.id()), is: nil)
  }
}

@Suite("Tokens that wait to be revoked")
struct RevocationTests {
  /// Deletes an account whose provider token then waits for revocation.
  private func deleted(in store: any CountedStore) throws -> AccountID {
    let person = Sample.person(at: "apple")
    let account = try store.begin(Sample.session(), for: person).account.id
    try store.keepToken("one.sealed", of: person.key)
    _ = try store.deleteAccount(account, by: nil, at: Sample.now)
    return account
  }

  @Test(
    "a token of a deleted account is taken by one, and again when its time has come",
    arguments: Database.installed)
  func taken(database: Database) throws {
    let store = try database.store()
    let account = try deleted(in: store)
    func take(_ later: Int64) throws -> [TakenRevocation] {
      try store.takeRevocations(4, leaseSeconds: 120, at: Sample.now + later)
    }
    let taken = try onThreads(8) { _ in try store.takeRevocations(4, leaseSeconds: 120, at: Sample.now) }
      .flatMap { $0 }
    let first = try #require(taken.first)
    expect(
      taken,
      is: [
        TakenRevocation(
          id: first.id, provider: "apple", sealed: "one.sealed", account: account,
          expires: Sample.now + RevocationTimes.retrySeconds, attempts: 1)
      ])
    try expect(take(119), is: [])
    try expect(take(120).map(\.attempts), is: [2])
    try store.putOffRevocation(first.id, until: Sample.now + 1_000)
    try expect(take(999), is: [])
    try expect(take(1_000).map(\.attempts), is: [3])
    try store.removeRevocation(first.id)
    try expect(store.count("revocations"), is: 0)
  }

  @Test("a clock that was far ahead for a while leaves no token behind", arguments: Database.installed)
  func clock(database: Database) throws {
    let store = try database.store()
    _ = try deleted(in: store)
    try expect(store.takeRevocations(4, leaseSeconds: 120, at: Sample.now + 1_000 * Sample.day).count, is: 1)
    try expect(store.takeRevocations(4, leaseSeconds: 120, at: Sample.now).count, is: 1)
    try expect(store.takeRevocations(4, leaseSeconds: 120, at: Sample.now).count, is: 0)
  }

  @Test("a token that is given up leaves an entry", arguments: Database.installed)
  func dropped(database: Database) throws {
    let store = try database.store()
    let account = try deleted(in: store)
    let taken = try #require(try store.takeRevocations(4, leaseSeconds: 120, at: Sample.now).first)
    try store.dropRevocation(taken, at: Sample.now + 5)
    try store.dropRevocation(taken, at: Sample.now + 6)
    let entries = try store.audit(ofAccount: account, limit: 10).filter { $0.event == .revocationDropped }
    expect(entries.map(\.at), is: [Sample.now + 5])
    expect(entries.map(\.detail), is: ["apple"])
    try expect(store.count("revocations"), is: 0)
  }

  @Test("signing out everywhere ends the links of e-mails, too", arguments: Database.installed)
  func links(database: Database) throws {
    let store = try database.store()
    let activation = try Sample.link()
    try store.keep(activation, mail: nil, replacingOlder: true, at: Sample.now)
    let account = try #require(try store.register(activation).account)
    let own = try store.identities(ofAccount: account)[0].subject
    let (mine, reset) = (try Sample.link(.signIn, subject: own), try Sample.link(.reset, subject: own))
    let others = try Sample.link(.signIn, "bob@example.org", subject: PersonID.sample.text)
    for link in [mine, reset, others] {
      try store.keep(link, mail: nil, replacingOlder: true, at: Sample.now)
    }
    try expect(store.endSessions(ofAccount: account, exceptTokenHash: nil), is: 1)
    func state(_ link: NewMailLink) throws -> LinkState {
      try store.link(tokenHash: link.tokenHash, purpose: link.purpose, at: Sample.now)
    }
    try expect(state(mine), is: .unknown)
    try expect(state(reset), is: .unknown)
    try expect(state(others), isNot: .unknown)
    // A used activation link is not deleted, so its state is still known.
    try expect(state(activation), is: .spent)
  }
}

extension Account {
  fileprivate func later(_ seconds: Int64) -> Account {
    Account(id: id, created: created, lastLogin: Sample.now + seconds)
  }
}
