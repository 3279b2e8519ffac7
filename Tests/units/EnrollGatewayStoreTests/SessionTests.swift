// Sessions, on SQLite and PostgreSQL: their lifetime, the record of their last use, and the reasons for their end.

import EnrollRules
import EnrollGateway
import EnrollPosix
import Expectations
import Testing

@testable import EnrollGatewayStore

@Suite("Sessions")
struct SessionTests {
  private let now = Sample.now

  @Test("a session ends so many seconds after its last use", arguments: Database.installed)
  func idleEnd(database: Database) throws {
    let store = try database.store()
    let session = Sample.session(idle: 1_000, absolute: 10_000)
    try store.begin(session, for: Sample.person())
    try expect(store.session(tokenHash: session.tokenHash, at: now + 999)?.expires, is: now + 1_999)
    try expect(store.session(tokenHash: session.tokenHash, at: now + 1_998), isNot: nil)
    let other = Sample.session(idle: 1_000, absolute: 10_000)
    try store.begin(other, for: Sample.person())
    try expect(store.session(tokenHash: other.tokenHash, at: now + 1_000), is: nil)
    // The ended session stays ended.
    try expect(store.session(tokenHash: other.tokenHash, at: now + 1_001), is: nil)
  }

  @Test(
    "a session ends so many seconds after its beginning, whatever its use", arguments: Database.installed)
  func absoluteEnd(database: Database) throws {
    let store = try database.store()
    let session = Sample.session(idle: 1_000, absolute: 1_500)
    try store.begin(session, for: Sample.person())
    let live = try #require(try store.session(tokenHash: session.tokenHash, at: now + 900))
    expect(live.expires, is: now + 1_500)
    try expect(store.session(tokenHash: session.tokenHash, at: now + 1_499), isNot: nil)
    try expect(store.session(tokenHash: session.tokenHash, at: now + 1_500), is: nil)
  }

  @Test("a use is noted at most once a minute", arguments: Database.installed)
  func touches(database: Database) throws {
    let store = try database.store()
    let session = Sample.session(idle: 1_000, absolute: 10_000)
    try store.begin(session, for: Sample.person())
    func noted() throws -> Int64 { try store.number("SELECT last_seen FROM sessions") - now.seconds }
    let early = try #require(try store.session(tokenHash: session.tokenHash, at: now + 59))
    expect(early.lastSeen, is: now)
    try expect(noted(), is: 0)
    let due = try #require(try store.session(tokenHash: session.tokenHash, at: now + 60))
    expect(due.lastSeen, is: now + 60)
    expect(due.expires, is: now + 1_060)
    expect(due.created, is: now)
    try expect(noted(), is: 60)
    try expect(store.session(tokenHash: session.tokenHash, at: now + 119)?.lastSeen, is: now + 60)
    try expect(noted(), is: 60)
    // A replica whose clock is behind does not set the time of the last use back.
    try expect(store.session(tokenHash: session.tokenHash, at: now + 10)?.lastSeen, is: now + 60)
    try expect(noted(), is: 60)
  }

  @Test("lifetimes beyond every calendar do no harm", arguments: Database.installed)
  func longLife(database: Database) throws {
    let store = try database.store()
    let session = Sample.session(idle: .max, absolute: .max)
    try store.begin(session, for: Sample.person())
    let late = now + 1_000 * 366 * Sample.day
    try expect(store.session(tokenHash: session.tokenHash, at: late)?.lastSeen, is: late)
    let none = Sample.session(idle: -1, absolute: -1)
    try store.begin(none, for: Sample.person())
    try expect(store.session(tokenHash: none.tokenHash, at: now), is: nil)
  }

  @Test(
    "the live sessions of an account are listed, the one used last first", arguments: Database.installed)
  func list(database: Database) throws {
    let store = try database.store()
    let person = Sample.person()
    let first = Sample.session()
    let second = Sample.session()
    let ended = Sample.session(idle: 10)
    let account = try store.begin(first, for: person, at: now).account
    try store.begin(second, for: person, at: now + 1)
    try store.begin(ended, for: person, at: now + 2)
    try store.begin(Sample.session(), for: Sample.person(), at: now)
    try expect(store.sessions(ofAccount: account.id, at: now + 20).map(\.id), is: [second.id, first.id])
    _ = try store.session(tokenHash: first.tokenHash, at: now + 100)
    let listed = try store.sessions(ofAccount: account.id, at: now + 100)
    expect(listed.map(\.id), is: [first.id, second.id])
    expect(listed.first, is: try store.session(tokenHash: first.tokenHash, at: now + 100))
    #expect(try store.sessions(ofAccount: Sample.id(), at: now).isEmpty)
  }

