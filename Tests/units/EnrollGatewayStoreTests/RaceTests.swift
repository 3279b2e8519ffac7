// Tests of many sign-ins at once: no user may get two accounts, and no account may be without a user.

import EnrollRules
import EnrollGateway
import Expectations
import Foundation
import Testing

@testable import EnrollGatewayStore

@Suite("Sign-ins at once")
struct RaceTests {
  private static let threads = 32

  /// Each round has a new user.
  private static let rounds = ProcessInfo.processInfo.environment["TORTURE"] == "1" ? 100 : 2

  @Test(
    "1,000 sign-ins at once of one new person through three stores make one account, in each round",
    arguments: Database.installed)
  func onePerson(database: Database) throws {
    let place = try database.place()
    let store = try place.open()
    _ = try store.migrate()
    // Three stores with separate connections, as three replicas have; GatewayTests has replicas as programs.
    let stores = [store, try place.open(), try place.open()]
    for round in 1...Self.rounds {
      let person = Sample.person()
      let signedIn = try onThreads(Self.threads) { thread in
        try stride(from: thread, to: 1_000, by: Self.threads).map { _ in
          try stores[thread % 3].begin(Sample.session(), for: person)
        }
      }.flatMap { $0 }
      expect(signedIn.count, is: 1_000)
      expect(Set(signedIn.map(\.account.id)).count, is: 1)
      expect(signedIn.filter(\.isNew).count, is: 1)
      #expect(try store.count("accounts") == round)
      #expect(try store.count("identities") == round)
      // Concurrent calls do not see each other's sessions. So the limit of 100 may be exceeded, by at most
      // the number of connections.
      #expect((100...124).contains(try store.count("sessions") - Int64(100 * (round - 1))))
      try store.begin(Sample.session(), for: person)
      #expect(try store.count("sessions") == 100 * round)
    }
    try expect(store.orphans, is: 0)
  }

  @Test("more than one batch is pruned by one call", arguments: Database.installed)
  func batches(database: Database) throws {
    let store = try database.store()
    let long = UnixTime(seconds: 1_700_000_000)
    let people = (0..<11).map { Sample.person("\($0)") }
    for person in people {
      for _ in 0..<91 { try store.begin(Sample.session(idle: 100), for: person, at: long) }
    }
    try expect(store.prune(at: Sample.now), is: 1_001)
  }

  @Test(
    "many new people at once, each from several threads, have one account each",
    arguments: Database.installed)
  func manyPeople(database: Database) throws {
    let store = try database.store()
    let people = (0..<20).map { Sample.person("\($0)") }
    _ = try onThreads(Self.threads) { thread in
      for turn in 0..<people.count {
        try store.begin(Sample.session(), for: people[(turn + thread / 4) % people.count])
      }
    }
    try expect(store.count("accounts"), is: 20)
    try expect(store.count("identities"), is: 20)
    try expect(store.count("sessions"), is: 640)
    try expect(store.orphans, is: 0)
  }

  @Test(
    "of many uses at once in a due minute one is noted, and every one is answered",
    arguments: Database.installed)
  func touches(database: Database) throws {
    let store = try database.store()
    let session = Sample.session()
    try store.begin(session, for: Sample.person())
    let live = try onThreads(Self.threads) { thread in
      try store.session(tokenHash: session.tokenHash, at: Sample.now + 60 + Int64(thread))
    }
    #expect(live.allSatisfy { $0?.id == session.id })
    let noted = try store.number("SELECT last_seen FROM sessions") - Sample.now.seconds
    #expect((60..<120).contains(noted))
  }
}
