// URLs below `/.well-known/` (RFC 8615), and the origin of a URL.

/// Makes URLs below `/.well-known/` (RFC 8615) for an identifier, which may have a path.
package enum WellKnown {
  /// The URL with `suffix` between the host and the path. A path that is only a slash is left out (RFC 9728 §3.1).
  /// - Parameter withoutLastSlash: whether any slash at the end of the path is left out, too (RFC 8414 §3.1).
  package static func inserting(
    _ suffix: String, into url: StrictURL, withoutLastSlash: Bool = false
  ) -> String {
    var path = url.path
    if path.count == 1 || withoutLastSlash, url.bytes[path].last == 0x2F {
      path = path.lowerBound..<(path.upperBound - 1)
    }
    return origin(of: url) + "/.well-known/" + suffix + url.text(path)
      + (url.query.map { "?" + url.text($0) } ?? "")
  }

  /// The well-known URL with `suffix` for the whole origin of `url`; the path of `url` is ignored.
  package static func atOrigin(_ suffix: String, of url: StrictURL) -> String {
    origin(of: url) + "/.well-known/" + suffix
  }

  private static func origin(of url: StrictURL) -> String { url.text(0..<url.path.lowerBound) }
}

extension StrictURL {
  /// Whether scheme, host and port are equal, however they are written (RFC 6454 §4).
  package func hasSameOrigin(as other: StrictURL) -> Bool {
    kind == other.kind && kind != .privateScheme && effectivePort == other.effectivePort
      && ASCII.equalsIgnoringCase(hostText ?? "", other.hostText ?? "")
  }

  private var effectivePort: Int { port ?? (kind == .https ? 443 : 80) }
}
