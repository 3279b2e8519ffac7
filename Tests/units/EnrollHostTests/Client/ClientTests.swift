@testable import EnrollPosix
@testable import EnrollStore
import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollJSON
import EnrollTesting
import Expectations
import Foundation
import FoundationNetworking
import StoreSupport
import Testing

@testable import EnrollHost

/// A client with fakes.
private struct Stage {
  let clock = FakeClock()
  let provider: FakeProvider
  let store: MemoryTokenStore
  let redirectURI: String

  init(redirectURI: String = "com.example.app:/callback") throws {
    provider = try FakeProvider(clock: clock)
    store = MemoryTokenStore(clock: clock)
    self.redirectURI = redirectURI
  }

  func client(
    isPlatformReady: Bool = true, requiresConfirmation: Bool = false, hasBackEnd: Bool = false,
    renewsInBackground: Bool = false, store other: (any TokenStore)? = nil, log: (any LogHandler)? = nil
  ) throws -> Client {
    var options = ClientOptions(
      configuration: try Configuration(
        issuer: provider.issuer, clientID: "native", redirectURI: redirectURI
      ) {
        $0.requiresConfirmation = requiresConfirmation
        $0.registrationCheckURI = hasBackEnd ? provider.issuer + "/check" : nil
        $0.requireCheck = hasBackEnd
        $0.errorReportURI = hasBackEnd ? provider.issuer + "/errors" : nil
      }, store: .custom(other ?? store))
    options.transport = provider
    options.clock = clock
    options.isPlatformReady = isPlatformReady
    options.renewsInBackground = renewsInBackground
    options.log = log
    return try Client(options)
  }

  func signedIn(renewsInBackground: Bool = false, store: (any TokenStore)? = nil) throws -> Client {
    let client = try client(renewsInBackground: renewsInBackground, store: store)
    let begun = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
    guard case .openURL(let url) = begun.action else { throw EnrollError(.internal, "no URL") }
    _ = try client.resume(provider.signIn(at: url), until: .distantFuture, cancellation: nil)
    return client
  }

  /// Gives the threads one real second for every five seconds that it advances the fake clock.
  func letTimePass(until event: Event) throws {
    let real = SystemClock()
    for _ in 0..<60 where !event.wait(until: real.instant().advanced(bySeconds: 1), by: real) {
      clock.advance(seconds: 5)
    }
    try #require(event.isSet, "nothing happened in five minutes")
  }

  /// The text that is copied into a buffer of `capacity` bytes; nil if no token is in memory.
  func copy(
    _ token: TokenPointer, capacity: Int, minimumLifetimeSeconds: Int64 = 0, if isAlive: () -> Bool = { true }
  ) -> String? {
    var buffer = [UInt8](repeating: 0, count: capacity)
    let copied = buffer.withUnsafeMutableBytes {
      token.copy(
        minimumLifetimeSeconds: minimumLifetimeSeconds, at: clock.instant(), into: $0, if: isAlive)
    }
    guard let copied else { return nil }
    return copied.count == 8 ? String(decoding: buffer, as: UTF8.self) : nil
  }

  /// Copies the token for an audience.
  func copy(_ token: TokenPointer, _ resource: String, _ scopes: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: 8)
    let copied = Array(resource.utf8).withUnsafeBytes { resource in
      Array(scopes.utf8).withUnsafeBytes { scopes in
        buffer.withUnsafeMutableBytes {
          token.copy(
            resource: resource, scopes: scopes, minimumLifetimeSeconds: 0, at: clock.instant(), into: $0,
            if: { true })
        }
      }
    }
    return copied.map { String(decoding: buffer.prefix($0.count), as: UTF8.self) }
  }

  /// The expiry of the token in memory; nil if no token is in memory.
  func expiry(_ token: TokenPointer) -> UnixTime? {
    let nowhere = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    return token.copy(minimumLifetimeSeconds: 0, at: clock.instant(), into: nowhere, if: { true })?.expiresAt
  }
}

extension Client {
  fileprivate func now(until deadline: Instant = .distantFuture) throws -> AccessOutcome {
    try access(minimumLifetimeSeconds: 0, until: deadline, cancellation: nil)
  }
}

private func code(_ body: () throws -> Void) -> EnrollError.Code? {
  do { try body() } catch let error as EnrollError { return error.code } catch { return .internal }
  return nil
}

/// Waits for renewals.
private final class RenewalWatch: EngineObserver {
  let renewed = Event()
  let failures = Guarded(0, by: Mutex())
  func observe(_ notification: EnrollEvent) {
    if case .tokenRenewed = notification { renewed.set() }
    if case .tokenRenewalFailed = notification { failures.withLock { $0 += 1 } }
  }
}

