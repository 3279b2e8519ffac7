import EnrollKit
import EnrollTesting
import Foundation
import Testing

/// Keeps the lines of a client's log.
private final class Lines: LogHandler, @unchecked Sendable {
  // Unchecked: `all` is only used while `lock` is held.
  let level: LogLevel
  private let lock = NSLock()
  private var all: [(level: LogLevel, text: String)] = []

  init(_ level: LogLevel) { self.level = level }

  func write(_ level: LogLevel, _ line: String) { lock.withLock { all.append((level, line)) } }

  var lines: [(level: LogLevel, text: String)] { lock.withLock { all } }
}

@Suite("The log of a client")
struct LogTests {
  private let clock = FakeClock()
  private let provider: FakeProvider

  init() throws { provider = try FakeProvider(clock: clock) }

  private func life(_ log: Lines) async throws -> [String] {
    let client = try EnrollClient(
      configuration: Configuration(
        issuer: provider.issuer, clientID: "native", redirectURI: "com.example.app:/callback"),
      store: .memory, transport: provider, clock: clock, log: log)
    let begun = try await client.begin()
    let redirect = provider.signIn(at: begun.url)
    _ = try await client.resume(redirect)
    try await client.confirm()
    clock.advance(seconds: 3550)
    let token = try await client.accessToken().value.reveal()
    provider.next(.token, .status(400, body: #"{"error":"invalid_grant"}"#))
    clock.advance(seconds: 7200)
    await #expect(throws: EnrollError.self) { try await client.accessToken() }
    return [token, redirect, begun.url]
  }

  @Test("has the steps, the requests and the failures, each with its level")
  func whole() async throws {
    let log = Lines(.debug)
    _ = try await life(log)
    let lines = log.lines
    func has(_ level: LogLevel, _ text: String) -> Bool {
      lines.contains { $0.level == level && $0.text.hasPrefix(text) }
    }
    #expect(has(.info, "registration: unregistered"))
    #expect(has(.info, "registration: authenticating"))
    #expect(has(.info, "registration: confirmed"))
    #expect(has(.info, "tokens renewed; they end at "))
    #expect(has(.debug, "POST \(provider.issuer): 200 after "))
    #expect(has(.debug, "POST \(provider.issuer): 400 after "))
    #expect(has(.warning, "renewal failed: reauthenticate"))
  }

  @Test("has no secret, and of URLs no more than scheme, host and names (R40)")
  func secrets() async throws {
    let log = Lines(.debug)
    let secrets = try await life(log)
    let text = log.lines.map { $0.text }.joined(separator: "\n")
    for secret in secrets { #expect(!text.contains(secret)) }
    let query = try #require(URLComponents(string: secrets[1])?.queryItems)
    for value in query.compactMap({ $0.value }) where value.count > 8 && value != provider.issuer {
      #expect(!text.contains(value))
    }
  }

  @Test("has nothing less important than was asked for", arguments: LogLevel.allCases)
  func levels(_ level: LogLevel) async throws {
    let log = Lines(level)
    _ = try await life(log)
    #expect(log.lines.allSatisfy { $0.level.rawValue <= level.rawValue })
  }
}
