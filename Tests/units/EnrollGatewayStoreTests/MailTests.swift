// Links in mails, the users of the gateway's own directory, and the outbox: one suite for the stores in SQLite and
// PostgreSQL.

import EnrollRules
import EnrollGateway
import Expectations
import Testing

@testable import EnrollGatewayStore

extension Sample {
  static func link(
    _ purpose: NewMailLink.Purpose = .activation, _ email: String = "ada@example.org",
    subject: String? = nil, lasting seconds: Int64 = day
  ) throws -> NewMailLink {
    NewMailLink(
      tokenHash: hash(), purpose: purpose, email: try EmailAddress(email), name: "Ada", subject: subject,
      device: "Firefox", browserHash: hash(), destination: "{}", expires: now + seconds)
  }

  static func mail(_ id: MailID = id(), lasting seconds: Int64 = day) -> NewMail {
    NewMail(id: id, sealed: "sealed", expires: now + seconds)
  }
}

extension RegistrationStore {
  func register(
    _ link: NewMailLink, password: String? = nil, session: NewSession = Sample.session(),
    at now: UnixTime = Sample.now
  ) throws -> LinkSpending {
    try spend(
      tokenHash: link.tokenHash, purpose: .activation,
      owner: .newPerson(id: Sample.id(), password: password), creating: .session(session), at: now)
  }
}

extension LinkSpending {
  var account: AccountID? { if case .signedIn(let one) = self { one.account.id } else { nil } }
}

@Suite("Links, people and mails")
struct MailTests {
  @Test("looking at a link spends nothing; it is spent once", arguments: Database.installed)
  func once(database: Database) throws {
    let store = try database.store()
    let link = try Sample.link()
    try store.keep(link, mail: Sample.mail(), at: Sample.now)
    for _ in 0..<3 {
      let state = try store.link(tokenHash: link.tokenHash, purpose: .activation, at: Sample.now)
      let told = MailLink(
        email: "ada@example.org", name: "Ada", subject: nil, device: "Firefox",
        browserHash: link.browserHash, destination: "{}")
      expect(state, is: .live(told))
    }
    try expect(store.link(tokenHash: link.tokenHash, purpose: .signIn, at: Sample.now), is: .unknown)
    try expect(store.link(tokenHash: Sample.hash(), purpose: .activation, at: Sample.now), is: .unknown)

    let session = Sample.session()
    guard case .signedIn(let signedIn) = try store.register(link, session: session) else {
      Issue.record("the link was not spent")
      return
    }
    #expect(signedIn.isNew)
    let live = try #require(try store.session(tokenHash: session.tokenHash, at: Sample.now))
    expect(live.account.id, is: signedIn.account.id)
    expect(
      live.identity,
      is: Identity(
        provider: "email", subject: signedIn.account.id.text, email: "ada@example.org", isEmailVerified: true,
        name: "Ada"))
    try expect(store.register(link), is: .spent)
    try expect(store.link(tokenHash: link.tokenHash, purpose: .activation, at: Sample.now), is: .spent)
    try expect(store.count("people"), is: 1)
    try expect(store.count("accounts"), is: 1)
  }

  @Test(
    "a link that is too old, replaced, or of another purpose signs nobody in", arguments: Database.installed
  )
  func refused(database: Database) throws {
    let store = try database.store()
    let (first, second) = (try Sample.link(), try Sample.link(.activation, "ADA@Example.org"))
    try store.keep(first, mail: Sample.mail(), at: Sample.now)
    try store.keep(second, mail: Sample.mail(), at: Sample.now)
    try expect(store.register(first), is: .unknown)
    let wrong = try store.spend(
      tokenHash: second.tokenHash, purpose: .reset, owner: .newPerson(id: Sample.id(), password: nil),
      creating: .session(Sample.session()), at: Sample.now)
    expect(wrong, is: .unknown)
    try expect(store.register(second, at: Sample.now + Sample.day), is: .expired)
    try expect(store.register(second, at: Sample.now + Sample.day - 1).account, isNot: nil)
    try expect(store.count("accounts"), is: 1)
    // Links that expired long ago are deleted.
    _ = try store.number("UPDATE mail_links SET expires = 1000")
    _ = try store.prune(at: Sample.now)
    try expect(store.count("mail_links"), is: 0)
  }

