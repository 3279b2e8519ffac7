@testable import EnrollPosix
@testable import EnrollStore
import EnrollRules
import EnrollSteps
import EnrollTesting
import Expectations
import Foundation
import StoreSupport
import Testing

@testable import EnrollHost

/// A server that accepts some requests and never answers them; it passes the others to another transport.
private final class SilentTransport: Transport {
  let reached = Event()
  /// Ends an unanswered request that was not cancelled, as a timeout would.
  let timeOut = Event()
  /// Lets the server answer the waiting request after all.
  let answers = Event()
  let count = Guarded(0, by: Mutex())
  private let base: any Transport
  private let takes: @Sendable (HTTPRequest) -> Bool

  init(_ base: any Transport, _ takes: @escaping @Sendable (HTTPRequest) -> Bool) {
    self.base = base
    self.takes = takes
  }

  func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse {
    guard takes(request) else { return try base.send(request, cancellation: cancellation) }
    count.withLock { $0 += 1 }
    let over = Event()
    let ticket = cancellation?.onCancel { over.set() }
    defer { if let ticket { cancellation?.removeHook(ticket) } }
    reached.set()
    while !over.isSet && !timeOut.isSet && !answers.isSet {
      over.wait(until: SystemClock.now().advanced(byNanoseconds: 5_000_000), by: SystemClock())
    }
    guard answers.isSet, !over.isSet else {
      throw EnrollError(over.isSet ? .cancelled : .timeout, "no answer came")
    }
    return try base.send(request, cancellation: cancellation)
  }
}

/// A clock that reports when a thread sleeps by it.
private final class WatchedClock: Clock {
  let base = FakeClock()
  let onSleep = Guarded<(@Sendable () -> Void)?>(nil, by: Mutex())

  func wallTime() -> UnixTime { base.wallTime() }
  func instant() -> Instant { base.instant() }
  func bootID() -> String { base.bootID() }
  func sleep(until instant: Instant) {
    onSleep.withLock { $0 }?()
    base.sleep(until: instant)
  }
}

/// A signed-in client whose token is due.
private struct Stage {
  let clock = WatchedClock()
  let provider: FakeProvider
  let store: any TokenStore
  let silence: SilentTransport

  /// - Parameter takes: the requests that are never answered, once the user has signed in.
  init(_ store: any TokenStore, takes: @escaping @Sendable (HTTPRequest) -> Bool = { _ in false }) throws {
    self.store = store
    provider = try FakeProvider(clock: clock)
    silence = SilentTransport(provider, takes)
    let first = try client(provider)
    let begun = try first.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
    guard case .openURL(let url) = begun.action else { throw EnrollError(.internal, "no URL") }
    _ = try first.resume(provider.signIn(at: url), until: .distantFuture, cancellation: nil)
    first.close()
    first.drain()
    clock.base.advance(seconds: 3550)
  }

  func client(
    _ transport: (any Transport)? = nil, redirectURI: String = "com.example.app:/callback"
  ) throws -> Client {
    var options = ClientOptions(
      configuration: try Configuration(
        issuer: provider.issuer, clientID: "native", redirectURI: redirectURI
      ) {
        $0.requiresConfirmation = false
      }, store: .custom(store))
    options.transport = transport ?? silence
    options.clock = clock
    return try Client(options)
  }

  /// Requests a token; the returned box gets the answer when it arrives.
  func ask(_ client: Client) -> Answer {
    let answer = Answer()
    client.access(minimumLifetimeSeconds: 0, until: .distantFuture, cancellation: nil) { result in
      answer.result.withLock { $0 = result }
      answer.isThere.set()
    }
    return answer
  }

  final class Answer: Sendable {
    let result = Guarded<Result<AccessOutcome, EnrollError>?>(nil, by: Mutex())
    let isThere = Event()
  }
}

private func isDiscovery(_ request: HTTPRequest) -> Bool { request.url.hasSuffix("openid-configuration") }
private func isToken(_ request: HTTPRequest) -> Bool { request.url.hasSuffix("/token") }