@Suite("The client: threads, deadlines, loopback", .timeLimit(.minutes(10)))
struct ClientTests {
  @Test(
    "a renewal whose answers were lost is tried again while the provider's grace lasts, though nobody asks")
  func followUp() async throws {
    try await aside {
      let stage = try Stage()
      stage.provider.change { $0.graceSeconds = 60 }
      let client = try stage.signedIn()
      let watch = RenewalWatch()
      _ = client.observe(watch)
      stage.clock.advance(seconds: 3550)
      stage.provider.next(.token, .answerLost, .answerLost)
      guard case .stale = try client.now() else { throw EnrollError(.internal, "an answer came") }
      try stage.letTimePass(until: watch.renewed)
      client.close()
      stage.clock.advance(seconds: 4000)
      #expect(try stage.client().now().token().value.reveal().hasPrefix("access-"))
    }
  }

  @Test("what a renewal could not store is stored once the disk is well again, though nobody asks (R30)")
  func storedUnasked() async throws {
    try await aside {
      let stage = try Stage()
      _ = try stage.signedIn()
      let disk = FailingTokenStore(stage.store)
      let client = try stage.client(store: disk)
      let watch = RenewalWatch()
      _ = client.observe(watch)
      stage.clock.advance(seconds: 3550)
      stage.provider.next(.token, .during { disk.refuse(.before, times: 100) })
      guard case .stale = try client.now() else { throw EnrollError(.internal, "stored all the same") }
      disk.refuse(.before, times: 0)
      try stage.letTimePass(until: watch.renewed)
      try expect(stage.client().now().token().value.reveal(), is: "access-3")
      expect(stage.provider.count(.token), is: 2)
      client.close()
    }
  }

  @Test(
    "what came while the store's folder was away is stored soon after its return; nobody else renews before")
  func folderAway() async throws {
    try await aside {
      let stage = try Stage()
      let folder = TestFolder()
      let (place, elsewhere) = (folder.store, folder.path + "/aside")
      let client = try stage.signedIn(store: try folder.open(clock: stage.clock))
      let watch = RenewalWatch()
      _ = client.observe(watch)
      let epoch = try #require(try folder.open(clock: stage.clock).read(client.account)?.tokenEpoch)
      stage.clock.advance(seconds: 3550)
      stage.provider.next(.token, .during { rename(place, elsewhere) })
      if case .valid = try? client.now() { throw EnrollError(.internal, "stored all the same") }
      // Waits until two attempts to store the tokens have failed: the first one, and a retry.
      while watch.failures.withLock({ $0 }) < 2 {
        Thread.sleep(forTimeInterval: 0.05)
        stage.clock.advance(seconds: 1)
      }
      rename(elsewhere, place)
      let other = try folder.open(clock: stage.clock)
      let result = try other.withRenewalLock(client.account, epoch: epoch, deadline: Instant(nanoseconds: 0))
      {}
      expect(result, isNot: .acquired)
      stage.clock.advance(seconds: 5)
      let real = SystemClock()
      #expect(watch.renewed.wait(until: real.instant().advanced(bySeconds: 60), by: real))
      try expect(other.read(client.account)?.confirmed?.refreshToken, is: Secret("refresh-3"))
      expect(stage.provider.count(.token), is: 2)
      client.close()
    }
  }

  @Test("what a renewal could not store is stored when the client is drained (R30, R39)")
  func drainStores() throws {
    let stage = try Stage()
    _ = try stage.signedIn()
    let disk = FailingTokenStore(stage.store)
    let client = try stage.client(store: disk)
    stage.clock.advance(seconds: 3550)
    stage.provider.next(.token, .during { disk.refuse(.before, times: 100) })
    guard case .stale = try client.now() else { throw EnrollError(.internal, "stored all the same") }
    disk.refuse(.before, times: 0)
    client.close()
    client.drain()
    try expect(stage.client().now().token().value.reveal(), is: "access-3")
    expect(stage.provider.count(.token), is: 2)
  }

  /// A client that renewed its tokens and cannot store them: from then on, the disk refuses every write.
  private func unsaved(_ stage: Stage, log: (any LogHandler)? = nil) throws -> (Client, FailingTokenStore) {
    _ = try stage.signedIn()
    let disk = FailingTokenStore(stage.store)
    let client = try stage.client(store: disk, log: log)
    stage.clock.advance(seconds: 3550)
    stage.provider.next(.token, .during { disk.refuse(.before, times: 10_000) })
    guard case .stale(_, let reason) = try client.now() else {
      throw EnrollError(.internal, "stored all the same")
    }
    #expect(reason.message.hasPrefix("the provider renewed the tokens, but the store refused them"))
    return (client, disk)
  }