  @Test("a session ends by its token, at once; ended again is no failure", arguments: Database.installed)
  func endByToken(database: Database) throws {
    let store = try database.store()
    let session = Sample.session()
    let other = Sample.session()
    try store.begin(session, for: Sample.person())
    try store.begin(other, for: Sample.person())
    try store.endSession(tokenHash: session.tokenHash)
    try expect(store.session(tokenHash: session.tokenHash, at: now), is: nil)
    try store.endSession(tokenHash: session.tokenHash)
    try expect(store.session(tokenHash: other.tokenHash, at: now), isNot: nil)
  }

  @Test("a session ends by its id for its own account alone", arguments: Database.installed)
  func endByID(database: Database) throws {
    let store = try database.store()
    let session = Sample.session()
    let mine = try store.begin(session, for: Sample.person()).account.id
    let other = try store.begin(Sample.session(), for: Sample.person()).account.id
    #expect(try !store.endSession(id: session.id, ofAccount: other))
    try expect(store.session(tokenHash: session.tokenHash, at: now), isNot: nil)
    #expect(try store.endSession(id: session.id, ofAccount: mine))
    try expect(store.session(tokenHash: session.tokenHash, at: now), is: nil)
    #expect(try !store.endSession(id: session.id, ofAccount: mine))
  }

  @Test("all sessions of an account end, but for that of a token", arguments: Database.installed)
  func endAll(database: Database) throws {
    let store = try database.store()
    let person = Sample.person()
    let kept = Sample.session()
    let account = try store.begin(kept, for: person).account.id
    for _ in 0..<3 { try store.begin(Sample.session(), for: person) }
    let stranger = Sample.session()
    try store.begin(stranger, for: Sample.person())
    try expect(store.endSessions(ofAccount: account, exceptTokenHash: kept.tokenHash), is: 3)
    try expect(store.sessions(ofAccount: account, at: now).map(\.id), is: [kept.id])
    try expect(store.endSessions(ofAccount: account, exceptTokenHash: nil), is: 1)
    #expect(try store.sessions(ofAccount: account, at: now).isEmpty)
    try expect(store.session(tokenHash: stranger.tokenHash, at: now), isNot: nil)
    try expect(store.endSessions(ofAccount: Sample.id(), exceptTokenHash: nil), is: 0)
  }

  @Test(
    "an account has a hundred live sessions: one more ends the one used longest ago",
    arguments: Database.installed)
  func limit(database: Database) throws {
    let store = try database.store()
    let person = Sample.person()
    let ended = Sample.session(idle: 10)
    let account = try store.begin(ended, for: person, at: now - 100).account.id
    let sessions = (0..<100).map { _ in Sample.session() }
    for (second, session) in sessions.enumerated() {
      try store.begin(session, for: person, at: now + Int64(second))
    }
    let stranger = Sample.session()
    try store.begin(stranger, for: Sample.person(), at: now - 1)
    // Sessions that have ended do not count.
    try expect(store.count("sessions"), is: 102)
    try expect(store.sessions(ofAccount: account, at: now + 200).count, is: 100)
    // The first session is used, so the second session is now unused for the longest time.
    _ = try store.session(tokenHash: sessions[0].tokenHash, at: now + 200)
    let late = Sample.session()
    try store.begin(late, for: person, at: now + 201)
    let left = try store.sessions(ofAccount: account, at: now + 201).map(\.id)
    expect(Set(left), is: Set(sessions.map(\.id) + [late.id]).subtracting([sessions[1].id]))
    // An app's session counts, too.
    let code = Sample.code(lasting: 1_000)
    _ = try store.signIn(person, newAccountID: Sample.id(), creating: .code(code), at: now + 202)
    try expect(store.session(tokenHash: sessions[2].tokenHash, at: now + 202), isNot: nil)
    _ = try store.redeem(
      codeHash: code.codeHash, provider: "google", challenge: "challenge", session: Sample.session(),
      at: now + 203)
    try expect(store.sessions(ofAccount: account, at: now + 203).count, is: 100)
    try expect(store.session(tokenHash: sessions[3].tokenHash, at: now + 203), is: nil)
    try expect(store.session(tokenHash: stranger.tokenHash, at: now + 203), isNot: nil)
  }