@Suite("Closing is bounded", .timeLimit(.minutes(10)))
struct ClosingTests {
  @Test("a client that is closed before its refresh token was sent leaves at once, and sends nothing more")
  func unsent() async throws {
    try await aside {
      let stage = try Stage(MemoryTokenStore(clock: FakeClock()), takes: isDiscovery)
      let client = try stage.client()
      let answer = stage.ask(client)
      stage.silence.reached.wait()
      client.close()
      client.drain()
      answer.isThere.wait()
      expect(stage.silence.count.withLock { $0 }, is: 1)
      expect(stage.provider.count(.token), is: 1)
      try expect(stage.store.read(client.account)?.renewalIntent, is: nil)
    }
  }

  @Test("a refresh token that was sent is followed to its end after the closing, and not sent again")
  func sent() async throws {
    try await aside {
      let stage = try Stage(MemoryTokenStore(clock: FakeClock()), takes: isToken)
      let client = try stage.client()
      _ = stage.ask(client)
      stage.silence.reached.wait()
      client.close()
      // Waits until the client's grace period has ended. Closing does not cut short what still runs after that.
      while !client.phases.gracePeriod.isCancelled { Thread.sleep(forTimeInterval: 0.01) }
      expect(stage.silence.count.withLock { $0 }, is: 1)
      stage.silence.timeOut.set()
      client.drain()
      expect(stage.silence.count.withLock { $0 }, is: 1, "no second try")
      try expect(stage.store.read(client.account)?.renewalIntent, isNot: nil, "its outcome is unknown")
    }
  }

  @Test("a process that cannot wait any longer leaves a refresh token's answer behind")
  func abandoned() async throws {
    try await aside {
      let stage = try Stage(MemoryTokenStore(clock: FakeClock()), takes: isToken)
      let client = try stage.client()
      _ = stage.ask(client)
      stage.silence.reached.wait()
      client.close()
      client.cancelLastRequests()
      client.drain()
      expect(stage.silence.count.withLock { $0 }, is: 1)
    }
  }

  @Test("a closed client does not wait for another process's renewal")
  func ofAnotherProcess() async throws {
    try await aside {
      let folder = TestFolder()
      let stage = try Stage(try folder.open())
      let client = try stage.client()
      let account = client.account
      let other = try folder.open()
      let epoch = try #require(try other.read(account)).tokenEpoch
      let (taken, over) = (Event(), Event())
      Thread.detachNewThread {
        _ = try? other.withRenewalLock(account, epoch: epoch, deadline: .distantFuture) {
          taken.set()
          over.wait()
        }
      }
      taken.wait()
      let answer = stage.ask(client)
      client.close()
      client.drain()
      answer.isThere.wait()
      over.set()
      expect(stage.provider.count(.token), is: 1)
    }
  }

  @Test("no pause between two tries of a renewal outlasts the closing")
  func pause() async throws {
    try await aside {
      let stage = try Stage(MemoryTokenStore(clock: FakeClock()))
      let client = try stage.client()
      stage.provider.next(.token, .status(503), .status(503))
      stage.clock.onSleep.withLock { $0 = { client.close() } }
      let answer = stage.ask(client)
      answer.isThere.wait()
      client.drain()
      expect(stage.provider.count(.token), is: 2, "the sign-in and one try")
    }
  }

  @Test("a closed client's calls send nothing: an error says that it was closed")
  func refused() throws {
    let stage = try Stage(MemoryTokenStore(clock: FakeClock()))
    let client = try stage.client()
    client.close()
    expect(
      code { () throws(EnrollError) in _ = try client.engine.renewal.renew(epochs: [0], forced: true) },
      is: .cancelled)
    expect(
      code { () throws(EnrollError) in _ = try client.engine.signIn.begin(SignInOptions(), cancellation: nil)
      },
      is: .cancelled)
    expect(stage.provider.count(.token), is: 1)
  }

