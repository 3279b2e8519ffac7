// A protected resource's metadata (RFC 9728 §2, §3): which authorization servers give tokens for it. Refused: metadata of another
// resource (§3.3), a server that is not https (R19), a resource that takes tokens in no way of ours (R31).

import EnrollJSON

/// What a resource says about itself; nothing in it is believed but that the resource says it.
struct ProtectedResourceMetadata: Equatable, Sendable {
  /// The last part of its place, below `/.well-known/` (RFC 9728 §3).
  static let wellKnownName = "oauth-protected-resource"
  /// Bytes of such a document; the largest real ones have a few thousand.
  static let bodyLimit = 256 << 10
  static let maximumServers = 16

  /// `authorization_servers`: issuers, at least one.
  var servers: [Issuer]
  /// `scopes_supported`; nil where it says nothing.
  var scopes: [String]?
  /// `resource_name`, printable and short: for people, and from the resource itself.
  var name: String?
  /// `dpop_bound_access_tokens_required` (RFC 9728 §2).
  var requiresDPoP: Bool

  /// - Parameter location: where it was found, for errors.
  /// - Throws: `.responseInvalid`, `.unsupported`.
  init(
    _ body: [UInt8], of resource: ResourceIdentifier, at location: String, allowsLoopbackHTTP: Bool
  ) throws(EnrollError) {
    let document = try ResourceDocument(body, "the metadata of the resource at \(Shown.url(location))")
    guard let named = document["resource"]?.string else {
      throw document.wrong("resource", "expected a string")
    }
    guard ASCII.equals(named, resource.text) else {
      throw document.wrong(
        "resource",
        "it is about \(Shown.url(named)), and \(Shown.url(resource.text)) was asked for (RFC 9728 §3.3). "
          + "If that is the resource you mean, ask for it")
    }
    let texts = try document.texts("authorization_servers") ?? []
    guard !texts.isEmpty else {
      throw EnrollError(
        .unsupported, "the resource names no authorization server: configure issuer and clientId",
        field: "authorization_servers")
    }
    guard texts.count <= Self.maximumServers else {
      throw document.wrong(
        "authorization_servers", "expected at most \(Self.maximumServers), got \(texts.count)")
    }
    servers = []
    for text in texts {
      do throws(EnrollError) {
        try ConfiguredURL.issuer(text, key: "issuer", allowsLoopbackHTTP: allowsLoopbackHTTP)
      } catch {
        throw document.wrong("authorization_servers", "\(Shown.url(text)) cannot be used: \(error.message)")
      }
      servers.append(Issuer(text))
    }
    if let methods = try document.texts("bearer_methods_supported"), !Scopes.contains("header", in: methods) {
      throw EnrollError(
        .unsupported,
        "the resource takes no token in the header Authorization, and no other way is used",
        field: "bearer_methods_supported")
    }
    scopes = try document.texts("scopes_supported")
    if let scopes, let problem = Scopes.problem(in: scopes) {
      throw document.wrong("scopes_supported", problem)
    }
    name = document["resource_name"]?.string.map { PrintableText.bounded($0, maximumBytes: 128) }
    requiresDPoP = try document.flag("dpop_bound_access_tokens_required")
  }
}

/// A JSON document that a resource or a server published, read member by member.
struct ResourceDocument {
  private let object: JSONObject
  private let place: String

  /// - Parameter place: names the document in errors.
  /// - Throws: `.responseInvalid` for anything but a JSON object.
  init(_ body: [UInt8], _ place: String) throws(EnrollError) {
    self.place = place
    do throws(JSONError) {
      let json = try JSON.parse(body)
      guard let object = json.object else { throw JSONError("expected an object, got \(json.kind)") }
      self.object = object.withoutNulls
    } catch {
      throw EnrollError(.responseInvalid, "\(place): it must be a JSON object: ", error)
    }
  }

  subscript(name: String) -> JSON? { object[name] }

  /// nil when it is absent.
  func texts(_ name: String) throws(EnrollError) -> [String]? {
    guard let json = object[name] else { return nil }
    guard let array = json.array else { throw wrong(name, "expected an array") }
    var texts: [String] = []
    for item in array {
      guard let text = item.string else { throw wrong(name, "expected an array of strings") }
      texts.append(text)
    }
    return texts
  }

  /// False when it is absent.
  func flag(_ name: String) throws(EnrollError) -> Bool {
    guard let json = object[name] else { return false }
    guard let flag = json.bool else { throw wrong(name, "expected true or false") }
    return flag
  }

  func wrong(_ name: String, _ text: String) -> EnrollError {
    EnrollError(.responseInvalid, "\(place), \(name): \(text)", field: name)
  }
}

/// Words of a stranger in an error text.
enum Shown {
  static func url(_ text: String) -> String { PrintableText.bounded(text, maximumBytes: 200) }
}
