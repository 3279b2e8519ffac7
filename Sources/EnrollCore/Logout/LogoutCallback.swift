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

  /// Which of `logouts` this is the end of; nil when of none. Every state is compared, each in constant time. A callback without
  /// a state ends the only logout that waits, if that one sent none.
  public func index(in logouts: [PendingLogout]) -> Int? {
    var found: Int?
    if let state = redirect.state {
      for (index, logout) in logouts.enumerated() where logout.state == state { found = index }
    } else if logouts.count == 1, logouts[0].state == nil {
      found = 0
    }
    guard let found,
      let sent = try? StrictURL(logouts[found].redirectURI, configured: logouts[found].redirectURI),
      redirect.url.hasSameBase(as: sent, ignoringPort: sent.kind == .loopbackHTTP)
    else { return nil }
    return found
  }
}