  /// Signs another user in. While the exchange of the code is in progress, `leave` is called.
  private func exchange(
    _ stage: Stage, _ client: Client, until deadline: Instant = .distantFuture,
    leaving leave: (CancellationFlag) -> Void
  ) throws -> (transactionID: TransactionID, error: EnrollError?) {
    let begun = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
    guard case .openURL(let url) = begun.action else { throw EnrollError(.internal, "no URL") }
    let redirect = stage.provider.signIn(at: url)
    let cancellation = CancellationFlag()
    let error = Guarded<EnrollError?>(nil, by: Mutex())
    let isOver = Event()
    Thread.detachNewThread {
      do throws(EnrollError) {
        _ = try client.resume(redirect, until: deadline, cancellation: cancellation)
      } catch let thrown {
        error.withLock { $0 = thrown }
      }
      isOver.set()
    }
    stage.silence.reached.wait()
    leave(cancellation)
    isOver.wait()
    return (begun.transactionID, error.withLock { $0 })
  }

  @Test("a code that was sent is followed to its tokens, whatever its caller's deadline is")
  func codeAndDeadline() async throws {
    try await aside {
      let stage = try Stage(MemoryTokenStore(clock: FakeClock()), takes: isToken)
      let client = try stage.client()
      let epoch = try stage.store.read(client.account)?.tokenEpoch
      let (id, error) = try exchange(stage, client, until: client.deadline(afterSeconds: 5)) { _ in
        stage.clock.base.advance(seconds: 6)
      }
      expect(error?.code, is: .deadlineExceeded)
      stage.silence.answers.set()
      let state = try client.awaitTransaction(id, until: .distantFuture, cancellation: nil)
      #expect([.valid, .confirmed].contains(state.kind))
      try expect(stage.store.read(client.account)?.tokenEpoch, isNot: epoch)
      client.close()
      client.drain()
    }
  }

  @Test(
    "a code that was sent is followed to its tokens when its caller cancels, and when its client is closed")
  func codeAndCancellation() async throws {
    try await aside {
      let stage = try Stage(MemoryTokenStore(clock: FakeClock()), takes: isToken)
      let client = try stage.client()
      let epoch = try stage.store.read(client.account)?.tokenEpoch
      let (_, error) = try exchange(stage, client) { $0.cancel() }
      expect(error?.code, is: .cancelled)
      client.close()
      stage.silence.answers.set()
      client.drain()
      try expect(stage.store.read(client.account)?.tokenEpoch, isNot: epoch)
    }
  }

  @Test("the draining of a closed client waits for a code that came by the loopback redirect and was sent")
  func loopbackCode() async throws {
    try await aside {
      let stage = try Stage(MemoryTokenStore(clock: FakeClock()), takes: isToken)
      let client = try stage.client(redirectURI: "http://127.0.0.1/callback")
      let epoch = try stage.store.read(client.account)?.tokenEpoch
      let begun = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
      guard case .openURL(let url) = begun.action else { throw EnrollError(.internal, "no URL") }
      let redirect = try #require(URL(string: stage.provider.signIn(at: url)))
      Thread.detachNewThread { _ = try? Data(contentsOf: redirect) }
      stage.silence.reached.wait()
      client.close()
      let isDrained = Event()
      Thread.detachNewThread {
        client.drain()
        isDrained.set()
      }
      // Waits until the client's grace period has ended. Closing does not cut short what still runs after that.
      while !client.phases.gracePeriod.isCancelled { Thread.sleep(forTimeInterval: 0.01) }
      #expect(!isDrained.isSet)
      stage.silence.answers.set()
      isDrained.wait()
      try expect(stage.store.read(client.account)?.tokenEpoch, isNot: epoch)
    }
  }

  @Test("a device poll that is under way ends with the closing")
  func device() async throws {
    try await aside {
      let stage = try Stage(MemoryTokenStore(clock: FakeClock()), takes: isToken)
      let client = try stage.client()
      let begun = try client.begin(SignInOptions(kind: .device), until: .distantFuture, cancellation: nil)
      stage.clock.base.advance(seconds: 10)
      Thread.detachNewThread {
        _ = try? client.awaitTransaction(begun.transactionID, until: .distantFuture, cancellation: nil)
      }
      stage.silence.reached.wait()
      client.close()
      client.drain()
      expect(stage.silence.count.withLock { $0 }, is: 1)
    }
  }
}