  @Test("what a closed client could not store is stored before a later client of the account renews (R30)")
  func laterClient() throws {
    let stage = try Stage()
    let (client, disk) = try unsaved(stage)
    client.close()
    let later = try stage.client(store: disk)
    guard case .stale(_, let reason) = try later.now() else {
      throw EnrollError(.internal, "stored all the same")
    }
    expect(reason.code, is: .storeIO)
    disk.refuse(.before, times: 0)
    try expect(later.now().token().value.reveal(), is: "access-3")
    expect(stage.provider.count(.token), is: 2)
    later.close()
  }

  @Test("the draining of a closed client goes on trying to store what the disk refuses (R39)")
  func drainGoesOn() async throws {
    try await aside {
      let stage = try Stage()
      let (client, disk) = try unsaved(stage)
      client.close()
      let isDrained = Event()
      let before = disk.left
      Thread.detachNewThread {
        client.drain()
        isDrained.set()
      }
      // Waits for several attempts to store the tokens, each with several writes.
      while disk.left > before - 30, !isDrained.isSet { Thread.sleep(forTimeInterval: 0.01) }
      #expect(!isDrained.isSet)
      disk.refuse(.before, times: 0)
      isDrained.wait()
      try expect(stage.store.read(client.account)?.confirmed?.refreshToken, is: Secret("refresh-3"))
    }
  }

  private final class Lines: LogHandler {
    let level = LogLevel.error
    let written = Guarded<[String]>([], by: Mutex())
    func write(_ level: LogLevel, _ line: String) { written.withLock { $0.append(line) } }
  }

  @Test("what cannot be stored until the process has to end is told of in the log")
  func lostTokens() throws {
    let stage = try Stage()
    let log = Lines()
    let (client, disk) = try unsaved(stage, log: log)
    client.close()
    client.cancelLastRequests()
    client.drain(keepsTrying: false)
    #expect(log.written.withLock { $0.contains { $0.contains("the store refused them") } })
    disk.refuse(.before, times: 0)
  }

  @Test("of two attempts, awaiting the newer answers when the older signs in, here or in another process")
  func olderAttempt() throws {
    for isHere in [true, false] {
      let stage = try Stage()
      let client = try stage.client()
      let elsewhere = isHere ? client : try stage.client()
      let older = try elsewhere.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
      let newer = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
      guard case .openURL(let url) = older.action else { throw EnrollError(.internal, "no URL") }
      _ = try elsewhere.resume(stage.provider.signIn(at: url), until: .distantFuture, cancellation: nil)
      let state = try client.awaitTransaction(
        newer.transactionID, until: stage.clock.instant().advanced(bySeconds: 1), cancellation: nil)
      guard case .active = state else {
        Issue.record("\(state)")
        return
      }
      try expect(client.now().token().value.reveal(), is: "access-2")
      // A transaction that begins during that session must have its own timeout.
      let next = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
      let soon = CancellationFlag()
      soon.cancel()
      expect(
        code {
          _ = try client.awaitTransaction(next.transactionID, until: .distantFuture, cancellation: soon)
        }, is: .cancelled)
    }
  }

  @Test("an attempt that fails settles no other")
  func failedAttempt() throws {
    let stage = try Stage()
    let client = try stage.client()
    let older = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
    let newer = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
    guard case .openURL(let url) = older.action else { throw EnrollError(.internal, "no URL") }
    let refused = stage.provider.refuse(url, error: "access_denied")
    expect(
      code { _ = try client.resume(refused, until: .distantFuture, cancellation: nil) }, is: .accessDenied)
    let soon = CancellationFlag()
    soon.cancel()
    expect(
      code {
        _ = try client.awaitTransaction(newer.transactionID, until: .distantFuture, cancellation: soon)
      }, is: .cancelled)
  }

  @Test("switched on, a renewal in the background comes before anybody asks, until the client is closed")
  func background() async throws {
    try await aside {
      let stage = try Stage()
      let client = try stage.signedIn(renewsInBackground: true)
      for count in 2...4 {
        let watch = RenewalWatch()
        let ticket = client.observe(watch)
        stage.clock.advance(seconds: 3600 - 61)
        // The test advances the fake clock, because two renewals are at least some seconds apart.
        try stage.letTimePass(until: watch.renewed)
        client.stopObserving(ticket)
        expect(stage.provider.count(.token), is: count)
      }
      // This call must not wait for a renewal, because the token is in memory.
      try expect(client.now().token().value.reveal(), is: "access-5")
      client.close()
      stage.clock.advance(seconds: 7200)
      // Once this timer runs, everything that was planned before has run.
      let late = Event()
      _ = client.timers.run(at: stage.clock.instant()) { late.set() }
      late.wait()
      client.drain()
      expect(stage.provider.count(.token), is: 4)
    }
  }

