// Several environments are several configurations side by side: which of them a URL belongs to (flows.md §1). Pure: what
// is pending is not looked at, so a URL that has an owner may still be unsolicited.

extension Configuration {
  /// How a URL relates to a configuration.
  public enum Ownership: String, Sendable, CaseIterable {
    /// Its redirect, with whatever query; a loopback redirect without a port owns every port.
    case redirect
    /// Where the browser comes back to after a logout.
    case logout
    /// The fallback link (flows.md §4).
    case fallback
    /// An activation link (flows.md §3).
    case activation
  }

  /// What `url` is to this configuration; nil when it is none of its.
  /// - Throws: `.redirectMalformed` for what R9 refuses, and for a link of its own whose token R11 refuses.
  public func ownership(of url: String) throws(EnrollError) -> Ownership? {
    let given: StrictURL
    do throws(StrictURL.Refusal) {
      given = try StrictURL(url, configured: redirectURI)
    } catch {
      throw EnrollError(.redirectMalformed, error.text, field: "url")
    }
    if owns(given, redirectURI) { return .redirect }
    if owns(given, postLogoutRedirectURI) { return .logout }
    switch try ReceivedLink.read(given, configuration: self) {
    case .fallback: return .fallback
    case .activation: return .activation
    case nil: return nil
    }
  }

  private func owns(_ given: StrictURL, _ configured: String?) -> Bool {
    guard let configured, let own = try? StrictURL(configured, configured: configured) else { return false }
    return given.hasSameBase(as: own, ignoringPort: own.kind == .loopbackHTTP && own.port == nil)
  }

  /// The configuration that owns a URL.
  /// - Returns: its place, and what the URL is to it; nil when it is none of theirs.
  /// - Throws: `.redirectMalformed`; `.configuration` when several own it: nobody could tell them apart.
  public static func owner(
    of url: String, among configurations: [Configuration]
  ) throws(EnrollError) -> (index: Int, ownership: Ownership)? {
    var owner: (index: Int, ownership: Ownership)?
    for (index, configuration) in configurations.enumerated() {
      guard let ownership = try configuration.ownership(of: url) else { continue }
      if let owner {
        throw EnrollError(
          .configuration, "configurations \(owner.index) and \(index) own the same URL; give each its own",
          field: "configurations[\(index)]")
      }
      owner = (index, ownership)
    }
    return owner
  }
}
