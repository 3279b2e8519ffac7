// A browser that a test controls.

import EnrollSteps
import EnrollHost
public import EnrollKit
import EnrollPosix

/// A browser without a screen. It records the URLs that it was asked to open, and gives the answers that the test has
/// chosen.
public final class FakeUserAgent: UserAgent {
  private let play: @Sendable (String) async -> UserAgentAnswer
  private let urls = Guarded<[String]>([], by: Mutex())

  /// - Parameter play: plays the user, who reacts to a URL.
  public init(_ play: @escaping @Sendable (String) async -> UserAgentAnswer) { self.play = play }

  /// Signs in at `provider` at once. If the provider shows an error page, the user closes the browser.
  public convenience init(signingInAt provider: FakeProvider, as user: String = "alice") {
    self.init { url in
      guard case .redirect(let redirect) = provider.authorize(url, as: user) else { return .dismissed }
      return .returned(redirect)
    }
  }

  /// Every URL that was opened, the oldest first.
  public var opened: [String] { urls.withLock { $0 } }

  public func open(_ url: String, redirectURI: String?) async -> UserAgentAnswer {
    urls.withLock { $0.append(url) }
    return await play(url)
  }
}
