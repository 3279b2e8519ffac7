// Tests of signing in, on both databases: which account is used, what is stored, and what is refused.

import EnrollRules
import EnrollGateway
import Expectations
import Testing

@testable import EnrollGatewayStore

@Suite("Signing in")
struct SignInTests {
  @Test("the first sign-in makes the account, the next one finds it", arguments: Database.installed)
  func sameAccount(database: Database) throws {
    let store = try database.store()
    let person = Sample.person()
    let id: AccountID = Sample.id()
    let first = try store.signIn(
      person, newAccountID: id, creating: .session(Sample.session()), at: Sample.now)
    #expect(first.isNew)
    expect(first.account, is: Account(id: id, created: Sample.now, lastLogin: Sample.now))
    let later = Sample.now + 100
    let second = try store.begin(Sample.session(), for: person, at: later)
    #expect(!second.isNew)
    expect(second.account, is: Account(id: id, created: Sample.now, lastLogin: later))
    try expect(store.count("accounts"), is: 1)
    try expect(store.count("identities"), is: 1)
    try expect(store.number("SELECT last_login FROM accounts"), is: later.seconds)
    try expect(store.number("SELECT last_login FROM identities"), is: later.seconds)
  }

  @Test("one subject at two providers is two people", arguments: Database.installed)
  func providersApart(database: Database) throws {
    let store = try database.store()
    let one = try store.begin(Sample.session(), for: Sample.person("1", at: "google"))
    let other = try store.begin(Sample.session(), for: Sample.person("1", at: "apple"))
    #expect(other.isNew)
    expect(one.account.id, isNot: other.account.id)
  }

  @Test("one address at two subjects is two people", arguments: Database.installed)
  func addressesDoNotJoin(database: Database) throws {
    let store = try database.store()
    let one = try store.begin(Sample.session(), for: Sample.person("1"))
    let other = try store.begin(Sample.session(), for: Sample.person("2"))
    expect(one.account.id, isNot: other.account.id)
  }

  @Test(
    "what a sign-in tells replaces what was known; what it does not tell stays",
    arguments: Database.installed)
  func profile(database: Database) throws {
    let store = try database.store()
    func sign(_ email: String?, _ isVerified: Bool, _ name: String?) throws -> Identity? {
      let identity = Identity(
        provider: "google", subject: "1", email: email, isEmailVerified: isVerified, name: name)
      let account = try store.begin(Sample.session(), for: identity).account.id
      return try store.identities(ofAccount: account).first
    }
    func known(_ email: String?, _ isVerified: Bool, _ name: String?) -> Identity {
      Identity(provider: "google", subject: "1", email: email, isEmailVerified: isVerified, name: name)
    }
    try expect(sign("a@example.com", true, "Alice"), is: known("a@example.com", true, "Alice"))
    try expect(sign(nil, false, nil), is: known("a@example.com", true, "Alice"))
    try expect(sign("b@example.com", false, nil), is: known("b@example.com", false, "Alice"))
    try expect(sign(nil, true, "Alicia"), is: known("b@example.com", false, "Alicia"))
  }

  @Test("texts come back as they were", arguments: Database.installed)
  func texts(database: Database) throws {
    let store = try database.store()
    let identity = Identity(
      provider: "it's \"quoted\"", subject: "e\u{301}|é|𝄞|%_\\", email: "", isEmailVerified: false, name: ""
    )
    let session = Sample.session(app: "", device: "Ünïx; DROP TABLE accounts;--")
    let account = try store.begin(session, for: identity).account
    try expect(store.identities(ofAccount: account.id), is: [identity])
    let live = try #require(try store.session(tokenHash: session.tokenHash, at: Sample.now))
    expect(live.identity, is: identity)
    expect(live.app, is: "")
    expect(live.device, is: session.device)
    expect(live.id, is: session.id)
    expect(live.account, is: account)
  }

  @Test("identities are distinguished byte by byte", arguments: Database.installed)
  func spelling(database: Database) throws {
    let store = try database.store()
    for subject in ["é", "e\u{301}", "E\u{301}", "é ", "É"] {
      #expect(try store.begin(Sample.session(), for: Sample.person(subject)).isNew, "\(subject)")
    }
  }

  @Test("a repeated sign-in with the same token begins no second session", arguments: Database.installed)
  func repeated(database: Database) throws {
    let store = try database.store()
    let session = Sample.session()
    let person = Sample.person()
    let id: AccountID = Sample.id()
    for _ in 0..<2 {
      let signedIn = try store.signIn(
        person, newAccountID: id, creating: .session(session), at: Sample.now)
      #expect(signedIn.isNew)
    }
    try expect(store.count("sessions"), is: 1)
  }

  @Test(
    "a new person never gets an account that is there already, and the refusal leaves nothing",
    arguments: Database.installed)
  func usedAccountID(database: Database) throws {
    let store = try database.store()
    let id: AccountID = Sample.id()
    _ = try store.signIn(
      Sample.person("1"), newAccountID: id, creating: .session(Sample.session()), at: Sample.now)
    #expect {
      try store.signIn(
        Sample.person("2"), newAccountID: id, creating: .session(Sample.session()), at: Sample.now)
    } throws: { isFault($0) }
    try expect(store.count("identities"), is: 1)
    try expect(store.count("sessions"), is: 1)
  }

  @Test(
    "values that one of the databases could not store are refused by both", arguments: Database.installed)
  func refusedValues(database: Database) throws {
    let store = try database.store()
    let nul = Identity(provider: "google", subject: "a\0b")
    #expect { try store.begin(Sample.session(), for: nul) } throws: { isFault($0) }
    let address = Identity(provider: "google", subject: "ab", email: "a\0@example.com")
    #expect { try store.begin(Sample.session(), for: address) } throws: { isFault($0) }
    var short = Sample.session()
    short.tokenHash = [1, 2, 3]
    #expect { try store.begin(short, for: Sample.person()) } throws: { isFault($0) }
    try expect(store.count("accounts"), is: 0)
    let named = Identity(provider: "google", subject: "1", name: "A\0lice")
    let account = try store.begin(Sample.session(), for: named).account.id
    try expect(store.identities(ofAccount: account).first?.name, is: "Alice")
  }

  @Test(
    "identities are listed with the oldest first, and of that account alone", arguments: Database.installed)
  func identities(database: Database) throws {
    let store = try database.store()
    let account = try store.begin(Sample.session(), for: Sample.person("2"), at: Sample.now + 1).account.id
    try store.begin(Sample.session(), for: Sample.person("1"), at: Sample.now)
    try store.begin(Sample.session(), for: Sample.person("3"), at: Sample.now + 2)
    try expect(store.identities(ofAccount: account).map(\.subject), is: ["2"])
    _ = try store.number(
      "UPDATE identities SET account = (SELECT account FROM identities WHERE subject = '2')")
    try expect(store.identities(ofAccount: account).map(\.subject), is: ["1", "2", "3"])
    #expect(try store.identities(ofAccount: Sample.id()).isEmpty)
  }
}

func isFault(_ error: any Error) -> Bool {
  if case .fault? = error as? StoreFailure { true } else { false }
}
func isUnavailable(_ error: any Error) -> Bool {
  if case .unavailable? = error as? StoreFailure { true } else { false }
}
func isFull(_ error: any Error) -> Bool {
  if case .full? = error as? StoreFailure { true } else { false }
}
func isUnknownOutcome(_ error: any Error) -> Bool {
  if case .unknownOutcome? = error as? StoreFailure { true } else { false }
}
