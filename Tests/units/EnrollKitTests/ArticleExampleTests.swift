// The examples of the articles in Sources/EnrollKit/EnrollKit.docc, between `// example:` and `// end`. Each
// article has copies of them (Tests/faces/ReadmeTests), and each of them runs.

import EnrollKit
import EnrollTesting
import Foundation
import Testing

// example: browser
struct SystemBrowser: UserAgent {
  let openInBrowser: @Sendable (String) async -> Void  // the platform's own call

  func open(_ url: String, redirectURI: String?) async -> UserAgentAnswer {
    await openInBrowser(url)
    return .elsewhere  // the redirect is a link that the system passes to the app
  }
}
// end

// example: keeper
final class AppKeychain: SecretStore {
  let system: any SystemKeychain  // the platform's own

  init(_ system: any SystemKeychain) { self.system = system }

  func load(_ name: SecretName) throws(EnrollError) -> Secret? {
    guard system.isUnlocked else { throw EnrollError(.storeLocked, "unlock the device and try again") }
    return system.bytes(for: name.text).map { Secret($0) }
  }

  func save(_ secret: Secret, as name: SecretName) throws(EnrollError) {
    guard system.isUnlocked else { throw EnrollError(.storeLocked, "unlock the device and try again") }
    system.set(secret.revealBytes(), for: name.text)
  }

  func remove(_ name: SecretName) throws(EnrollError) { system.set(nil, for: name.text) }
}
// end

protocol SystemKeychain: AnyObject, Sendable {
  var isUnlocked: Bool { get }
  func bytes(for name: String) -> [UInt8]?
  func set(_ bytes: [UInt8]?, for name: String)
}

/// A Keychain in memory that a test can lock.
private final class FakeKeychain: SystemKeychain, @unchecked Sendable {
  // Unchecked: every access is under the lock.
  private let lock = NSLock()
  private var items: [String: [UInt8]] = [:]
  private var unlocked = true

  var isUnlocked: Bool {
    get { lock.withLock { unlocked } }
    set { lock.withLock { unlocked = newValue } }
  }
  var count: Int { lock.withLock { items.count } }
  func bytes(for name: String) -> [UInt8]? { lock.withLock { items[name] } }
  func set(_ bytes: [UInt8]?, for name: String) { lock.withLock { items[name] = bytes } }
}

// example: tests
@Test("a token that a server refuses is renewed")
func refused() async throws {
  let clock = FakeClock()
  let provider = try FakeProvider(clock: clock)
  let client = try EnrollClient(
    configuration: Configuration(
      issuer: provider.issuer, clientID: "my-app", redirectURI: "com.example.app:/callback"),
    store: .memory, transport: provider, clock: clock)

  _ = try await client.signIn(using: FakeUserAgent(signingInAt: provider))
  try await client.confirm()
  let old = try await client.accessToken()
  try await client.refresh()
  #expect(try await client.accessToken() != old)
}
// end

// example: known-provider
@Test("my app signs in at Discord, as far as anybody knows")
func discord() async throws {
  let clock = FakeClock()
  let fake = try FakeProvider("discord", clock: clock)
  let client = try EnrollClient(
    configuration: Configuration(
      provider: "discord", clientID: "native", redirectURI: "com.example.app:/callback"),
    store: .memory, transport: fake, clock: clock)

  _ = try await client.signIn(using: FakeUserAgent(signingInAt: fake))
  #expect(try await client.confirm() == .active(.confirmed))
  #expect(try await client.account().profile?["email"] == .string("alice@example.com"))
}
// end

/// A resource and its server, in front of a provider.
private final class ResourceWeb: Transport {
  private let provider: FakeProvider
  init(_ provider: FakeProvider) { self.provider = provider }

  func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse {
    let issuer = provider.issuer
    switch request.url {
    case "https://notes.example/.well-known/oauth-protected-resource/mcp":
      return json(
        #"{"resource":"https://notes.example/mcp","authorization_servers":["\#(issuer)"],"scopes_supported":["openid"]}"#
      )
    case issuer + "/.well-known/oauth-authorization-server":
      let discovery = try provider.send(
        HTTPRequest(.get, issuer + "/.well-known/openid-configuration"), cancellation: cancellation)
      let more =
        #","registration_endpoint":"\#(issuer)/register","token_endpoint_auth_methods_supported":["none"]}"#
      return json(String(decoding: discovery.body.dropLast(), as: UTF8.self) + more)
    case issuer + "/register": return json(#"{"client_id":"registered-1"}"#, status: 201)
    default: return try provider.send(request, cancellation: cancellation)
    }
  }

  private func json(_ text: String, status: Int = 200) -> HTTPResponse {
    HTTPResponse(status: status, body: Array(text.utf8))
  }
}

@Suite("The examples of the articles")
struct ArticleExampleTests {
  private let clock = FakeClock()
  private let provider: FakeProvider
  private let client: EnrollClient