  @Test(
    "ending all sessions ends the codes on their way to apps; a spent one is known on",
    arguments: Database.installed)
  func endCodes(database: Database) throws {
    let store = try database.store()
    let person = Sample.person()
    let (kept, spent, waiting, other) = (Sample.session(), Sample.code(), Sample.code(), Sample.code())
    let account = try store.begin(kept, for: person).account.id
    for (code, who) in [(spent, person), (waiting, person), (other, Sample.person())] {
      _ = try store.signIn(who, newAccountID: Sample.id(), creating: .code(code), at: now)
    }
    func redeem(_ code: NewAppCode) throws -> Redemption {
      try store.redeem(
        codeHash: code.codeHash, provider: "google", challenge: "challenge", session: Sample.session(),
        at: now + 1)
    }
    _ = try redeem(spent)
    try expect(store.endSessions(ofAccount: account, exceptTokenHash: kept.tokenHash), is: 1)
    try expect(redeem(waiting), is: .unknown)
    try expect(redeem(spent), is: .reused)
    try expect(store.sessions(ofAccount: account, at: now + 1).map(\.id), is: [kept.id])
    let next = Sample.code()
    _ = try store.signIn(person, newAccountID: Sample.id(), creating: .code(next), at: now)
    try expect(store.endSessions(ofAccount: account, exceptTokenHash: nil), is: 1)
    try expect(redeem(next), is: .unknown)
    if case .created = try redeem(other) {} else { Issue.record("somebody else's code was ended") }
  }

  @Test("what has ended is pruned three days later, and nothing else", arguments: Database.installed)
  func prune(database: Database) throws {
    let store = try database.store()
    let person = Sample.person()
    let kept = SessionLimits.keptSeconds
    // This time is in the past, also by the database's own clock.
    let now = UnixTime(seconds: 1_700_000_000)
    let live = Sample.session(idle: 101)
    try store.begin(live, for: person, at: now)
    try store.begin(Sample.session(idle: 100), for: person, at: now)
    try store.begin(Sample.session(idle: 100, absolute: 50), for: person, at: now)
    for seconds in [100, 101] as [Int64] {
      var code = Sample.code()
      code.expires = now + seconds
      _ = try store.signIn(person, newAccountID: Sample.id(), creating: .code(code), at: now)
    }
    try expect(store.prune(at: now + kept + 49), is: 0)
    try expect(store.prune(at: now + kept + 100), is: 3)
    try expect(store.count("sessions"), is: 1)
    try expect(store.count("app_codes"), is: 1)
    try expect(store.session(tokenHash: live.tokenHash, at: now + 100), isNot: nil)
    try expect(store.prune(at: now + kept + 100), is: 0)
  }

  @Test(
    "a replica whose date is years ahead removes nothing that lives by the database's clock",
    arguments: Database.installed)
  func pruneByWrongClock(database: Database) throws {
    let store = try database.store()
    let today = SystemClock().wallTime()
    let session = Sample.session()
    try store.begin(session, for: Sample.person(), at: today)
    try expect(store.prune(at: today + 1_000 * Sample.day), is: 0)
    try expect(store.session(tokenHash: session.tokenHash, at: today + 1), isNot: nil)
    // A gateway with a wrong clock deletes no link and no logout token. A deleted logout token could be used
    // again.
    let logout = ProviderLogout(
      provider: "google", subject: "nobody", session: nil, hash: Sample.hash(), expires: today + 60)
    try expect(store.end(logout, at: today), is: 0)
    let link = try Sample.link()
    try store.keep(link, mail: nil, replacingOlder: true, at: today)
    try expect(store.prune(at: today + 1_000 * Sample.day), is: 0)
    try expect(store.end(logout, at: today), is: nil)
    // A gateway whose date is behind deletes nothing, either.
    try store.begin(Sample.session(idle: 1), for: Sample.person(), at: today - 10 * Sample.day)
    try expect(store.prune(at: today - 10 * Sample.day), is: 0)
    try expect(store.prune(at: today), is: 1)
  }

  @Test("a session whose identity has left the account signs nobody in", arguments: Database.installed)
  func identityGone(database: Database) throws {
    let store = try database.store()
    let session = Sample.session()
    try store.begin(session, for: Sample.person("1"))
    let other = try store.begin(Sample.session(), for: Sample.person("2")).account.id
    _ = try store.number(
      "UPDATE identities SET account = (SELECT account FROM identities WHERE subject = '2')")
    try expect(store.session(tokenHash: session.tokenHash, at: now), is: nil)
    try expect(store.identities(ofAccount: other).count, is: 2)
  }
}
