// Steps that run in other processes, which may die.

@testable import EnrollStore
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollRules
import EnrollSteps
import EnrollTesting
import Expectations
import Foundation
import Testing

/// Starts "processes" that do something to the store, and die.
private final class DyingProcesses: StepProcesses {
  private let act: @Sendable () -> Void

  init(_ act: @escaping @Sendable () -> Void) { self.act = act }

  func start(_ step: JSON) -> Int32? {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { return nil }
    act()
    let line = Array(#"{"line":"begun"}"#.utf8) + [0x0A]
    _ = write(ends[1], line, line.count)
    close(ends[1])
    return ends[0]
  }
}

@Suite("Steps in other processes (reliability.md, Renewals that outlive their caller)")
struct DetachedStepTests {
  private let clock = FakeClock()
  private let provider: FakeProvider
  private let store: MemoryTokenStore

  init() throws {
    provider = try FakeProvider(clock: clock)
    store = MemoryTokenStore(clock: clock)
  }

  private func client(_ act: @escaping @Sendable () -> Void) throws -> Client {
    var options = ClientOptions(
      configuration: try Configuration(
        issuer: provider.issuer, clientID: "native", redirectURI: "com.example.app:/callback"
      ) {
        $0.requiresConfirmation = false
      }, store: .custom(store))
    options.transport = provider
    options.clock = clock
    options.isPlatformReady = true
    options.stepProcesses = DyingProcesses(act)
    return try Client(options)
  }

  private func failure(_ client: Client) throws -> EnrollError? {
    let begun = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
    guard case .openURL(let url) = begun.action else { throw EnrollError(.internal, "no URL") }
    let redirect = provider.signIn(at: url)
    do throws(EnrollError) {
      _ = try client.resume(redirect, until: .distantFuture, cancellation: nil)
      return nil
    } catch {
      return error
    }
  }

  @Test(
    "a process that died after it had accepted a redirect, and before it sent the code, ends the sign-in (R15)"
  )
  func diedBetween() throws {
    let store = store
    let account = try client {}.account
    let client = try client {
      _ = try? store.update(account) { record throws(EnrollError) in
        for index in record.transactions.indices { record.transactions[index].status = .exchanging }
      }
    }
    let error = try failure(client)
    expect(error?.code, is: .transactionExpired)
    #expect(error?.message.contains("begin the sign-in again") ?? false)
    expect(provider.count(.token), is: 0)
    try expect(store.read(account)?.transactions.first?.status, is: .failed)
  }

  @Test("after a process that died before it had accepted the redirect, this process sends the code")
  func diedBefore() throws {
    try expect(failure(client {}), is: nil)
    expect(provider.count(.token), is: 1)
  }
}