  @Test("two links for one address make one account, whoever comes first", arguments: Database.installed)
  func race(database: Database) throws {
    let place = try database.place()
    let stores = [try place.open(), try place.open()]
    _ = try stores[0].migrate()
    for round in 0..<20 {
      let links = try (0..<8).map { _ in try Sample.link(.activation, "person\(round)@example.org") }
      // A new link replaces the previous link, unless both are made at the same time. Here all links are made at the
      // same time, so all of them stay.
      for (number, link) in links.enumerated() {
        let email = try EmailAddress("other\(number)@example.org")
        var other = link
        other.email = email
        try stores[0].keep(other, mail: Sample.mail(), at: Sample.now)
      }
      _ = try stores[0].number(
        "UPDATE mail_links SET email = 'person\(round)@example.org', email_key = 'person\(round)@example.org' WHERE spent IS NULL RETURNING 1"
      )
      let accounts = try onThreads(16) { thread in
        try stores[thread % 2].register(links[thread / 2]).account
      }
      // Two callers used each of the eight links, and one of the two succeeded. All eight registrations
      // belong to one account.
      expect(accounts.compactMap { $0 }.count, is: 8)
      expect(Set(accounts.compactMap { $0 }).count, is: 1)
    }
    try expect(stores[0].count("people"), is: 20)
    try expect(stores[0].count("accounts"), is: 20)
    try expect(stores[0].orphans, is: 0)
  }

  @Test(
    "a link for a known person signs them in, and never makes an account", arguments: Database.installed)
  func known(database: Database) throws {
    let store = try database.store()
    let activation = try Sample.link()
    try store.keep(activation, mail: Sample.mail(), at: Sample.now)
    let account = try #require(try store.register(activation).account)
    let person = try #require(try store.person(emailKey: "ada@example.org"))
    expect(
      person, is: StoredPerson(id: PersonID(bytes: account.bytes), email: "ada@example.org", password: nil))
    try expect(store.person(id: person.id), is: person)

    let link = try Sample.link(.signIn, subject: person.id.text)
    try store.keep(link, mail: Sample.mail(), at: Sample.now)
    let spending = try store.spend(
      tokenHash: link.tokenHash, purpose: .signIn, owner: .knownPerson(password: nil),
      creating: .code(Sample.code(provider: "email")), at: Sample.now)
    guard case .signedIn(let signedIn) = spending else {
      Issue.record("nobody was signed in")
      return
    }
    expect(signedIn.account.id, is: account)
    #expect(!signedIn.isNew)
    let gone = try Sample.link(.signIn, subject: PersonID.sample.text)
    try store.keep(gone, mail: Sample.mail(), at: Sample.now)
    let nobody = try store.spend(
      tokenHash: gone.tokenHash, purpose: .signIn, owner: .knownPerson(password: nil),
      creating: .session(Sample.session()), at: Sample.now)
    expect(nobody, is: .unknown)
    try expect(store.count("accounts"), is: 1)
  }

  @Test("a new password ends the other sessions of the account", arguments: Database.installed)
  func passwords(database: Database) throws {
    let store = try database.store()
    let activation = try Sample.link()
    try store.keep(activation, mail: Sample.mail(), at: Sample.now)
    let first = Sample.session()
    let account = try #require(try store.register(activation, password: "hash 1", session: first).account)
    let id = PersonID(bytes: account.bytes)
    try expect(store.person(id: id)?.password, is: "hash 1")

    #expect(try store.isCurrent("hash 1", ofPerson: id))
    let older = try Sample.link(.signIn, subject: id.text)
    try store.keep(older, mail: Sample.mail(), at: Sample.now)
    let code = Sample.code(provider: "email")
    _ = try store.signIn(
      Sample.person(id.text, at: "email"), newAccountID: Sample.id(), creating: .code(code), at: Sample.now)

    let link = try Sample.link(.reset, subject: id.text)
    try store.keep(link, mail: Sample.mail(), at: Sample.now)
    let second = Sample.session()
    let spending = try store.spend(
      tokenHash: link.tokenHash, purpose: .reset, owner: .knownPerson(password: "hash 2"),
      creating: .session(second), at: Sample.now)
    expect(spending.account, is: account)
    try expect(store.person(id: id)?.password, is: "hash 2")
    try expect(store.session(tokenHash: first.tokenHash, at: Sample.now), is: nil)
    try expect(store.session(tokenHash: second.tokenHash, at: Sample.now), isNot: nil)
    #expect(try !store.isCurrent("hash 1", ofPerson: id))
    try expect(store.link(tokenHash: older.tokenHash, purpose: .signIn, at: Sample.now), is: .unknown)
    try expect(store.count("app_codes"), is: 0)

    let newer = try Sample.link(.reset, subject: id.text)
    try store.keep(newer, mail: Sample.mail(), at: Sample.now)
    _ = try store.signIn(
      Sample.person(id.text, at: "email"), newAccountID: Sample.id(),
      creating: .code(Sample.code(provider: "email")), at: Sample.now)
    let third = Sample.session()
    try store.begin(third, for: Sample.person(id.text, at: "email"))
    #expect(try store.setPassword("hash 3", ofPerson: id, exceptTokenHash: third.tokenHash, at: Sample.now))
    try expect(store.session(tokenHash: second.tokenHash, at: Sample.now), is: nil)
    try expect(store.session(tokenHash: third.tokenHash, at: Sample.now), isNot: nil)
    try expect(store.link(tokenHash: newer.tokenHash, purpose: .reset, at: Sample.now), is: .unknown)
    try expect(store.count("app_codes"), is: 0)
    #expect(try !store.setPassword("hash", ofPerson: Sample.id(), exceptTokenHash: nil, at: Sample.now))
  }

