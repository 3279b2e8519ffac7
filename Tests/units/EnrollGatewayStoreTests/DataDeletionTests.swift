// Tests of a provider's request to delete data, on both databases: what is deleted, what is kept, and concurrent
// changes.

import EnrollRules
import EnrollGateway
import Expectations
import Testing

@testable import EnrollGatewayStore

@Suite("deletions that a provider asks for")
struct DataDeletionTests {
  private let now = Sample.now

  private func deletion(_ identity: Identity, hash: [UInt8] = Sample.hash()) -> ProviderDeletion {
    ProviderDeletion(identity: identity.key, hash: hash, expires: now + 3_600)
  }

  @Test("the last identity takes its account along, once", arguments: Database.installed)
  func account(database: Database) throws {
    let store = try database.store()
    let person = try AccountChangeTests.person(in: store)
    let bystander = try AccountChangeTests.person(in: store)
    try store.keepToken("sealed", of: person.identity.key)
    let deletion = deletion(person.identity)
    #expect(try !store.isDataDeleted(hash: deletion.hash, at: now))
    guard case .account(let id, let deleted) = try store.deleteData(deletion, at: now) else {
      Issue.record("the account stayed")
      return
    }
    #expect(id == person.account && deleted.endedSessions == 1)
    expect(deleted.identities.map(\.key), is: [person.identity.key])
    try expect(store.count("revocations"), is: 1)
    #expect(try store.isDataDeleted(hash: deletion.hash, at: now + 3_599))
    #expect(try !store.isDataDeleted(hash: deletion.hash, at: now + 3_600))
    #expect(try !store.isDataDeleted(hash: Sample.hash(), at: now))
    // If the same request is sent again, it must not delete the data of a user who has returned.
    try store.begin(Sample.session(), for: person.identity)
    try expect(store.deleteData(deletion, at: now), is: .repeated)
    try expect(store.account(of: person.identity.key), isNot: nil)
    try expect(store.session(tokenHash: bystander.session.tokenHash, at: now), isNot: nil)
    try expect(
      store.audit(ofAccount: person.account, limit: 2).map(\.event), is: [.deleted, .providerDeletion])
  }

  @Test("an account with another identity stays, with what that one began", arguments: Database.installed)
  func identity(database: Database) throws {
    let store = try database.store()
    let person = try AccountChangeTests.person(in: store)
    let (second, begun, code) = (Sample.person(at: "work"), Sample.session(), Sample.code(provider: "work"))
    _ = try store.link(second, by: person.proof, at: now)
    try store.begin(begun, for: second)
    _ = try store.signIn(second, newAccountID: Sample.id(), creating: .code(code), at: now)
    guard case .identity(let account, let before, let ended) = try store.deleteData(deletion(second), at: now)
    else {
      Issue.record("the identity stayed, or the account went")
      return
    }
    #expect(account == person.account && ended == 1)
    expect(Set(before.map(\.key)), is: [person.identity.key, second.key])
    try expect(store.session(tokenHash: begun.tokenHash, at: now), is: nil)
    try expect(store.session(tokenHash: person.session.tokenHash, at: now), isNot: nil)
    try expect(store.count("app_codes"), is: 0)
    try expect(store.identities(ofAccount: person.account).map(\.key), is: [person.identity.key])
  }

  @Test("an identity that nobody has is noted, and nothing goes", arguments: Database.installed)
  func nobody(database: Database) throws {
    let store = try database.store()
    _ = try AccountChangeTests.person(in: store)
    let deletion = deletion(Sample.person())
    try expect(store.deleteData(deletion, at: now), is: .nobody)
    #expect(try store.isDataDeleted(hash: deletion.hash, at: now))
    try expect(store.count("accounts"), is: 1)
    var hostile = deletion
    hostile.identity.subject = "a\0b"
    #expect(throws: StoreFailure.self) { try store.deleteData(hostile, at: now) }
  }

  @Test(
    "a deletion that meets a link, an unlink and a merge takes no account that has another identity",
    arguments: Database.installed)
  func races(database: Database) throws {
    let store = try database.store()
    for _ in 0..<20 {
      let (person, other) = (
        try AccountChangeTests.person(in: store), try AccountChangeTests.person(in: store)
      )
      let (late, deletion) = (Sample.person(at: "work"), deletion(person.identity))
      let outcomes = try onThreads(6) { thread -> String in
        switch thread {
        case 0, 1:
          switch try store.deleteData(deletion, at: Sample.now) {
          case .account: "account"
          case .identity: "identity"
          case .nobody: "nobody"
          case .repeated: "repeated"
          }
        case 2: "\(try store.link(late, by: person.proof, at: Sample.now))"
        case 3: "\(try store.unlink(person.identity.key, by: person.proof, at: Sample.now))"
        default:
          "\(try store.merge(person.account, provenBy: person.identity.key, by: other.proof, at: Sample.now))"
        }
      }
      expect(outcomes.count { $0 == "repeated" }, is: 1, "\(outcomes)")
      try expect(store.account(of: person.identity.key), is: nil, "\(outcomes)")
      try expect(store.account(of: other.identity.key), is: other.account, "\(outcomes)")
      #expect(try store.account(of: late.key) != nil || !outcomes.contains("linked"), "\(outcomes)")
      try expect(store.orphans, is: 0)
    }
  }
}
