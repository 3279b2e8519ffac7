// Where a request goes, checked before anything is opened: https, or http to this very machine where the host switched
// that on (R19). What URL parsers read in different ways never gets as far as libcurl's (R9).

import EnrollCore

/// A checked absolute URL.
struct RequestTarget: Equatable {
  /// http rather than https: loopback only.
  let isPlain: Bool
  /// The host is a loopback address or `localhost`: never through a proxy.
  let isLoopback: Bool
  /// Scheme, host and port, all that an error may show (R40).
  let display: String

  /// - Throws: `.invalidArgument` naming the rule that the URL breaks; its path and query are not repeated.
  init(_ text: String, allowsLoopbackHTTP: Bool) throws(EnrollError) {
    let url: StrictURL
    do throws(StrictURL.Refusal) { url = try StrictURL(text) } catch { throw Self.refused(error.text) }
    guard !url.hadFragment else { throw Self.refused("a fragment is not allowed") }
    display = url.shownOrigin
    switch url.kind {
    case .https: isPlain = false
    case .loopbackHTTP:
      guard allowsLoopbackHTTP else { throw Self.refused("http to loopback needs allowLoopbackHTTP") }
      isPlain = true
    case .privateScheme: throw Self.refused("expected https, got a private scheme")
    }
    isLoopback = url.isLoopback
  }

  private static func refused(_ reason: String) -> EnrollError {
    EnrollError(.invalidArgument, "the request's URL is not acceptable: \(reason)")
  }
}
