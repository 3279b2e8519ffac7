// The profile of a provider without OpenID Connect (GitHub, Discord, X, Spotify): where its endpoint is, and how it
// names the claims. The endpoint's response is turned into claims like those of userinfo (OpenID Connect Core §5.1).

package import EnrollJSON

/// Describes how to turn a provider's description of a user into claims.
public struct ProfileMapping: Equatable, Sendable {
  /// The endpoint that describes the user, requested with the access token; nil for the provider's userinfo endpoint.
  public var endpoint: String?
  /// The paths of `sub`, such as `data.id`: names of members and indexes of arrays, with dots between them. The first
  /// path with a value is used; this applies to all members below, too. A whole number is converted to text.
  public var subject: [String]
  /// The paths of `name`.
  public var name: [String]
  /// The paths of `email`.
  public var email: [String]
  /// The paths of `email_verified`, a boolean.
  public var emailVerified: [String]
  /// The paths of `picture`.
  public var picture: [String]
  /// The endpoint that lists the user's addresses, for a user whose description has no `email`: a list of objects with
  /// `email`, `primary` and `verified` (GitHub).
  public var emailsEndpoint: String?

  public init(
    endpoint: String? = nil, subject: [String] = ["sub"], name: [String] = [], email: [String] = [],
    emailVerified: [String] = [], picture: [String] = [], emailsEndpoint: String? = nil
  ) {
    self.endpoint = endpoint
    self.subject = subject
    self.name = name
    self.email = email
    self.emailVerified = emailVerified
    self.picture = picture
    self.emailsEndpoint = emailsEndpoint
  }
}

extension ProfileMapping {
  /// The members of the provider's description of the user, and the claims that the mapping finds in that description.
  /// A mapped claim replaces a member of the same name.
  /// - Throws: `.responseInvalid` if no path of the subject leads to text or to a whole number.
  func claims(in description: JSONObject) throws(EnrollError) -> JSONObject {
    let json = JSON.object(description)
    guard let sub = subject.compactMap({ Self.text(at: $0, in: json) }).first else {
      throw EnrollError(
        .responseInvalid,
        "the profile has neither text nor a whole number at \(Scopes.joined(subject)) (profile.subject)",
        field: "profile.subject")
    }
    var claims = description
    claims["sub"] = .string(sub)
    for (claim, paths) in [("name", name), ("email", email), ("picture", picture)] {
      claims[claim] = paths.compactMap { Self.text(at: $0, in: json) }.first.map { .string($0) }
    }
    claims["email_verified"] = emailVerified.compactMap { Self.value(at: $0, in: json)?.bool }.first.map {
      .bool($0)
    }
    return claims
  }

  /// The claims about the user's primary address, or else about the first verified address.
  /// - Throws: `.responseInvalid` for anything but a list of objects.
  package static func emailClaims(in response: HTTPResponse) throws(EnrollError) -> JSONObject {
    guard response.status == 200, let entries = (try? JSON.parse(response.body))?.array else {
      throw EnrollError(
        .responseInvalid, "expected a list of e-mail addresses, got status \(response.status)",
        field: "profile.emailsEndpoint", httpStatus: response.status)
    }
    func isSet(_ name: String, _ entry: JSON) -> Bool { entry[name]?.bool ?? false }
    let entry =
      entries.first { isSet("primary", $0) && $0["email"]?.string != nil }
      ?? entries.first { isSet("verified", $0) && $0["email"]?.string != nil }
    guard let entry, let email = entry["email"] else { return JSONObject() }
    return JSONObject([("email", email), ("email_verified", .bool(isSet("verified", entry)))])
  }

  /// The fault of a path; nil if it is valid.
  static func problem(in path: String) -> String? {
    let segments = segments(of: path)
    guard (1...8).contains(segments.count), segments.allSatisfy({ (1...64).contains($0.utf8.count) }) else {
      return "expected a path of 1 to 8 names with dots between them, such as data.id"
    }
    return nil
  }

  /// The text or the number at a path, as text. nil for an empty text, and for a number that is not whole or does not
  /// fit into 64 bits, because its text would not be exact.
  private static func text(at path: String, in json: JSON) -> String? {
    switch value(at: path, in: json) {
    case .string(let text): text.utf8.isEmpty ? nil : text
    case .integer(let number): String(number)
    default: nil
    }
  }

  private static func value(at path: String, in json: JSON) -> JSON? {
    var value: JSON? = json
    for segment in segments(of: path) {
      if let elements = value?.array {
        let place = DecimalText.parse(segment).map { Int($0) }
        value = place.flatMap { elements.indices.contains($0) ? elements[$0] : nil }
      } else {
        value = value?[segment]
      }
    }
    return value
  }

  private static func segments(of path: String) -> [String] {
    path.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map {
      String(decoding: $0, as: UTF8.self)
    }
  }
}
