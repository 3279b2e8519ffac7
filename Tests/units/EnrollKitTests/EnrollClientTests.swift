import EnrollKit
import EnrollTesting
import Expectations
import Foundation
import Synchronization
import Testing

@Suite("The Swift face")
struct EnrollClientTests {
  private let clock = FakeClock()
  private let provider: FakeProvider

  init() throws { provider = try FakeProvider(clock: clock) }

  private func client(requiresConfirmation: Bool = true) throws -> EnrollClient {
    try EnrollClient(
      configuration: Configuration(
        issuer: provider.issuer, clientID: "native", redirectURI: "com.example.app:/callback"
      ) {
        $0.requiresConfirmation = requiresConfirmation
      }, store: .memory, transport: provider, clock: clock)
  }

  @Test("signs in, confirms, hands out a token, renews it, logs out")
  func whole() async throws {
    let client = try client()
    try await expect(client.state(), is: .unregistered)
    let begun = try await client.begin()
    let state = try await client.resume(provider.signIn(at: begun.url))
    guard case .awaitingConfirmation(_, let profile) = state else {
      Issue.record("\(state)")
      return
    }
    expect(profile["sub"], is: .string("alice"))
    try await expect(client.confirm(), is: .active(.confirmed))
    try await expect(client.accessToken().authorization, is: "Bearer access-2")
    clock.advance(seconds: 3550)
    try await expect(client.accessToken().authorization, is: "Bearer access-3")
    try await expect(client.state(), is: .active(.renewed))
    try await expect(client.userinfo()["email"], is: .string("alice@example.com"))
    try await expect(client.account().profile?["sub"], is: .string("alice"))
    try await expect(client.logout().url, isNot: nil)
    await #expect(throws: EnrollError.self) { try await client.accessToken() }
    try await expect(client.access(), is: .reauthenticate(reason: "no user is signed in"))
  }

  @Test("states are a stream that begins with the present one")
  func states() async throws {
    let client = try client(requiresConfirmation: false)
    var states = client.states.makeAsyncIterator()
    await expect(states.next(), is: .starting)
    let begun = try await client.begin()
    await expect(states.next(), is: .unregistered)
    await expect(states.next(), is: .authenticating(transactionID: begun.transactionID, step: .browser))
    _ = try await client.resume(provider.signIn(at: begun.url))
    await expect(states.next()?.kind, is: .authenticating)
    await expect(states.next()?.kind, is: .awaitingConfirmation)
    await expect(states.next(), is: .active(.confirmed))
  }

  @Test("whoever waits for a transaction is told when another task resumes it")
  func settled() async throws {
    let client = try client(requiresConfirmation: false)
    let begun = try await client.begin()
    async let settled = client.awaitOutcome(of: begun)
    _ = try await client.resume(provider.signIn(at: begun.url))
    // The state is `confirmed`; or `valid`, if this client read the session from the store before the other task
    // reported the confirmation.
    #expect([.active(.confirmed), .active(.valid)].contains(try await settled))
  }

  @Test("a cancelled task ends its wait")
  func cancelled() async throws {
    let client = try client()
    let begun = try await client.begin()
    let waiting = Task { try await client.awaitOutcome(of: begun) }
    waiting.cancel()
    let result = await waiting.result
    #expect(throws: EnrollError.self) { try result.get() }
  }

  @Test("timeout counts in parts of a second, too; none is none")
  func timeout() async throws {
    let client = try client()
    for none in [Duration.zero, .milliseconds(-500), .seconds(-5)] {
      do throws(EnrollError) {
        _ = try await client.begin(timeout: none)
        Issue.record("begun")
      } catch {
        expect(error.code, is: .deadlineExceeded)
      }
    }
    _ = try await client.begin(timeout: .milliseconds(500))
  }

  @Test("closing ends what is under way, also a request that nobody answers")
  func closing() async throws {
    let deaf = DeafTransport()
    let client = try EnrollClient(
      configuration: Configuration(
        issuer: provider.issuer, clientID: "native", redirectURI: "com.example.app:/callback"),
      store: .memory, transport: deaf)
    let beginning = Task { () async -> EnrollError.Code? in
      do throws(EnrollError) {
        _ = try await client.begin(timeout: .seconds(3600))
        return nil
      } catch {
        return error.code
      }
    }
    while !deaf.isAsked { try await Task.sleep(for: .milliseconds(1)) }
    client.close()
    await expect(beginning.value, is: .cancelled)
  }

  @Test("Foundation shows an error's own words")
  func localized() {
    let error: any Error = EnrollError(.network, "no connection")
    expect(error.localizedDescription, is: "network: no connection")
  }

  @Test("errors are typed, and say who is to blame")
  func errors() async throws {
    let client = try client()
    do throws(EnrollError) {
      _ = try await client.resume("com.example.app:/callback?code=x&state=nobody")
      Issue.record("accepted")
    } catch {
      expect(error.code, is: .unsolicited)
      #expect(error.blame == .network && !error.isRetryable)
    }
    client.close()
    do throws(EnrollError) {
      _ = try await client.access()
      Issue.record("open")
    } catch {
      expect(error.code, is: .handle)
    }
  }

  @Test("an access token does not show itself when it is printed, and is the header when that is asked for")
  func printing() async throws {
    let client = try client(requiresConfirmation: false)
    _ = try await client.resume(provider.signIn(at: try await client.begin().url))
    let token = try await client.accessToken()
    var dumped = ""
    dump(token, to: &dumped)
    for text in ["\(token)", String(reflecting: token), dumped] { #expect(!text.contains("access-2")) }
    expect(token.authorization, is: "Bearer access-2")
  }

  @Test("a renewal fails where there is no token afterwards, as a call for a token does")
  func failedRenewal() async throws {
    let client = try client(requiresConfirmation: false)
    _ = try await client.resume(provider.signIn(at: try await client.begin().url))
    provider.next(
      .token, .status(400, body: #"{"error":"invalid_grant","error_description":"Session not active"}"#))
    let error = await #expect(throws: EnrollError.self) { try await client.refresh() }
    expect(error?.code, is: .reauthenticate)
    expect(error?.oauthErrorDescription, is: "Session not active")
  }

  @Test("a hundred tasks that ask for a due token cause one request")
  func crowd() async throws {
    let client = try client(requiresConfirmation: false)
    _ = try await client.resume(provider.signIn(at: try await client.begin().url))
    clock.advance(seconds: 3550)
    let tokens = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 1...100 { group.addTask { try await client.accessToken().authorization } }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    expect(tokens, is: ["Bearer access-3"])
    expect(provider.count(.token), is: 2)
  }
}

/// A transport that never answers. A request ends only when it is cancelled.
private final class DeafTransport: Transport {
  private let asked = Atomic<Bool>(false)

  var isAsked: Bool { asked.load(ordering: .acquiring) }

  func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse {
    asked.store(true, ordering: .releasing)
    let over = DispatchSemaphore(value: 0)
    let hook = cancellation?.onCancel { over.signal() }
    over.wait()
    if let hook { cancellation?.removeHook(hook) }
    throw EnrollError(.cancelled, "nobody waits any more")
  }
}