  @Test(
    "a host's clock at the end of its range, or before its beginning, stops nothing (R41)",
    arguments: [
      Int64.max, .max - 1, 0, -1, .min + 1, .min,
    ])
  func extremeClock(_ nanoseconds: Int64) async throws {
    try await aside {
      let stage = try Stage()
      let client = try stage.signedIn(renewsInBackground: true)
      stage.clock.setInstant(Instant(nanoseconds: nanoseconds))
      let another = try stage.client(renewsInBackground: true)
      _ = try another.now()
      another.close()
      another.drain()
      _ = try client.now()
      client.close()
      client.drain()
    }
  }

  @Test("64 threads that ask for a due token cause one request, and all get the same")
  func oneRequest() throws {
    let stage = try Stage()
    let client = try stage.signedIn()
    stage.clock.advance(seconds: 3550)
    let outcomes = Guarded<[String]>([], by: Mutex())
    DispatchQueue.concurrentPerform(iterations: 64) { _ in
      let token = (try? client.now().token().value.reveal()) ?? "none"
      outcomes.withLock { $0.append(token) }
    }
    expect(outcomes.withLock { $0 }, is: Array(repeating: "access-3", count: 64))
    expect(stage.provider.count(.token), is: 2)
  }

  @Test("a caller whose deadline passes gets the live token, and the renewal goes on to its end")
  func deadline() throws {
    let stage = try Stage()
    let client = try stage.signedIn()
    stage.clock.advance(seconds: 3550)
    let arrived = DispatchSemaphore(value: 0)
    let release = DispatchSemaphore(value: 0)
    stage.provider.next(
      .token,
      .during {
        arrived.signal()
        release.wait()
      })
    let answered = DispatchSemaphore(value: 0)
    let outcome = Guarded<AccessOutcome?>(nil, by: Mutex())
    let deadline = client.deadline(afterSeconds: 5)
    Thread.detachNewThread {
      let got = try? client.now(until: deadline)
      outcome.withLock { $0 = got }
      answered.signal()
    }
    arrived.wait()
    stage.clock.advance(seconds: 5)
    answered.wait()
    guard case .stale(let token, let reason) = outcome.withLock({ $0 }) else {
      release.signal()
      Issue.record("\(String(describing: outcome.withLock { $0 }))")
      return
    }
    #expect(token.value == Secret("access-2") && reason.code == .deadlineExceeded)
    release.signal()
    #expect(try client.refresh(until: .distantFuture, cancellation: nil).token().value.count > 0)
    try expect(stage.store.read(client.account)?.confirmed?.refreshToken, isNot: Secret("refresh-2"))
  }

  @Test("a cancelled caller leaves alone; the renewal is stored all the same")
  func cancelled() throws {
    let stage = try Stage()
    let client = try stage.signedIn()
    stage.clock.advance(seconds: 3550)
    let cancellation = CancellationFlag()
    let release = DispatchSemaphore(value: 0)
    stage.provider.next(
      .token,
      .during {
        cancellation.cancel()
        release.wait()
      })
    expect(
      code {
        _ = try client.access(minimumLifetimeSeconds: 0, until: .distantFuture, cancellation: cancellation)
      }, is: .cancelled)
    release.signal()
    try expect(client.now().token().value, is: Secret("access-3"))
  }

  @Test("a logout is seen at once by its own client, and within a second by another")
  func logoutElsewhere() throws {
    let stage = try Stage()
    let first = try stage.signedIn()
    let second = try stage.client()
    _ = try first.now().token()
    _ = try second.now().token()
    expect(second.freshAccessToken(minimumLifetimeSeconds: 0), isNot: nil)
    _ = try first.beginLogout(localOnly: true, until: .distantFuture, cancellation: nil)
    expect(first.freshAccessToken(minimumLifetimeSeconds: 0), is: nil)
    try expect(first.now(), is: .reauthenticate(reason: "no user is signed in"))
    stage.clock.advance(seconds: 1)
    try expect(second.now(), is: .reauthenticate(reason: "no user is signed in"))
  }

  @Test("a fresh token is copied from memory, and its length told when it does not fit")
  func copies() throws {
    let stage = try Stage()
    let client = try stage.signedIn()
    expect(stage.copy(client.tokenPointer, capacity: 8), is: nil)
    _ = try client.now()
    expect(stage.copy(client.tokenPointer, capacity: 8), is: "access-2")
    let short = stage.copy(client.tokenPointer, capacity: 7)
    expect(short, is: String(repeating: "\0", count: 7))
    expect(stage.copy(client.tokenPointer, capacity: 8, if: { false }), is: nil)
    expect(stage.copy(client.tokenPointer, capacity: 8, minimumLifetimeSeconds: 3239), is: "access-2")
    stage.clock.advance(seconds: 1)
    expect(stage.copy(client.tokenPointer, capacity: 8), is: nil)
  }

