// Finds the configuration to which a URL belongs, for hosts that use several configurations, such as one for each
// environment (flows.md §1). Transactions are not considered, so a URL that belongs to a configuration may still be
// unsolicited.

extension Configuration {
  /// The purpose of a URL for a configuration.
  public enum Ownership: String, Sendable, CaseIterable {
    /// The configuration's redirect URI, with any query; a loopback redirect URI without a port matches every port.
    case redirect
    /// The redirect URI to which the browser returns after a logout.
    case logout
    /// The fallback link (flows.md §4).
    case fallback
    /// An activation link (flows.md §3).
    case activation
  }

  /// The purpose of `url` for this configuration; nil if the URL does not belong to this configuration.
  /// - Throws: `.redirectMalformed` for a URL that R9 refuses, and for a link of this configuration whose token R11
  ///   refuses.
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

  /// The configuration to which a URL belongs.
  /// - Returns: the configuration's index, and the URL's purpose; nil if the URL belongs to no configuration.
  /// - Throws: `.redirectMalformed`; `.configuration` if the URL belongs to several configurations.
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