  init() throws {
    provider = try FakeProvider(clock: clock)
    client = try EnrollClient(
      configuration: Configuration(
        issuer: provider.issuer, clientID: "my-app", redirectURI: "com.example.app:/callback"),
      store: .memory, transport: provider, clock: clock)
  }

  private func signIn() async throws {
    _ = try await client.resume(provider.signIn(at: try await client.begin().url))
    try await client.confirm()
  }

  @Test("a host's keychain guards the store, and a store moves to it and away")
  func keys() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let configuration = try Configuration(
      issuer: "https://id.example", clientID: "my-app", redirectURI: "com.example.app:/callback")
    let systemKeychain = FakeKeychain()
    // example: keys
    let keychain = KeyPlan(.host(AppKeychain(systemKeychain)))
    let client = try EnrollClient(
      configuration: configuration, store: .directory(folder), keys: keychain)
    // end
    _ = try await client.state()
    #expect(systemKeychain.count == 1)
    #expect(!FileManager.default.fileExists(atPath: folder + "/key"))
    systemKeychain.isUnlocked = false
    let late = try EnrollClient(configuration: configuration, store: .directory(folder), keys: keychain)
    await #expect { _ = try await late.state() } throws: { ($0 as? EnrollError)?.code == .storeLocked }
    systemKeychain.isUnlocked = true
    _ = try await late.state()
    // example: move
    try await EnrollClient.replaceKeys(
      ofStoreAt: folder, from: keychain, to: KeyPlan(.passphrase, passphrase: Secret("correct horse")))
    // end
    #expect(systemKeychain.count == 0)
    _ = try await client.state()
  }

