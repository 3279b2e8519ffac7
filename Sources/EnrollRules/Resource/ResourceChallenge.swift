// The answer of a resource to a request without a sufficient token (RFC 6750 §3, RFC 9728 §5.1). It has the URL of the
// resource's metadata, and the scopes that a token needs. A URL at another origin is refused, because anybody could
// control that origin; two different URLs are refused, too.

/// The challenges for tokens in one response of a resource, combined.
package struct ResourceChallenge: Equatable, Sendable {
  /// `resource_metadata`; nil if no challenge has it.
  package let metadataURI: String?
  /// `scope`; nil if no challenge has it.
  package let scopes: [String]?
  /// `error=insufficient_scope`: the token is valid, and the request needs more scopes.
  package let isForMoreScopes: Bool
  /// Whether the resource asks for a token that is bound to a key, and accepts no other kind of token (RFC 9449 §7.1).
  package let requiresDPoP: Bool

  /// - Parameter header: the value of `WWW-Authenticate`; several headers are joined by commas (RFC 9110 §5.3).
  /// - Throws: `.invalidArgument` for a value that is not a list of challenges.
  package init(header: String) throws(EnrollError) {
    let answer = HTTPResponse(status: 401, headers: [HTTPHeader("WWW-Authenticate", header)])
    do throws(EnrollError) {
      try self.init(answer)
    } catch {
      guard error.field == nil else { throw error }
      throw EnrollError(.invalidArgument, "challenge: \(error.message)", field: "challenge")
    }
  }

  /// - Throws: `.responseInvalid` for a header that breaks the grammar, and for two URLs of metadata.
  package init(_ response: HTTPResponse) throws(EnrollError) {
    var (location, scopes): (String?, [String]?)
    var (isForMoreScopes, takesBearer, takesDPoP) = (false, false, false)
    for challenge in try AuthenticationChallenge.all(in: response) {
      let isBound = ASCII.equalsIgnoringCase(challenge.scheme, "DPoP")
      guard isBound || ASCII.equalsIgnoringCase(challenge.scheme, "Bearer") else { continue }
      if isBound { takesDPoP = true } else { takesBearer = true }
      if let named = challenge.parameter("resource_metadata") {
        guard location.map({ ASCII.equals($0, named) }) ?? true else {
          throw Self.wrong("its challenge names two addresses of its metadata")
        }
        location = named
      }
      // If a scope has characters that cannot be sent, the scopes of this challenge are ignored.
      let words = Scopes.split(challenge.parameter("scope") ?? "").filter { !$0.utf8.isEmpty }
      if !words.isEmpty, Scopes.problem(in: words) == nil {
        scopes = words.reduce(scopes ?? []) { Scopes.adding($1, to: $0) }
      }
      if let error = challenge.parameter("error"), ASCII.equals(error, "insufficient_scope") {
        isForMoreScopes = true
      }
    }
    metadataURI = location
    self.scopes = scopes
    self.isForMoreScopes = isForMoreScopes
    requiresDPoP = takesDPoP && !takesBearer
  }

  /// The URL of the metadata, which must be at the resource's own origin.
  package func location(at resource: ResourceIdentifier) throws(EnrollError) -> String? {
    guard let metadataURI else { return nil }
    let url: StrictURL
    do throws(StrictURL.Refusal) { url = try StrictURL(metadataURI) } catch { throw Self.wrong(error.text) }
    guard url.hasSameOrigin(as: resource.url), !url.hadFragment else {
      throw Self.wrong(
        "expected an address at \(resource.url.shownOrigin), got \(Shown.url(metadataURI)). "
          + "Metadata from another origin is not used")
    }
    return metadataURI
  }

  /// The scopes of the next sign-in: the challenge's scopes, and some of the earlier scopes. If the challenge asks for
  /// more scopes, all earlier scopes are kept; otherwise only `openid` and `offline_access` are kept.
  /// - Parameter earlier: the scopes of the previous sign-in.
  package func scopes(after earlier: [String]) -> [String] {
    guard let scopes else { return earlier }
    if isForMoreScopes { return scopes.reduce(earlier) { Scopes.adding($1, to: $0) } }
    return AuthorizationServer.ownScopes.filter { Scopes.contains($0, in: earlier) }
      .reduce(scopes) { Scopes.adding($1, to: $0) }
  }

  private static func wrong(_ text: String) -> EnrollError {
    EnrollError(
      .responseInvalid, "resource_metadata of the resource's challenge: \(text)", field: "resource_metadata")
  }
}
