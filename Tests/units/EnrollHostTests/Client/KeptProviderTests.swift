import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollStore
import EnrollTesting
import Expectations
import Foundation
import StoreSupport
import Testing

@Suite("A new process knows the provider (RFC 9111)")
struct KeptProviderTests {
  private let folder = TestFolder()
  private let clock = FakeClock()
  private let provider: FakeProvider

  init() throws { provider = try FakeProvider(clock: clock) }

  private func headers(_ headers: (String, String)...) {
    provider.change { $0.documentHeaders = headers.map { HTTPHeader($0.0, $0.1) } }
  }

  /// A process with the same store.
  private func process() throws -> Client {
    var options = ClientOptions(
      configuration: try Configuration(
        issuer: provider.issuer, clientID: "native", redirectURI: "com.example.app:/callback"
      ) {
        $0.requiresConfirmation = false
      }, store: .directory(folder.store))
    options.transport = provider
    options.clock = clock
    return try Client(options)
  }

  /// Signs a user in, in a process that then ends. Tokens live for ten seconds.
  private func signIn() throws {
    provider.change { $0.lifetime = .integer(10) }
    let client = try process()
    let begun = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
    _ = try client.resume(
      provider.signIn(at: begun.action.url ?? ""), until: .distantFuture, cancellation: nil)
    client.close()
    client.drain()
  }

  /// The requests of a process that renews: discovery, keys, token.
  private func renewal() throws -> [Int] {
    provider.forgetRequests()
    let client = try process()
    guard case .valid = try client.now() else { throw Unmet(what: "not valid") }
    client.close()
    client.drain()
    return [provider.count(.discovery), provider.count(.keys), provider.count(.token)]
  }

  /// The requests of a process in which another user signs in: discovery, keys, token.
  private func another() throws -> [Int] {
    provider.forgetRequests()
    try signIn()
    return [provider.count(.discovery), provider.count(.keys), provider.count(.token)]
  }

  @Test(
    "a renewal is one request, whatever the documents' headers say, and however long ago they came",
    arguments: ["no-store", "no-cache", "max-age=0", "private, no-store, max-age=3600", "max-age=30"])
  func renewalAlone(control: String) throws {
    headers(("Cache-Control", control))
    try signIn()
    for seconds in [11, 4000, 200_000] as [Int64] {
      clock.advance(seconds: seconds)
      try expect(renewal(), is: [0, 0, 1])
    }
    clock.reboot(bootID: "boot-2")
    clock.advance(seconds: 11)
    try expect(renewal(), is: [0, 0, 1])
  }

  @Test("another sign-in sends one request, for as long as the documents' headers allow")
  func oneRequest() throws {
    headers(("Cache-Control", "public, max-age=100"), ("Age", "40"))
    try signIn()
    clock.advance(seconds: 59)
    try expect(another(), is: [0, 0, 1])
    clock.advance(seconds: 10)
    try expect(another(), is: [1, 1, 1])
    clock.advance(seconds: 11)
    try expect(another(), is: [0, 0, 1])
  }

  @Test("what has an ETag is asked for with it, and 304 prolongs it")
  func revalidated() throws {
    headers(("Cache-Control", "max-age=30"), ("ETag", "\"v1\""))
    try signIn()
    clock.advance(seconds: 31)
    try expect(another(), is: [1, 1, 1])
    for endpoint in [FakeProvider.Endpoint.discovery, .keys] {
      #expect(provider.requests(endpoint)[0].headers.contains(HTTPHeader("If-None-Match", "\"v1\"")))
    }
    clock.advance(seconds: 20)
    try expect(another(), is: [0, 0, 1])
  }

  @Test(
    "documents that are not to be cached are asked for by every process, and serve one that cannot ask",
    arguments: ["no-store", "no-cache", "max-age=0", "private, no-store, max-age=3600"])
  func uncached(control: String) throws {
    headers(("Cache-Control", control))
    try signIn()
    clock.advance(seconds: 11)
    try expect(another(), is: [1, 1, 1])
    clock.advance(seconds: 11)
    provider.next(.discovery, .status(403, body: "<html>"))
    provider.next(.keys, .unreachable)
    try expect(another(), is: [1, 1, 1])
    // During the pause no process sends a request.
    clock.advance(seconds: 59)
    try expect(another(), is: [0, 0, 1])
    clock.advance(seconds: 11)
    try expect(another(), is: [1, 1, 1])
  }

