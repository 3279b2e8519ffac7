@testable import EnrollPosix
@testable import EnrollStore
import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollJSON
import EnrollTesting
import Expectations
import Foundation
import Testing

/// A client with fakes, and a device transaction that has begun.
private struct DeviceStage {
  let clock = FakeClock()
  let provider: FakeProvider
  let store: MemoryTokenStore

  init() throws {
    provider = try FakeProvider(clock: clock)
    store = MemoryTokenStore(clock: clock)
    // The lifetime is long: however slow the test's threads are, the fake clock must not exceed it.
    provider.change { $0.deviceAuthorization = { $0["expires_in"] = .integer(86_400) } }
  }

  func client(redirectURI: String = "http://127.0.0.1/callback") throws -> Client {
    var options = ClientOptions(
      configuration: try Configuration(
        issuer: provider.issuer, clientID: "native", redirectURI: redirectURI
      ) {
        $0.requiresConfirmation = false
      }, store: .custom(store))
    options.transport = provider
    options.clock = clock
    return try Client(options)
  }

  func begin(_ client: Client) throws -> TransactionID {
    let begun = try client.begin(SignInOptions(kind: .device), until: .distantFuture, cancellation: nil)
    // No loopback listener belongs to the transaction, so another process may continue it.
    #expect(begun.survivesProcess && begun.redirectURI == nil)
    return begun.transactionID
  }

  /// Advances the clock, second by second, until `body` returns.
  func running<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
    let ended = Guarded<Result<Value, any Error>?>(nil, by: Mutex())
    Thread.detachNewThread {
      let result = Result { try body() }
      ended.withLock { $0 = result }
    }
    while true {
      if let result = ended.withLock({ $0 }) { return try result.get() }
      clock.advance(seconds: 1)
      Thread.sleep(forTimeInterval: 0.002)
    }
  }
}

@Suite("Awaiting a device transaction (RFC 8628 §3.5)")
struct DevicePollTests {
  private func failure(_ body: () throws -> Void) -> EnrollError? {
    do {
      try body()
      return nil
    } catch {
      return error as? EnrollError
    }
  }

  @Test("await polls until the user is done, and gives the state")
  func whole() throws {
    let stage = try DeviceStage()
    let client = try stage.client()
    let id = try stage.begin(client)
    stage.provider.next(.token, .proper, .status(503), .proper)
    stage.provider.next(.token, .during { stage.provider.change { $0.deviceError = nil } })
    let state = try stage.running {
      try client.awaitTransaction(id, until: .distantFuture, cancellation: nil)
    }
    expect(state, is: .active(.confirmed))
    expect(stage.provider.count(.token), is: 4)
  }

  @Test("no listener opens for it: two may be begun where the redirect has one port")
  func noListener() throws {
    let stage = try DeviceStage()
    let client = try stage.client(redirectURI: "http://127.0.0.1:28461/callback")
    _ = try stage.begin(client)
    _ = try stage.begin(client)
  }

  @Test("a refusal reaches whoever awaits, as the provider said it")
  func denied() throws {
    let stage = try DeviceStage()
    let client = try stage.client()
    let id = try stage.begin(client)
    stage.provider.change { $0.deviceError = "access_denied" }
    let error = failure {
      _ = try stage.running { try client.awaitTransaction(id, until: .distantFuture, cancellation: nil) }
    }
    #expect(error?.code == .accessDenied && error?.oauthError == "access_denied")
    expect(client.lastKnownState.kind, is: .registrationFailed)
  }

  @Test("the deadline and the cancellation end the wait at once, not the transaction")
  func timeout() throws {
    let stage = try DeviceStage()
    let client = try stage.client()
    let id = try stage.begin(client)
    let deadline = client.deadline(afterSeconds: 12)
    expect(
      failure {
        _ = try stage.running { try client.awaitTransaction(id, until: deadline, cancellation: nil) }
      }?
      .code, is: .deadlineExceeded)
    let cancellation = CancellationFlag()
    stage.provider.next(.token, .during { cancellation.cancel() })
    expect(
      failure {
        _ = try stage.running {
          try client.awaitTransaction(id, until: .distantFuture, cancellation: cancellation)
        }
      }?.code, is: .cancelled)
    stage.provider.change { $0.deviceError = nil }
    let state = try stage.running {
      try client.awaitTransaction(id, until: .distantFuture, cancellation: nil)
    }
    expect(state, is: .active(.confirmed))
  }

