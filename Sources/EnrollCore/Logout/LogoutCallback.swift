// The browser's return from a logout (OpenID Connect RP-Initiated Logout §3): ours only when its state and its address
// are those of a logout that was begun here.

import EnrollCrypto

/// A logout callback as it arrived.
public struct LogoutCallback: Equatable, Sendable {
  private let redirect: Redirect

  /// - Parameter configured: the configured redirect, whose scheme may be without a dot (R2).
  /// - Throws: `.redirectMalformed` for a URL that R9 refuses, and for a repeated `state` (R8).
  public init(parsing text: String, configured: String? = nil) throws(EnrollError) {
    redirect = try Redirect(parsing: text, configured: configured)
  }

  /// Which of `logouts` this is the end of; nil when of none. Every state is compared, each in constant time.
  public func index(in logouts: [PendingLogout]) -> Int? {
    guard let state = redirect.state else { return nil }
    var found: Int?
    for (index, logout) in logouts.enumerated() where logout.state == state { found = index }
    guard let found,
      let sent = try? StrictURL(logouts[found].redirectURI, configured: logouts[found].redirectURI),
      redirect.url.hasSameBase(as: sent, ignoringPort: sent.kind == .loopbackHTTP)
    else { return nil }
    return found
  }
}
