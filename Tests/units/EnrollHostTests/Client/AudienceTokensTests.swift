// Tests of tokens for several audiences that a client requests: what threads and clients share, and what is read from
// memory.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollStore
import EnrollTesting
import Expectations
import Foundation
import StoreSupport
import Testing

@Suite("Tokens for several audiences through clients (RFC 8707)", .timeLimit(.minutes(10)))
struct AudienceTokensTests {
  private let clock = FakeClock()
  private let provider: FakeProvider
  private let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)

  private static let api = "https://api.example/"
  private static let files = "https://files.example/"

  init() throws {
    provider = try FakeProvider(clock: clock)
    provider.change { $0.resources = [Self.api, Self.files] }
  }

  /// Each client has its own store object for the same folder, as in a separate process.
  private func client() throws -> Client {
    var options = ClientOptions(
      configuration: try Configuration(
        issuer: provider.issuer, clientID: "native", redirectURI: "com.example.app:/callback"
      ) {
        $0.scopes = ["openid", "offline_access", "read"]
        $0.requiresConfirmation = false
      },
      store: .directory(folder.path))
    options.transport = provider
    options.clock = clock
    options.isPlatformReady = true
    return try Client(options)
  }

  private func signedIn() throws -> Client {
    let client = try client()
    let begun = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
    guard case .openURL(let url) = begun.action else { throw EnrollError(.internal, "no URL") }
    _ = try client.resume(provider.signIn(at: url), until: .distantFuture, cancellation: nil)
    return client
  }

  /// Makes the client learn that the provider keeps older access tokens.
  private func learning(_ client: Client) -> Client {
    _ = access(client, audience(nil, ["read"]))
    _ = access(client, nil)
    return client
  }

  private func audience(_ resource: String?, _ scopes: [String]? = nil) -> TokenAudience? {
    try? TokenAudience.naming(resource: resource, scopes: scopes)
  }

  private func access(_ client: Client, _ audience: TokenAudience?) -> AccessOutcome? {
    try? client.access(
      minimumLifetimeSeconds: 0, for: audience, until: .distantFuture, cancellation: nil)
  }

  /// Lets `count` threads request tokens; returns one token for each audience.
  private func all(
    _ count: Int, _ clients: [Client], _ audiences: [TokenAudience?]
  ) throws -> [Set<String>] {
    let answers = Guarded([Set<String>](repeating: [], count: audiences.count), by: Mutex())
    let start = Event()
    let done = DispatchGroup()
    for index in 0..<count {
      let (client, number) = (clients[index % clients.count], index % audiences.count)
      done.enter()
      Thread {
        start.wait()
        let token = try? access(client, audiences[number])?.token().value.reveal()
        answers.withLock { _ = $0[number].insert(token ?? "none") }
        done.leave()
      }.start()
    }
    start.set()
    done.wait()
    return answers.withLock { $0 }
  }

  @Test("eight threads ask for three audiences: one request for each, the first token's among them")
  func threads() async throws {
    try await aside {
      let client = learning(try signedIn())
      let audiences = [audience(Self.api), audience(Self.files, ["read"]), audience(nil, ["openid"])]
      let tokens = try all(8, [client], audiences)
      expect(provider.count(.token), is: 5)
      expect(Set(tokens), is: [["access-4"], ["access-5"], ["access-6"]])
      clock.advance(seconds: 3550)
      let again = try all(8, [client], audiences + [nil])
      expect(provider.count(.token), is: 9)
      #expect(again.allSatisfy { $0.count == 1 && !$0.contains("none") })
      #expect(Set(again).isDisjoint(with: tokens))
      client.close()
    }
  }

  @Test(
    "several clients of one store ask for two audiences and the first token at once, and no rotation is lost")
  func clients() async throws {
    try await aside {
      let clients = try [learning(signedIn()), client(), client(), client()]
      for round in 1...20 {
        clock.advance(seconds: 3550)
        let before = provider.count(.token)
        let tokens = try all(12, clients, [audience(Self.api), audience(Self.files), nil])
        expect(provider.count(.token), is: before + 3, "round \(round)")
        #expect(tokens.allSatisfy { $0.count == 1 && !$0.contains("none") }, "round \(round): \(tokens)")
      }
      for client in clients { client.close() }
    }
  }

  @Test("a fresh token for an audience is served from memory, until the record changes")
  func memory() throws {
    let client = try signedIn()
    let named = audience(Self.files, ["read"])
    expect(client.freshAccessToken(minimumLifetimeSeconds: 0, for: named), is: nil)
    _ = access(client, named)
    _ = access(client, named)
    expect(client.freshAccessToken(minimumLifetimeSeconds: 0, for: named)?.value, is: Secret("access-3"))
    expect(copy(client, Self.files, "read"), is: "access-3")
    #expect(copy(client, Self.files, "") == nil && copy(client, "", "read") == nil)
    expect(client.freshAccessToken(minimumLifetimeSeconds: 0, for: audience(Self.api)), is: nil)
    expect(client.freshAccessToken(minimumLifetimeSeconds: 3599, for: named)?.value, is: Secret("access-3"))
    clock.advance(seconds: 2)
    expect(copy(client, Self.files, "read"), is: nil, "the store is looked at again")
    _ = access(client, named)
    _ = try client.beginLogout(localOnly: true, until: .distantFuture, cancellation: nil)
    expect(copy(client, Self.files, "read"), is: nil)
    client.close()
  }

  private func copy(_ client: Client, _ resource: String, _ scopes: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = Array(resource.utf8).withUnsafeBytes { resource in
      Array(scopes.utf8).withUnsafeBytes { scopes in
        buffer.withUnsafeMutableBytes {
          client.tokenPointer.copy(
            resource: resource, scopes: scopes, minimumLifetimeSeconds: 0, at: clock.instant(), into: $0,
            if: { true })?.count
        }
      }
    }
    return count.map { String(decoding: buffer[..<$0], as: UTF8.self) }
  }

  @Test("a renewal that waits behind another audience's says that nothing was sent for it")
  func waiting() async throws {
    try await aside {
      let client = try signedIn()
      let (sent, gate) = (Event(), Event())
      provider.next(
        .token,
        .during {
          sent.set()
          gate.wait()
        })
      let done = Event()
      let named = audience(Self.api)
      client.access(minimumLifetimeSeconds: 0, for: named, until: .distantFuture, cancellation: nil) { _ in
        done.set()
      }
      sent.wait()
      clock.advance(seconds: 3550)
      let outcome = try client.access(
        minimumLifetimeSeconds: 0, until: clock.instant(), cancellation: nil)
      defer { gate.set() }
      guard case .stale(let token, let reason) = outcome else { throw EnrollError(.internal, "\(outcome)") }
      #expect(token.value == Secret("access-2") && reason.message.contains("before the request was sent"))
      gate.set()
      done.wait()
      client.close()
      client.drain()
      #expect(provider.count(.token) >= 2)
    }
  }

  @Test("the list names each audience and what was granted, and no token")
  func list() throws {
    let client = try signedIn()
    try expect(client.keptTokens().count, is: 1)
    _ = access(client, audience(Self.files, ["read"]))
    let kept = try client.keptTokens()
    expect(kept.map(\.audience), is: [nil, audience(Self.files, ["read"])])
    expect(kept.last?.scopes, is: ["read"])
    client.close()
  }
}