  @Test(
    "a date that was wrong when the tokens came, and was set right, gives the right end everywhere",
    arguments: [-31_536_000, 3600, 31_536_000])
  func dateIsSet(wrong: Int64) throws {
    let stage = try Stage()
    let right = stage.clock.wallTime().seconds
    let named = try TokenAudience.naming(resource: "https://api.example/", scopes: nil)
    stage.provider.change {
      $0.resources = ["https://api.example/"]
      $0.tokens = { $0["refresh_expires_in"] = .integer(86_400) }
    }
    stage.clock.setWall(right + wrong)
    let client = try stage.signedIn()
    // The provider keeps the session's own token after a renewal for the audience.
    try stage.store.update(client.account) { $0.keepsAccessTokens = true }
    _ = try client.access(
      minimumLifetimeSeconds: 0, for: named, until: .distantFuture, cancellation: nil)
    stage.clock.advance(seconds: 10)
    stage.clock.setWall(right + 10)
    let end = UnixTime(seconds: right + 3600)
    try expect(client.now().token().expiresAt, is: end)
    expect(client.freshAccessToken(minimumLifetimeSeconds: 0)?.expiresAt, is: end)
    expect(stage.expiry(client.tokenPointer), is: end)
    let other = try client.access(
      minimumLifetimeSeconds: 0, for: named, until: .distantFuture, cancellation: nil)
    try expect(other.token().expiresAt, is: end)
    try expect(client.keptTokens().map { $0.expiresAt }, is: [end, end])
    try expect(client.readAccount().expiresAt, is: end)
    try expect(client.readAccount().renewableUntil, is: UnixTime(seconds: right + 86_400))
  }

  @Test("tokens for other audiences are copied however a caller spells them, and no other's")
  func copiesForAudiences() throws {
    let stage = try Stage()
    let (api, other) = ("https://api.example/1", "https://api.example/2")
    stage.provider.change { $0.resources = [api, other] }
    let client = try stage.signedIn()
    func fetch(_ resource: String) throws -> String {
      let audience = try TokenAudience.naming(resource: resource, scopes: ["openid", "offline_access"])
      return try client.access(
        minimumLifetimeSeconds: 0, for: audience, until: .distantFuture, cancellation: nil
      ).token().value.reveal()
    }
    let (first, second) = (try fetch(api), try fetch(other))
    expect(first, isNot: second)
    // A renewal clears the tokens in memory; later calls read the tokens into memory again. From the first call,
    // EnrollKit learns that older tokens still work.
    _ = try fetch(api)
    #expect(try fetch(api) == first && fetch(other) == second)
    for _ in 1...2 {
      for scopes in ["openid offline_access", "offline_access openid"] {
        expect(stage.copy(client.tokenPointer, api, scopes), is: first)
        expect(stage.copy(client.tokenPointer, other, scopes), is: second)
        expect(stage.copy(client.tokenPointer, "https://api.example/3", scopes), is: nil)
        expect(stage.copy(client.tokenPointer, "https://apj.example/1", scopes), is: nil)
        expect(stage.copy(client.tokenPointer, String(api.dropLast()), "1" + scopes), is: nil)
      }
    }
    stage.clock.advance(seconds: 1)
    expect(stage.copy(client.tokenPointer, api, "openid offline_access"), is: nil)
    try expect(fetch(api), is: first)
    expect(stage.copy(client.tokenPointer, api, "openid offline_access"), is: first)
    _ = try client.beginLogout(localOnly: true, until: .distantFuture, cancellation: nil)
    expect(stage.copy(client.tokenPointer, api, "openid offline_access"), is: nil)
  }

  @Test("a token that was refused is not handed out again from memory, although another process replaced it")
  func rejectedElsewhere() throws {
    let stage = try Stage()
    let (first, second) = (try stage.signedIn(), try stage.client())
    let refused = try second.now().token().value
    try expect(second.now().token().value, is: refused)
    let renewed = try first.refresh(until: .distantFuture, cancellation: nil).token().value
    expect(renewed, isNot: refused)
    let answer = try second.rejected(refused, until: .distantFuture, cancellation: nil).token().value
    expect(answer, is: renewed)
  }