  @Test("a client is opened, and asks nobody yet")
  func opening() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    // example: opening
    let client = try EnrollClient(
      configuration: Configuration(
        issuer: "https://id.example", clientID: "my-app", redirectURI: "com.example.app:/callback"
      ) {
        $0.scopes = ["openid", "profile", "email", "offline_access"]
      },
      store: .directory(folder))
    // end
    client.close()
    #expect(FileManager.default.fileExists(atPath: folder))
  }

  @Test("a sign-in with the browser as an interface")
  func browser() async throws {
    let (client, provider) = (client, provider)
    let link = AsyncStream<String>.makeStream()
    let open: @Sendable (String) async -> Void = { link.continuation.yield(provider.signIn(at: $0)) }
    let linkReachesApp = Task {
      for await url in link.stream {
        // example: link
        switch try await client.handle(url) {
        case .registration(let state): print("The registration is \(state.kind) now.")
        case .begun(let begun): await open(begun.url)  // the link began a transaction
        case .refused(let refusal): print("Offer \(refusal.offers) instead.")
        case .logoutFinished: print("The provider's session is over too.")
        case .unsolicited: break  // the URL is not for EnrollKit
        }
        // end
        break
      }
    }
    // example: sign-in
    let state = try await client.signIn(using: SystemBrowser(openInBrowser: open))
    if case .awaitingConfirmation(let transactionID, let profile) = state {
      print("Hello, \(profile["name"]?.string ?? "somebody"); is this you?")
      try await client.confirm(transactionID)  // or retry(transactionID), if it is somebody else
    }
    // end
    try await linkReachesApp.value
    #expect(try await client.state() == .active(.confirmed))
  }

  @Test("from a resource alone to a token")
  func resource() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (resource, transport) = ("https://notes.example/mcp", ResourceWeb(provider))
    let userAccepts: @Sendable (String) async -> Bool = { $0 == "https://id.example" }
    // example: resource
    let found = try await EnrollClient.discoverResource(resource, transport: transport)
    guard await userAccepts(found.issuer) else { return }  // only the resource names this server

    var request = ResourceRequest(
      resource: resource, issuer: found.issuer, redirectURI: "com.example.app:/callback")
    request.clientName = "Notes reader"
    request.discovery = found
    let registered = try await EnrollClient.registerResource(
      request, store: .directory(folder), transport: transport)

    let client = try EnrollClient(
      configuration: registered.configuration(), store: .directory(folder), transport: transport)
    // end
    #expect(registered.isNew)
    _ = try await client.resume(provider.signIn(at: try await client.begin().url))
    try await client.confirm()
    #expect(try await client.accessToken().authorization == "Bearer access-2")
    #expect(
      provider.requests(.token).allSatisfy {
        String(decoding: $0.body, as: UTF8.self).contains("notes.example")
      })
  }

  @Test("a transaction is taken up by its id")
  func later() async throws {
    // example: later
    let begun = try await client.begin(SignInOptions(loginHint: "alice@example.com"))
    let url = begun.url  // store begun.transactionID for other processes
    // end
    let redirect = provider.signIn(at: url)
    async let settled = client.awaitOutcome(of: begun.transactionID)
    // example: resume
    let state = try await client.resume(redirect)  // in the process that gets the URL
    // end
    #expect(state.kind == .awaitingConfirmation)
    #expect(try await settled == state)
  }

  @Test("a token for each request")
  func token() async throws {
    try await signIn()
    // example: token
    let token = try await client.accessToken()
    let header = token.authorization
    // end
    #expect(header == "Bearer access-2")
  }

  @Test(
    "every outcome of asking for a token has its answer", arguments: ["valid", "stale", "expired", "over"])
  func outcomes(_ situation: String) async throws {
    try await signIn()
    switch situation {
    case "stale": clock.advance(seconds: 3550)
    case "expired": clock.advance(seconds: 3700)
    case "over":
      clock.advance(seconds: 3700)
      provider.endSessions()
    default: break
    }
    if situation == "stale" || situation == "expired" {
      for _ in 1...10 { provider.next(.token, .unreachable) }
    }
    var (sent, told) = (0, "")
    func send(_ token: AccessToken) { sent += 1 }
    func tell(_ text: String) { told = text }
    // example: outcomes
    switch try await client.access(minimumLifetime: .seconds(30)) {
    case .valid(let token), .stale(let token, _): send(token)
    case .expired(_, let retryAfter, _): tell("Offline; trying again in \(retryAfter ?? 60) s.")
    case .rejected(let reason): tell("The provider refused just now: \(reason.message)")
    case .reauthenticate: tell("Please sign in again.")
    case .storeLocked: tell("Unlock the device first.")
    case .busy: tell("One moment.")
    }
    // end
    #expect(sent == (situation == "valid" || situation == "stale" ? 1 : 0))
    #expect(told.hasPrefix(["expired": "Offline", "over": "Please sign in"][situation] ?? ""))
  }

  @Test("whoever watches hears of every state")
  func states() async throws {
    let client = client
    let watching = Task {
      // example: states
      for await state in client.states {
        switch state {
        case .active: print("Show the app.")
        case .unregistered: print("Show the ways to sign in.")
        case .renewalFailed(let failure): print("It helps to \(failure.remedy).")
        case .registrationFailed(let error): print(error.message)
        case .starting, .authenticating, .awaitingConfirmation: continue
        }
      }
      // end
    }
    _ = try await client.state()
    client.close()
    watching.cancel()
    await watching.value
  }

  @Test("an error says what helps")
  func errors() async throws {
    provider.next(.discovery, .unreachable)
    var told = ""
    func tell(_ key: String) { told = key }
    // example: errors
    do {
      _ = try await client.begin()
    } catch {
      switch error.helps {
      case .retry: tell(error.messageKey)
      case .wait: tell(error.messageKey)  // error.retryAfterSeconds, if the server sent it
      case .registerAgain: tell(error.messageKey)  // begin again
      case .verifyEmail, .createAccount: tell(error.messageKey)  // then confirm() again
      case .support: print("\(error.code.name), by the \(error.blame): \(error.message)")
      }
    }
    // end
    #expect(told == "error.network")
  }

  @Test("two accounts in one store, one under a PIN")
  func store() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let configuration = try Configuration(
      issuer: provider.issuer, clientID: "my-app", redirectURI: "com.example.app:/callback")
    // example: accounts
    let work = try EnrollClient(
      configuration: configuration, store: .directory(folder), account: AccountName("work"))
    let home = try EnrollClient(
      configuration: configuration, store: .directory(folder), account: AccountName("home"))
    // end
    work.close()
    home.close()
    let client = try EnrollClient(
      configuration: configuration, store: .directory(folder), transport: provider, clock: clock)
    _ = try await client.resume(provider.signIn(at: try await client.begin().url))
    // example: pin
    try await client.setPIN(Secret("1357"))
    // In a later process:
    let answer = try await client.unlock(pin: Secret("1357"))
    if answer.outcome != .unlocked { print("\(answer.triesLeft) tries are left.") }
    // end
    #expect(answer.outcome == .unlocked)
    client.close()
  }

  @Test("logout, and the browser's own session")
  func logout() async throws {
    try await signIn()
    var opened: [String] = []
    func open(_ url: String) { opened.append(url) }
    // example: logout
    if let url = try await client.logout().url { open(url) }  // ends the browser's session too
    // end
    #expect(opened.count == 1)
    #expect(try await client.state() == .unregistered)
  }
}