  @Test("the time that discovery asks for is kept to by all processes, and bars no sign-in")
  func pause() throws {
    headers(("Cache-Control", "max-age=30"))
    try signIn()
    clock.advance(seconds: 31)
    provider.next(.discovery, .status(429, headers: [HTTPHeader("Retry-After", "600")]))
    try expect(another(), is: [1, 1, 1])
    clock.advance(seconds: 590)
    try expect(another(), is: [0, 1, 1])
    clock.advance(seconds: 11)
    try expect(another()[0], is: 1)
  }

  @Test("a document of another issuer takes the known one's place in no process, and a pause follows (R18)")
  func foreignDocument() throws {
    headers(("Cache-Control", "no-store"))
    try signIn()
    clock.advance(seconds: 11)
    provider.change { $0.metadata = { $0["issuer"] = .string("https://other.example") } }
    try expect(another(), is: [1, 1, 1])
    clock.advance(seconds: 11)
    try expect(another(), is: [0, 1, 1])
    clock.advance(seconds: 60)
    provider.next(.discovery, .unreachable)
    try expect(another(), is: [1, 1, 1])
  }

  @Test("no clock makes a document fresh for longer than its headers say")
  func clocks() throws {
    headers(("Cache-Control", "max-age=100"))
    try signIn()
    clock.advance(seconds: 20)
    // The date is set back by a day, and then to a time before the documents arrived.
    clock.setWall(clock.wallTime().seconds - 86_400)
    try expect(another(), is: [1, 1, 1])
    clock.setWall(clock.wallTime().seconds + 86_400)
    clock.advance(seconds: 20)
    try expect(another(), is: [1, 1, 1])
    // After a restart the monotonic clock starts again, and the date may be the same as before.
    let date = clock.wallTime().seconds
    clock.advance(seconds: 1_000_000)
    clock.reboot(bootID: "boot-2")
    clock.setWall(date + 11)
    try expect(another(), is: [1, 1, 1])
    clock.advance(seconds: 20)
    try expect(another(), is: [0, 0, 1])
  }

  @Test("what is kept is judged as if it had just come: another issuer, an endpoint without TLS, a page")
  func judged() throws {
    headers(("Cache-Control", "max-age=1000"))
    try signIn()
    let store = try folder.open(clock: clock)
    let name = ProviderName(issuer: Issuer(provider.issuer), trust: provider.trust)
    let good = try #require(store.providerDocuments(name)?.metadata)
    let text = String(decoding: good.body, as: UTF8.self)
    for bad in [
      text.replacingOccurrences(
        of: #""issuer":"https://id.example""#, with: #""issuer":"https://evil.example""#),
      text.replacingOccurrences(of: "https://id.example/token", with: "http://id.example/token"),
      "<html>", "{}", "",
    ] {
      expect(bad, isNot: text)
      store.keepProviderDocuments(name) {
        $0.metadata = good
        $0.metadata?.body = Array(bad.utf8)
        $0.keys?.body = Array("{}".utf8)
      }
      clock.advance(seconds: 11)
      try expect(renewal(), is: [1, 1, 1])
    }
    // Documents from another URL are not used either.
    store.keepProviderDocuments(name) { $0.metadata?.url = "https://evil.example/" }
    clock.advance(seconds: 11)
    try expect(renewal(), is: [1, 0, 1])
  }

  @Test("another trust knows nothing of it")
  func otherTrust() throws {
    let system = CurlTransport(.init())
    let own = CurlTransport(.init(caFile: "/etc/own.pem"))
    expect(Set([system.trust, own.trust, provider.trust]).count, is: 3)
    expect(CurlTransport(.init(allowsLoopbackHTTP: true)).trust, isNot: system.trust)
  }
}
