// The target of a request, checked before anything is opened: https, or http to this machine if the host allows that
// (R19). A URL that parsers read in different ways never reaches libcurl (R9).

import EnrollRules

/// A checked absolute URL.
struct RequestTarget: Equatable {
  /// Whether the scheme is http, and the host is loopback.
  let isPlain: Bool
  /// Whether the host is a loopback address or `localhost`, so that no proxy is used.
  let isLoopback: Bool
  /// Scheme, host and port: the only parts of the URL that an error may show (R40).
  let display: String

  /// Parses and checks the URL of a request.
  /// - Throws: `.invalidArgument`, which names the broken rule, but not the URL's path and query.
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