  @Test("a caller that leaves while the answer with the tokens is on its way does not lose it")
  func leaves() throws {
    let stage = try DeviceStage()
    let client = try stage.client()
    let id = try stage.begin(client)
    stage.provider.change { $0.deviceError = nil }
    let cancellation = CancellationFlag()
    let left = DispatchSemaphore(value: 0)
    stage.provider.next(
      .token,
      .during {
        cancellation.cancel()
        left.wait()
      })
    expect(
      failure {
        _ = try stage.running {
          try client.awaitTransaction(id, until: .distantFuture, cancellation: cancellation)
        }
      }?.code, is: .cancelled)
    left.signal()
    try expect(client.awaitTransaction(id, until: .distantFuture, cancellation: nil), is: .active(.confirmed))
    expect(stage.provider.count(.token), is: 1)
  }

  @Test("another process awaits what the first began; two that await share the polls")
  func twoProcesses() throws {
    let stage = try DeviceStage()
    let first = try stage.client()
    let second = try stage.client()
    let id = try stage.begin(first)
    first.close()
    stage.provider.next(.token, .during { stage.provider.change { $0.deviceError = nil } })
    let third = try stage.client()
    let other = Guarded<RegistrationState?>(nil, by: Mutex())
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      let state = try? third.awaitTransaction(id, until: .distantFuture, cancellation: nil)
      other.withLock { $0 = state }
      done.signal()
    }
    let state = try stage.running {
      try second.awaitTransaction(id, until: .distantFuture, cancellation: nil)
    }
    done.wait()
    #expect(state.kind == .confirmed || state.kind == .valid)
    expect(other.withLock { $0?.isSettled }, is: true)
    expect(stage.provider.count(.token), is: 1)
  }

  @Test("after expires_in the wait ends (R12)")
  func expired() throws {
    let stage = try DeviceStage()
    stage.provider.change { $0.deviceAuthorization = { $0["expires_in"] = .integer(60) } }
    let client = try stage.client()
    let id = try stage.begin(client)
    expect(
      failure {
        _ = try stage.running { try client.awaitTransaction(id, until: .distantFuture, cancellation: nil) }
      }?.code, is: .transactionExpired)
  }
}

@Suite("Awaiting a transaction whose process has died (R15)")
struct DeadExchangeTests {
  private func failure(_ body: () throws -> RegistrationState) throws -> EnrollError {
    try #require(throws: EnrollError.self) { try body() }
  }

  /// A transaction whose exchange another process began, and did not end.
  private func dying(_ stage: DeviceStage) throws -> (Client, TransactionID) {
    let client = try stage.client(redirectURI: "com.example.app:/callback")
    let begun = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
    try stage.store.update(client.account) { $0.transactions[0].status = .exchanging }
    return (client, begun.transactionID)
  }

  @Test("it ends when no exchange can take longer, and says that the sign-in is to be begun again")
  func died() throws {
    let stage = try DeviceStage()
    let (client, id) = try dying(stage)
    // This instant is much earlier than the transaction's own deadline.
    let end = stage.clock.instant().advanced(bySeconds: 500)
    let error = try failure {
      try stage.running { try client.awaitTransaction(id, until: end, cancellation: nil) }
    }
    #expect(
      error.code == .transactionExpired && error.message.contains("begin the sign-in again"), "\(error)")
    #expect(!error.isRetryable)
  }

  @Test("an exchange that goes on after the deadline is still the state of the account")
  func state() throws {
    let stage = try DeviceStage()
    let (client, id) = try dying(stage)
    func state() throws -> RegistrationState {
      try client.registrationState(wait: false, until: .distantFuture, cancellation: nil)
    }
    stage.clock.advance(seconds: 600 + TransactionRecord.exchangeSeconds - 1)
    guard case .authenticating(id, _) = try state() else {
      Issue.record("the state is \(try state())")
      return
    }
    stage.clock.advance(seconds: 1)
    try expect(state(), is: .unregistered)
  }

  @Test("long after its deadline it ends at once")
  func long() throws {
    let stage = try DeviceStage()
    let (client, id) = try dying(stage)
    stage.clock.advance(seconds: 600 + TransactionRecord.exchangeSeconds)
    let error = try failure { try client.awaitTransaction(id, until: .distantFuture, cancellation: nil) }
    expect(error.code, is: .transactionExpired)
  }

  @Test("a timeout before that says that the user came back")
  func timeout() throws {
    let stage = try DeviceStage()
    let (client, id) = try dying(stage)
    let end = stage.clock.instant()
    let error = try failure { try client.awaitTransaction(id, until: end, cancellation: nil) }
    #expect(error.code == .deadlineExceeded && error.message.hasPrefix("the user came back"), "\(error)")
  }
}
