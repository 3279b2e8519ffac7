// The types for an issuer and for a client id.

/// A provider's issuer: the URL with which it identifies itself (RFC 8414 §2), including a slash at its end. An issuer
/// with the segment `{tenantid}` in its path is a template: it identifies the provider for all its tenants, and each
/// tenant's tokens name the tenant's own issuer.
public struct Issuer: ExactText {
  public let text: String

  public init(_ text: String) { self.text = text }

  /// The path of a discovery document below its issuer (OpenID Connect Discovery §4.1).
  static let discoveryPath = "/.well-known/openid-configuration"

  /// The URL of `path`, which begins with a slash, below the issuer; a slash at the issuer's end is not doubled.
  func url(ofPath path: String) -> String {
    (text.utf8.last == UInt8(ascii: "/") ? String(decoding: text.utf8.dropLast(), as: UTF8.self) : text)
      + path
  }

  /// The URL of a well-known path, which is inserted after the issuer's host and before the issuer's path; a slash at
  /// the end of the issuer's path is removed (RFC 8414 §3.1).
  func url(ofWellKnownPath path: String) -> String {
    let slash = UInt8(ascii: "/")
    var rest = url(ofPath: "").utf8[...]
    var slashes = 0
    while let next = rest.first, slashes < 3 {
      if next == slash { slashes += 1 }
      if slashes < 3 { rest.removeFirst() }
    }
    let origin = url(ofPath: "").utf8.dropLast(rest.count)
    return String(decoding: origin, as: UTF8.self) + path + String(decoding: rest, as: UTF8.self)
  }
}

// MARK: Templates

extension Issuer {
  private static var placeholder: StaticString { "{tenantid}" }

  /// The text before and after the placeholder; nil if this is not a template.
  private var template: (before: Substring.UTF8View, after: Substring.UTF8View)? {
    guard isTemplate else { return nil }
    let all = Substring(text).utf8
    let placeholder = "\(Self.placeholder)".utf8
    guard let start = all.indices.first(where: { all[$0...].starts(with: placeholder) }) else { return nil }
    return (all[..<start], all[start...].dropFirst(placeholder.count))
  }

  /// Whether this is a template for the issuers of all tenants.
  public var isTemplate: Bool { ASCII.contains(text.utf8.span, Self.placeholder) }

  /// The fault of the template; nil for a valid template, and for an issuer that is not a template. The placeholder
  /// must occur exactly once, as one whole segment of the path.
  var templateProblem: String? {
    guard let (before, after) = template else { return nil }
    let slash = UInt8(ascii: "/")
    guard before.last == slash, before.count(where: { $0 == slash }) >= 3,
      after.isEmpty || after.first == slash,
      !Issuer(String(decoding: after, as: UTF8.self)).isTemplate
    else { return "{tenantid} must be one whole segment of its path, once" }
    return nil
  }

  /// The issuer of one tenant; the issuer itself if it is not a template.
  func of(tenant: String) -> Issuer {
    guard let (before, after) = template else { return self }
    return Issuer(
      String(decoding: before, as: UTF8.self) + tenant + String(decoding: after, as: UTF8.self))
  }

  /// Whether `other` is the issuer of a tenant of this template.
  func isIssuer(ofTenant other: Issuer) -> Bool { tenant(of: other) != nil }

  /// Whether the tenant of `other` is one of `tenants`, or any tenant if `tenants` is empty. True if this
  /// issuer is not a template.
  package func admits(_ other: Issuer, _ tenants: [String]) -> Bool {
    guard let tenant = tenant(of: other) else { return !isTemplate }
    return tenants.isEmpty || Scopes.contains(ASCII.lowercased(tenant), in: tenants)
  }

  /// The reason why a token with this `iss` and this `tid` is not from this provider (R24); nil if it is from this
  /// provider. For a template, `iss` must be the issuer of the token's own tenant.
  /// - Parameters:
  ///   - tenant: `tid`; nil if the token has none.
  ///   - tenants: the tenants that are allowed; empty for all.
  package func finding(_ issuer: Issuer, tenant: String?, allowing tenants: [String]) -> String? {
    var expected = self
    if isTemplate {
      guard let tenant, Self.isTenant(tenant) else {
        return "tid is not a tenant's GUID, and the issuer \(self) needs one"
      }
      expected = of(tenant: tenant)
      guard tenants.isEmpty || Scopes.contains(ASCII.lowercased(tenant), in: tenants) else {
        return "tid is the tenant \(tenant), which is not in tenants"
      }
    }
    if issuer == expected || issuer == expected.otherSpelling { return nil }
    return "iss is \(PrintableText.bounded(issuer.text, maximumBytes: 256)), not \(expected)"
  }

  /// Whether the tokens of the issuer `other` are this provider's tokens: `other` is this issuer, or the issuer of a
  /// tenant of this template.
  package func covers(_ other: Issuer) -> Bool {
    self == other || otherSpelling == other || tenant(of: other) != nil
  }

  /// Google's second spelling of its issuer: Google may put either spelling into an id_token
  /// (https://developers.google.com/identity/openid-connect/openid-connect#validatinganidtoken). No other issuer has
  /// two spellings.
  private var otherSpelling: Issuer? {
    let spellings: [Issuer] = ["https://accounts.google.com", "accounts.google.com"]
    guard spellings.contains(self) else { return nil }
    return spellings.first { $0 != self }
  }

  /// The tenant whose issuer is `other`, according to this template; nil if no tenant has this issuer.
  private func tenant(of other: Issuer) -> String? {
    guard let (before, after) = template else { return nil }
    let text = Substring(other.text).utf8
    guard text.count == before.count + 36 + after.count, text.starts(with: before),
      text.suffix(after.count).elementsEqual(after)
    else { return nil }
    let tenant = String(decoding: text.dropFirst(before.count).prefix(36), as: UTF8.self)
    return Self.isTenant(tenant) ? tenant : nil
  }

  /// Whether the text is a GUID, as tenants are: 8-4-4-4-12 hexadecimal digits.
  static func isTenant(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count == 36 else { return false }
    return bytes.indices.allSatisfy { index in
      [8, 13, 18, 23].contains(index)
        ? bytes[index] == UInt8(ascii: "-") : PercentEncoding.hexValue(bytes[index]) != nil
    }
  }
}

/// Identifies an app to its provider (RFC 6749 §2.2).
public struct ClientID: ExactText {
  public let text: String

  public init(_ text: String) { self.text = text }

  /// Whether the id is the URL of a client id metadata document, for which no client was registered.
  package var isMetadataDocument: Bool { text.utf8.starts(with: "https://".utf8) }
}