  @Test("an identity of another directory gets its account by a link", arguments: Database.installed)
  func otherDirectory(database: Database) throws {
    let store = try database.store()
    let identity = Sample.person("okta 00u1", at: "email")
    var accounts: Set<AccountID> = []
    for _ in 0..<2 {
      let link = try Sample.link()
      try store.keep(link, mail: Sample.mail(), at: Sample.now)
      let spending = try store.spend(
        tokenHash: link.tokenHash, purpose: .activation,
        owner: .identity(identity, newAccountID: Sample.id()), creating: .session(Sample.session()),
        at: Sample.now)
      accounts.insert(try #require(spending.account))
    }
    expect(accounts.count, is: 1)
    try expect(store.count("people"), is: 0)
  }

  @Test(
    "a mail is taken by one at a time, comes back when its lease ends, and is gone when it was sent",
    arguments: Database.installed)
  func outbox(database: Database) throws {
    let store = try database.store()
    let mails = (0..<40).map { _ in Sample.mail() }
    for mail in mails { try store.keep(nil, mail: mail, at: Sample.now) }
    try expect(store.waitingMails(), is: 40)
    let taken = try onThreads(8) { _ in try store.takeMails(5, leaseSeconds: 120, at: Sample.now) }
      .flatMap { $0 }
    expect(taken.count, is: 40)
    expect(Set(taken.map(\.id)), is: Set(mails.map(\.id)))
    #expect(try store.takeMails(5, leaseSeconds: 120, at: Sample.now + 119).isEmpty)
    for mail in taken.dropFirst(2) { try store.removeMail(mail.id) }
    try store.putOffMail(taken[0].id, until: Sample.now + 500)
    let again = try store.takeMails(5, leaseSeconds: 120, at: Sample.now + 120)
    expect(
      again, is: [TakenMail(id: taken[1].id, sealed: "sealed", expires: Sample.now + Sample.day, attempts: 2)]
    )
    try expect(store.takeMails(5, leaseSeconds: 120, at: Sample.now + 500).count, is: 2)
  }

  @Test("a clock that was far ahead for a while leaves no mail behind", arguments: Database.installed)
  func clockAhead(database: Database) throws {
    let store = try database.store()
    try store.keep(nil, mail: Sample.mail(), at: Sample.now)
    let ahead = Sample.now + 1_000 * Sample.day
    let taken = try store.takeMails(5, leaseSeconds: 120, at: ahead)
    expect(taken.count, is: 1)
    try store.putOffMail(taken[0].id, until: ahead + Outbox.longestPauseSeconds)
    try expect(store.takeMails(5, leaseSeconds: 120, at: Sample.now).map(\.attempts), is: [2])
    // A lease by a correct clock holds.
    #expect(try store.takeMails(5, leaseSeconds: 120, at: Sample.now + 1).isEmpty)
    try store.putOffMail(taken[0].id, until: Sample.now + Outbox.longestPauseSeconds)
    #expect(try store.takeMails(5, leaseSeconds: 120, at: Sample.now + 1).isEmpty)
  }
}