  @Test("memory serves no token for longer than the caller needs it, and none after a logout or a close")
  func copiesFresh() throws {
    let stage = try Stage()
    let client = try stage.signedIn()
    stage.clock.advance(seconds: 1800)
    _ = try client.now()
    expect(stage.copy(client.tokenPointer, capacity: 8, minimumLifetimeSeconds: 1799), is: "access-2")
    expect(stage.copy(client.tokenPointer, capacity: 8, minimumLifetimeSeconds: 1800), is: nil)
    _ = try client.beginLogout(localOnly: true, until: .distantFuture, cancellation: nil)
    expect(stage.copy(client.tokenPointer, capacity: 8), is: nil)
    let other = try stage.signedIn()
    _ = try other.now()
    expect(stage.copy(other.tokenPointer, capacity: 8), isNot: nil)
    other.close()
    expect(stage.copy(other.tokenPointer, capacity: 8), is: nil)
  }

  @Test("the place of a token is used again, empty, by the next client")
  func placeIsReused() throws {
    let stage = try Stage()
    // Tests run at the same time: another test's client may get the slot, and put its own token there.
    let lifetime: Int64 = 54_321
    stage.provider.change { $0.lifetime = .integer(lifetime) }
    let expiry = stage.clock.wallTime() + lifetime
    var client: Client? = try stage.signedIn()
    _ = try client?.now()
    let place = try #require(client?.tokenPointer)
    expect(stage.expiry(place), is: expiry)
    client?.drain()
    client = nil
    expect(stage.expiry(place), isNot: expiry)
    var clients: [Client] = []
    for _ in 0..<100 where !clients.contains(where: { $0.tokenPointer.address == place.address }) {
      clients.append(try stage.client())
    }
    expect(stage.expiry(place), isNot: expiry)
  }

