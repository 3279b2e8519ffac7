import EnrollKit
import EnrollTesting
import Expectations
import Testing

@Suite("The browser as an interface")
struct UserAgentTests {
  private let clock = FakeClock()
  private let provider: FakeProvider
  private let client: EnrollClient

  init() throws {
    provider = try FakeProvider(clock: clock)
    client = try EnrollClient(
      configuration: Configuration(
        issuer: provider.issuer, clientID: "native", redirectURI: "com.example.app:/callback"),
      store: .memory, transport: provider, clock: clock)
  }

  @Test("what comes back is resumed")
  func returned() async throws {
    let browser = FakeUserAgent(signingInAt: provider)
    let state = try await client.signIn(using: browser, SignInOptions(loginHint: "alice"))
    expect(state.kind, is: .awaitingConfirmation)
    #expect(browser.opened.count == 1 && browser.opened[0].contains("login_hint=alice"))
  }

  @Test("a sign-in that waits for confirmation goes on with its question, and no browser opens")
  func openQuestion() async throws {
    let asked = try await client.signIn(using: FakeUserAgent(signingInAt: provider))
    let browser = FakeUserAgent { _ in .dismissed }
    try await expect(client.signIn(using: browser), is: asked)
    let shown: @Sendable (String) async -> Void = { _ in Issue.record("a page was shown") }
    try await expect(
      client.signIn(showing: shown, confirming: { $0["sub"] == .string("alice") }), is: .active(.confirmed))
    expect(browser.opened, is: [])
  }

  @Test("a yes to one profile confirms no other")
  func another() async throws {
    let (client, provider) = (client, provider)
    let late = try await client.begin()
    let arrive: @Sendable (String) async -> Void = { url in
      Task { try await client.handle(provider.signIn(at: url)) }
    }
    let error = await #expect(throws: EnrollError.self) {
      try await client.signIn(
        showing: arrive,
        confirming: { _ in (try? await client.resume(provider.signIn(at: late.url))) != nil })
    }
    expect(error?.code, is: .illegalState)
    try await expect(client.account().waiting?.transactionID, is: late.transactionID)
  }

  @Test("a dismissal is a hint: the state is as before, and a late redirect still wins")
  func dismissed() async throws {
    let browser = FakeUserAgent { _ in .dismissed }
    try await expect(client.signIn(using: browser), is: .unregistered)
    let late = provider.signIn(at: browser.opened[0])
    try await expect(client.resume(late).kind, is: .awaitingConfirmation)
  }

  @Test("what comes elsewhere is waited for")
  func elsewhere() async throws {
    let (client, provider) = (client, provider)
    let browser = FakeUserAgent { url in
      Task { try await client.handle(provider.signIn(at: url)) }
      return .elsewhere
    }
    try await expect(client.signIn(using: browser).kind, is: .awaitingConfirmation)
  }

  @Test("a sign-in whose task is cancelled leaves no transaction")
  func cancelled() async throws {
    let (client, opened) = (client, AsyncStream.makeStream(of: Void.self))
    let signingIn = Task { try await client.signIn { _ in opened.continuation.yield() } }
    for await _ in opened.stream { break }
    signingIn.cancel()
    let error = await #expect(throws: EnrollError.self) { try await signingIn.value }
    expect(error?.code, is: .cancelled)
    try await expect(client.state(), is: .unregistered)
  }

  @Test("what the redirect says is wrong is thrown")
  func wrong() async throws {
    let browser = FakeUserAgent { _ in .returned("com.example.app:/callback?code=x&state=nobody") }
    await #expect(throws: EnrollError.self) { try await client.signIn(using: browser) }
    try await expect(client.state().kind, is: .authenticating)
  }

  @Test("a closure shows the URL, another one confirms the profile")
  func closures() async throws {
    let (client, provider) = (client, provider)
    let state = try await client.signIn { url in
      Task { try await client.handle(provider.signIn(at: url)) }
    } confirming: { profile in
      profile["sub"]?.string == "alice"
    }
    expect(state, is: .active(.confirmed))
  }

  @Test("a profile that is refused ends the sign-in, and the tokens are revoked")
  func refused() async throws {
    let (client, provider) = (client, provider)
    let state = try await client.signIn { url in
      Task { try await client.handle(provider.signIn(at: url)) }
    } confirming: { _ in
      false
    }
    #expect(state == .unregistered && !provider.revoked.isEmpty)
  }
}
