// The audience of an access token that is requested in addition to the session's own access token: a resource server
// (RFC 8707 §2), fewer scopes (RFC 6749 §6), or both. In all renewal steps an audience of nil means the session's own
// access token. A resource is refused if it is not an absolute https URL, or has a fragment; scopes are refused if RFC
// 6749 §3.3 does not allow them.

/// The audience of an access token that is not the session's own access token.
public struct TokenAudience: Equatable, Sendable {
  /// A longer resource is refused.
  public static let maximumResourceBytes = 2048

  /// The URL of the resource server, byte for byte as the provider knows it; nil if only scopes are named.
  public let resource: String?
  /// The scopes in ascending order, without repetitions; empty if only a resource is named.
  public let scopes: [String]

  /// The audience with this resource and these scopes.
  /// - Parameters:
  ///   - scopes: the scopes in any order; nil for no scopes.
  ///   - allowsLoopbackHTTP: whether `http` to a loopback address is allowed, too.
  /// - Returns: nil, which means the session's own token, if neither a resource nor scopes are given.
  /// - Throws: `.invalidArgument` with field `resource` or `scope`.
  public static func naming(
    resource: String?, scopes: [String]?, allowsLoopbackHTTP: Bool = false
  ) throws(EnrollError) -> TokenAudience? {
    guard resource != nil || scopes != nil else { return nil }
    if let resource { try check(resource, allowsLoopbackHTTP) }
    if let scopes { try check(scopes) }
    return TokenAudience(resource: resource, scopes: scopes ?? [])
  }

  /// An audience from the store or from another process. It is not checked again.
  package init(resource: String?, scopes: [String]) {
    self.resource = resource
    self.scopes = scopes.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  private static func check(_ resource: String, _ allowsLoopbackHTTP: Bool) throws(EnrollError) {
    func refusal(_ text: String) -> EnrollError {
      EnrollError(
        .invalidArgument, "resource: expected an absolute https URL without fragment (RFC 8707 §2): \(text)",
        field: "resource")
    }
    guard resource.utf8.count <= maximumResourceBytes else {
      throw refusal("it has \(resource.utf8.count) bytes, and \(maximumResourceBytes) at most are sent")
    }
    let url: StrictURL
    do throws(StrictURL.Refusal) { url = try StrictURL(resource) } catch { throw refusal(error.text) }
    guard !url.hadFragment else { throw refusal("this URL has a fragment") }
    switch url.kind {
    case .https: break
    case .loopbackHTTP:
      guard allowsLoopbackHTTP else { throw refusal("http to loopback needs allowLoopbackHTTP") }
    case .privateScheme: throw refusal("this URL has a private scheme")
    }
  }

  private static func check(_ scopes: [String]) throws(EnrollError) {
    let problem = scopes.isEmpty ? "expected at least one scope, got none" : Scopes.problem(in: scopes)
    if let problem { throw EnrollError(.invalidArgument, "scope: \(problem)", field: "scope") }
  }

  public static func == (left: TokenAudience, right: TokenAudience) -> Bool {
    switch (left.resource, right.resource) {
    case (nil, nil): break
    case (let left?, let right?): guard ASCII.equals(left, right) else { return false }
    case (nil, _?), (_?, nil): return false
    }
    return left.scopes.count == right.scopes.count
      && zip(left.scopes, right.scopes).allSatisfy { ASCII.equals($0, $1) }
  }

  /// The audience for an error text: the path of the resource, but no value of its query (R40).
  package var shown: String {
    let named = resource.map { ["the resource " + RedactedURL.publishedText($0)] } ?? []
    let limited = scopes.isEmpty ? [] : ["the scope \"\(Scopes.joined(scopes))\""]
    return (named + limited).joined(separator: " with ")
  }

  /// The parameter that a refusal concerns: the parameter that the provider's error names, otherwise the parameter
  /// that was sent.
  func field(of error: EnrollError) -> String {
    let isTarget = error.oauthError.map { ASCII.equals($0, "invalid_target") } ?? (resource != nil)
    return isTarget || scopes.isEmpty ? "resource" : "scope"
  }
}

extension Configuration {
  /// The audience with this resource and these scopes, under the rules of this configuration.
  /// - Returns: nil if neither a resource nor scopes are given.
  /// - Throws: as ``TokenAudience/naming(resource:scopes:allowsLoopbackHTTP:)``.
  public func audience(resource: String?, scopes: [String]?) throws(EnrollError) -> TokenAudience? {
    try TokenAudience.naming(resource: resource, scopes: scopes, allowsLoopbackHTTP: allowsLoopbackHTTP)
  }
}

extension Configuration {
  /// The error if the sign-in named its resources, and this audience is not among them (RFC 8707 §2.2). In that case
  /// no token is requested, because some providers spend the refresh token on such a request.
  package func refusal(of audience: TokenAudience?) -> EnrollError? {
    let asked = requestedResources
    guard let audience, let wanted = audience.resource, !asked.isEmpty,
      !asked.contains(where: { ASCII.equals($0, wanted) })
    else { return nil }
    return EnrollError(
      .unsupported,
      "no token for \(audience.shown): the sign-in did not ask for this resource (RFC 8707 §2.2); name it in resources, then sign in again",
      field: "resource")
  }
}
