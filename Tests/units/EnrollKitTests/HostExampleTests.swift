import EnrollKit
import EnrollTesting
import Testing

@Test("a user who signed in stays signed in for a month")
func month() async throws {
  let clock = FakeClock()
  let provider = try FakeProvider(clock: clock)
  let client = try EnrollClient(
    configuration: Configuration(
      issuer: provider.issuer, clientID: "my-app", redirectURI: "com.example.app:/callback"),
    store: .memory, transport: provider, clock: clock)

  _ = try await client.signIn(using: FakeUserAgent(signingInAt: provider))
  try await client.confirm()
  for _ in 1...30 {
    clock.advance(seconds: 86_400)
    provider.next(.token, .status(503))  // one request a day fails
    _ = try await client.accessToken()
  }
}
