// The URI of a protected resource (RFC 9728 §1.2, RFC 8707 §2): what metadata is looked for under, what tokens are asked for.

/// An API or an MCP server, by the URI under which its tokens are issued.
public struct ResourceIdentifier: Equatable, Sendable {
  /// As the host gave it. Compared byte by byte.
  public let text: String
  let url: StrictURL

  /// - Parameter field: the parameter or key that holds it, for errors.
  /// - Throws: `.invalidArgument` for anything but an https URL without a fragment; http to loopback needs the switch
  ///   (R19).
  public init(
    _ text: String, allowsLoopbackHTTP: Bool, field: String = "resource"
  ) throws(EnrollError) {
    if let problem = Self.problem(in: text, allowsLoopbackHTTP: allowsLoopbackHTTP) {
      throw EnrollError(.invalidArgument, "\(field): \(problem)", field: field)
    }
    guard let url = try? StrictURL(text) else {
      throw EnrollError(.internal, "a URL was read in two ways", field: field)
    }
    self.text = text
    self.url = url
  }

  /// Of every request that leads to tokens (RFC 8707 §2).
  static let parameter = "resource"

  /// - Throws: `.invalidArgument` for a host's own parameter that would change what the tokens are for.
  static func requireUnset(_ name: String, _ configuration: Configuration) throws(EnrollError) {
    guard configuration.resource != nil, ASCII.equals(name, parameter) else { return }
    throw EnrollError(
      .invalidArgument,
      "resource is the configuration's, and the account's: open another client for another resource",
      field: "parameters")
  }

  /// What is wrong with it; nil for nothing.
  static func problem(in text: String, allowsLoopbackHTTP: Bool) -> String? {
    let url: StrictURL
    do throws(StrictURL.Refusal) { url = try StrictURL(text) } catch { return error.text }
    guard !url.hadFragment else { return "a resource has no fragment (RFC 8707 §2)" }
    switch url.kind {
    case .https: return nil
    case .loopbackHTTP: return allowsLoopbackHTTP ? nil : "http to loopback needs allowLoopbackHTTP"
    case .privateScheme: return "expected https, got a private scheme"
    }
  }
}

/// A place below `/.well-known/` (RFC 8615) of an identifier that may have a path.
enum WellKnown {
  /// The URL with `suffix` between the host and the path. A slash that is the whole path is left out (RFC 9728 §3.1).
  /// - Parameter withoutLastSlash: so is any slash at its end (RFC 8414 §3.1).
  static func inserting(
    _ suffix: String, into url: StrictURL, withoutLastSlash: Bool = false
  ) -> String {
    var path = url.path
    if path.count == 1 || withoutLastSlash, url.bytes[path].last == 0x2F {
      path = path.lowerBound..<(path.upperBound - 1)
    }
    return origin(of: url) + "/.well-known/" + suffix + url.text(path)
      + (url.query.map { "?" + url.text($0) } ?? "")
  }

  /// The URL for the host as a whole.
  static func atOrigin(_ suffix: String, of url: StrictURL) -> String {
    origin(of: url) + "/.well-known/" + suffix
  }

  private static func origin(of url: StrictURL) -> String { url.text(0..<url.path.lowerBound) }
}

extension StrictURL {
  /// Scheme, host and port, whatever way they are written (RFC 6454 §4).
  func hasSameOrigin(as other: StrictURL) -> Bool {
    kind == other.kind && kind != .privateScheme && effectivePort == other.effectivePort
      && ASCII.equalsIgnoringCase(hostText ?? "", other.hostText ?? "")
  }

  private var effectivePort: Int { port ?? (kind == .https ? 443 : 80) }
}

extension Configuration {
  static var resourceKeys: [ConfigurationKey] {
    [
      ConfigurationKey(
        "resource", .url,
        "The URI of the API or MCP server that the tokens are for (RFC 8707). It is sent with every request that leads to tokens; another resource is another account. Without it the provider decides."
      )
    ]
  }
}
