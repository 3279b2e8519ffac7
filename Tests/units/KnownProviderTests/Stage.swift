// A known provider, a client with one face, and the user.

import EnrollSteps
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollTesting
import Foundation

struct Stage {
  let fake: FakeProvider
  let clock: FakeClock
  let client: any Face

  /// Thrown if the browser stays at the provider, without a redirect.
  struct Stays: Error { var page: String }

  /// - Parameter configuration: the client's configuration.
  init(
    _ entry: KnownProvider, _ face: FaceName, _ hostileBehaviours: [FakeProvider.HostileBehaviour] = [],
    _ configuration: (FakeProvider) -> JSON
  ) throws {
    let preset = Preset(entry.id)
    clock = FakeClock()
    fake = try FakeProvider(entry, registration: preset.registration, clock: clock)
    for twist in hostileBehaviours { fake.misbehave(twist) }
    client = try face.open(configuration(fake), fake, clock)
  }

  /// Signs in, from the first request to the session.
  func signIn(as user: String = "alice") throws {
    let begun = try client.call("registration.begin", [])
    switch fake.authorize(begun["action"]?["url"]?.string ?? "", as: user) {
    case .redirect(let back): _ = try client.call("registration.resume", [("url", .string(back))])
    case .stays(let status, let text): throw Stays(page: "page \(status) \(text)")
    }
  }

  /// Signs out, locally and in the browser.
  func signOut() throws {
    guard let url = try client.call("logout.begin", [])["url"]?.string else { return }
    switch fake.visit(url) {
    case .redirect(let back): _ = try client.call("logout.resume", [("url", .string(back))])
    case .stays(200, _): break
    case .stays(let status, let text): throw Stays(page: "page \(status) \(text)")
    }
  }

  /// The claims that the client has stored.
  func profile() throws -> JSON? { try client.call("identity.profile", [])["claims"] }

  func renew() throws -> String? {
    clock.advance(seconds: 200)
    return try client.call("token.refresh", [])["outcome"]?.string
  }

  /// Advances the clock until the transaction has an outcome.
  func settled(_ begun: JSON) throws -> JSON {
    let client = client
    let ended = Guarded<Result<JSON, any Error>?>(nil, by: Mutex())
    let transaction = begun["transaction"]
    Thread.detachNewThread {
      let result = Result {
        try client.call(
          "registration.awaitOutcome", [("transaction", transaction), ("timeout", .integer(3600))])
      }
      ended.withLock { $0 = result }
    }
    while true {
      if let result = ended.withLock({ $0 }) { return try result.get() }
      clock.advance(seconds: 1)
      Thread.sleep(forTimeInterval: 0.002)
    }
  }
}