  @Test(
    "a sign-in that was given up does not keep a configured port from the next one, which takes its redirect, too"
  )
  func configuredPort() async throws {
    let probe = try LoopbackListener(redirectURI: "http://127.0.0.1/callback")
    let redirectURI = probe.redirectURI
    probe.close()
    let stage = try Stage(redirectURI: redirectURI)
    let client = try stage.client()
    let first = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
    _ = try client.cancel(first.transactionID)
    let second = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
    expect(second.redirectURI, is: redirectURI)
    let third = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
    guard case .openURL(let url) = second.action else { return }
    _ = try await URLSession.shared.data(from: #require(URL(string: stage.provider.signIn(at: url))))
    let state = try client.awaitTransaction(second.transactionID, until: .distantFuture, cancellation: nil)
    expect(state, is: .active(.confirmed))
    _ = try client.cancel(third.transactionID)
  }

  @Test("a loopback redirect reaches the listener, and whoever awaits the transaction (R4)")
  func loopback() async throws {
    let stage = try Stage(redirectURI: "http://127.0.0.1/callback")
    let client = try stage.client()
    let begun = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
    #expect(!begun.survivesProcess)
    guard case .openURL(let url) = begun.action else { return }
    // A request for another URL at the same listener must change nothing.
    _ = try? await URLSession.shared.data(
      from: #require(URL(string: (begun.redirectURI ?? "") + "?code=x&state=y")))
    let (page, _) = try await URLSession.shared.data(
      from: #require(URL(string: stage.provider.signIn(at: url))))
    #expect(String(decoding: page, as: UTF8.self).contains("<title>"))
    let state = try client.awaitTransaction(begun.transactionID, until: .distantFuture, cancellation: nil)
    expect(state, is: .active(.confirmed))
    expect(stage.provider.count(.token), is: 1)
  }

  @Test(
    "where our own offline_access is refused, the listener sends the browser on, and the same transaction ends well"
  )
  func goesOn() async throws {
    let stage = try Stage(redirectURI: "http://127.0.0.1/callback")
    let client = try stage.client()
    let begun = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
    guard case .openURL(let url) = begun.action else { return }
    let back = try #require(URLComponents(string: stage.provider.refuse(url, error: "invalid_scope")))
    let port = try #require(back.port)
    let browser = try #require(RawClient(port: UInt16(port)))
    _ = browser.send(
      "GET \(back.path)?\(back.percentEncodedQuery ?? "") HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n"
    )
    let head = browser.readAll()
    #expect(head.hasPrefix("HTTP/1.1 303"))
    let next = try #require(
      head.split(separator: "\r\n").first { $0.hasPrefix("Location: ") }?.dropFirst("Location: ".count))
    #expect(next.hasPrefix(stage.provider.issuer) && !next.contains("offline_access"))
    expect(
      code {
        _ = try client.awaitTransaction(
          begun.transactionID, until: client.deadline(afterSeconds: 0), cancellation: nil)
      }, is: .deadlineExceeded)
    _ = try await URLSession.shared.data(
      from: #require(URL(string: stage.provider.signIn(at: String(next)))))
    let state = try client.awaitTransaction(begun.transactionID, until: .distantFuture, cancellation: nil)
    expect(state, is: .active(.confirmed))
  }

  @Test("without a listener the host opens the URL at which the transaction goes on")
  func goesOnAtHost() throws {
    let stage = try Stage()
    let client = try stage.client()
    let begun = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
    guard case .openURL(let url) = begun.action else { return }
    stage.provider.next(.token, .status(400, body: #"{"error":"not_allowed"}"#))
    guard
      case .begun(let next) = try client.handle(
        stage.provider.signIn(at: url), until: .distantFuture, cancellation: nil),
      case .openURL(let again) = next.action
    else { throw EnrollError(.internal, "the sign-in did not go on") }
    expect(next.transactionID, is: begun.transactionID)
    try expect(
      client.handle(stage.provider.signIn(at: again), until: .distantFuture, cancellation: nil),
      is: .registration(.active(.confirmed)))
  }

  @Test(
    "sign-ins whose process was killed make room for another one; one that is listened for does not (R4, R12)"
  )
  func abandoned() throws {
    let stage = try Stage(redirectURI: "http://127.0.0.1/callback")
    let client = try stage.client()
    let first = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
    // As after a killed process, there is a transaction, but no listener at its port.
    let account = AccountName.default.belonging(to: client.configuration)
    let listener = try LoopbackListener(redirectURI: stage.redirectURI)
    listener.close()
    let living = try #require(try stage.store.read(account)?.transactions.first)
    try stage.store.update(account) { record in
      for number in 1..<AccountRecord.transactionLimit {
        record.transactions.append(living.abandoned("dead-\(number)", at: listener.redirectURI))
      }
    }
    _ = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
    let kept = try #require(try stage.store.read(account)).transactions
    expect(kept.filter { $0.status == .pending }.count, is: 2)
    expect(kept.first { $0.id == first.transactionID }?.status, is: .pending)
  }

  @Test("awaiting an unknown transaction, or one whose deadline passed, is an error of its own")
  func awaiting() throws {
    let stage = try Stage()
    let client = try stage.client()
    expect(
      code { _ = try client.awaitTransaction("nobody", until: .distantFuture, cancellation: nil) },
      is: .notFound)
    let begun = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
    stage.clock.advance(seconds: 601)
    expect(
      code { _ = try client.awaitTransaction(begun.transactionID, until: .distantFuture, cancellation: nil) },
      is: .transactionExpired)
  }

  @Test("one door for every URL: redirect, logout callback, and what is nobody's")
  func doors() throws {
    let stage = try Stage()
    let client = try stage.client()
    try expect(
      client.handle("com.example.app:/callback?code=x&state=y", until: .distantFuture, cancellation: nil),
      is: .unsolicited)
    let begun = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
    guard case .openURL(let url) = begun.action else { return }
    try expect(
      client.handle(stage.provider.signIn(at: url), until: .distantFuture, cancellation: nil),
      is: .registration(.active(.confirmed)))
  }

  @Test("a call that changes the store ends at its deadline, though another process holds the store's lock")
  func lockHeld() async throws {
    try await aside {
      let stage = try Stage()
      let folder = TestFolder()
      let client = try stage.signedIn(store: folder.open())
      let begun = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
      guard case .openURL(let page) = begun.action else { throw EnrollError(.internal, "no URL") }
      let url = stage.provider.signIn(at: page)
      let account = AccountName.default.belonging(to: client.configuration)
      let calls: [@Sendable (Instant) throws -> Void] = [
        { _ = try client.handle(url, until: $0, cancellation: nil) },
        { _ = try client.handle("com.example.app:/logout?state=x", until: $0, cancellation: nil) },
        { _ = try client.beginLogout(localOnly: true, until: $0, cancellation: nil) },
        { _ = try client.revoke(until: $0, cancellation: nil) },
        { _ = try client.deregister(until: $0, cancellation: nil) },
      ]
      for call in calls {
        let (isHeld, isOver) = (Event(), Event())
        let holder = Thread {
          _ = try? folder.open().update(account) { _ in
            isHeld.set()
            // A call that ignored its deadline would succeed after three seconds.
            _ = isOver.wait(nanoseconds: 3_000_000_000)
          }
        }
        holder.start()
        isHeld.wait()
        let timer = Thread {
          _ = isOver.wait(nanoseconds: 500_000_000)
          stage.clock.advance(seconds: 1)
        }
        timer.start()
        expect(code { try call(stage.clock.instant().advanced(bySeconds: 1)) }, is: .deadlineExceeded)
        isOver.set()
      }
      guard case .valid = try client.now() else { throw EnrollError(.internal, "the session is gone") }
    }
  }

  /// Waits for a condition of another thread, for ten seconds at most.
  private func eventually(_ condition: () throws -> Bool) throws -> Bool {
    for _ in 1...1000 {
      if try condition() { return true }
      Thread.sleep(forTimeInterval: 0.01)
    }
    return false
  }

  @Test("a failure is posted to the host's back end without anybody's doing, also one that settles nothing")
  func posted() throws {
    let stage = try Stage()
    let client = try stage.client(hasBackEnd: true)
    stage.provider.next(.discovery, .unreachable)
    expect(
      code { _ = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil) }, is: .network)
    #expect(try eventually { stage.provider.count(.errorReport) == 1 })
    let begun = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
    let url = stage.provider.signIn(at: begun.action.url ?? "")
    stage.provider.next(.keys, .status(503))
    expect(
      code { _ = try client.resume(url, until: .distantFuture, cancellation: nil) }, is: .keysUnavailable)
    _ = try client.resume(url, until: .distantFuture, cancellation: nil)
    #expect(try eventually { stage.provider.count(.errorReport) == 2 })
  }

  @Test("after a renewal the state is C once the check was asked; its caller has the token before")
  func checkedRenewal() throws {
    let stage = try Stage()
    _ = try stage.signedIn()
    let client = try stage.client(hasBackEnd: true)
    try expect(
      client.registrationState(wait: true, until: .distantFuture, cancellation: nil), is: .active(.valid))
    stage.clock.advance(seconds: 3550)
    try expect(client.now().token().value, is: Secret("access-3"))
    #expect(try eventually { client.lastKnownState == .active(.renewed) })
    expect(stage.provider.count(.registrationCheck), is: 2)
  }

  @Test("what an earlier process could not tell a server is told when the registration is first asked for")
  func leftover() throws {
    let stage = try Stage()
    let client = try stage.signedIn()
    // Both the logout and a run of the outbox that is still in progress send this request, so it must fail several
    // times.
    for _ in 1...8 { stage.provider.next(.revocation, .unreachable) }
    _ = try client.beginLogout(localOnly: false, until: .distantFuture, cancellation: nil)
    client.close()
    client.drain()
    #expect(stage.provider.revoked.isEmpty)
    stage.provider.recover(.revocation)
    _ = try stage.client().registrationState(wait: false, until: .distantFuture, cancellation: nil)
    #expect(try eventually { stage.provider.revoked.count == 2 })
  }

  @Test("a transaction begins once the platform is ready")
  func beginWaits() throws {
    let stage = try Stage()
    let client = try stage.client(isPlatformReady: false)
    let begun = Guarded<Transaction?>(nil, by: Mutex())
    Thread.detachNewThread {
      let transaction = try? client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
      begun.withLock { $0 = transaction }
    }
    // This pause is long enough to notice a call that does not wait.
    Thread.sleep(forTimeInterval: 0.3)
    expect(stage.provider.count(.discovery), is: 0)
    client.platformReady()
    #expect(try eventually { begun.withLock { $0 } != nil })
  }

  @Test("until the host's platform is ready, a request for the state waits; it goes on when it is")
  func platform() throws {
    let stage = try Stage()
    let client = try stage.client(isPlatformReady: false)
    let cancellation = CancellationFlag()
    cancellation.cancel()
    expect(
      code {
        _ = try client.registrationState(wait: false, until: .distantFuture, cancellation: cancellation)
      }, is: .cancelled)
    client.platformReady()
    try expect(
      client.registrationState(wait: true, until: .distantFuture, cancellation: nil), is: .unregistered)
  }

  @Test("a closed client refuses every call, and closing twice is nothing (R41)")
  func closed() throws {
    let stage = try Stage()
    let client = try stage.signedIn()
    client.close()
    client.close()
    expect(code { _ = try client.now() }, is: .handle)
    expect(
      code { _ = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil) }, is: .handle)
    expect(client.freshAccessToken(minimumLifetimeSeconds: 0), is: nil)
  }

  @Test("due at start-up: the state is C after a renewal, and asking again renews nothing")
  func renewedState() throws {
    let stage = try Stage()
    _ = try stage.signedIn()
    stage.clock.advance(seconds: 3550)
    let later = try stage.client()
    try expect(
      later.registrationState(wait: true, until: .distantFuture, cancellation: nil), is: .active(.renewed))
    try expect(
      later.registrationState(wait: true, until: .distantFuture, cancellation: nil), is: .active(.renewed))
    expect(stage.provider.count(.token), is: 2)
  }
}

extension TransactionRecord {
  /// This transaction with another id and another redirect.
  fileprivate func abandoned(_ id: String, at redirectURI: String) -> TransactionRecord {
    guard case .signIn(var signIn) = flow else { return self }
    signIn.request.redirect = AwaitedRedirect(uri: redirectURI, state: Secret(id), listensOnLoopback: true)
    return TransactionRecord(
      id: TransactionID(id), issuer: issuer, scopes: scopes, began: began, deadline: deadline,
      flow: .signIn(signIn))
  }
}
