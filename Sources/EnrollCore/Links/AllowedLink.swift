// Which links of another app may be opened (flows.md §9): those that begin as one that is allowed, up to the end of a
// whole host or path segment, byte by byte. `https://other.example/app` allows `…/app`, `…/app?x` and `…/app/x`, but
// neither `…/apple` nor `https://other.example.evil/app`.

enum AllowedLink {
  /// - Parameter allowed: beginnings; one that is no URL allows nothing.
  static func permits(_ url: StrictURL, among allowed: [String]) -> Bool {
    allowed.contains { text in (try? StrictURL(text)).map { begins(url, as: $0) } ?? false }
  }

  private static func begins(_ url: StrictURL, as beginning: StrictURL) -> Bool {
    let origin = beginning.bytes[..<beginning.path.lowerBound]
    guard url.bytes[..<url.path.lowerBound].elementsEqual(origin) else { return false }
    let path = url.bytes[url.path]
    let allowed = beginning.bytes[beginning.path]
    guard path.starts(with: allowed) else { return false }
    return path.count == allowed.count || allowed.isEmpty || allowed.last == 0x2F
      || path[path.startIndex + allowed.count] == 0x2F
  }
}
