// The metadata of a protected resource (RFC 9728 §2): the authorization servers that issue tokens for it. Servers
// without https are refused (R19), and so are resources that accept tokens only in ways that EnrollKit does not
// support (R31).

package import EnrollJSON

/// The claims of a resource about itself. Nothing proves them.
package struct ProtectedResourceMetadata: Equatable, Sendable {
  /// The last part of the metadata's path below `/.well-known/` (RFC 9728 §3).
  package static let wellKnownName = "oauth-protected-resource"
  /// The maximum number of bytes of the document; the largest real documents have a few thousand bytes.
  package static let bodyLimit = 256 << 10
  static let maximumServers = 16

  /// `resource`: the resource that the metadata describe.
  package var resource: String
  /// `authorization_servers`: the issuers of the resource's servers, at least one issuer.
  package var servers: [Issuer]
  /// `scopes_supported`; nil if it is missing.
  package var scopes: [String]?
  /// `resource_name`, printable and short: a name for people, which nothing proves.
  package var name: String?
  /// `dpop_bound_access_tokens_required`: whether every access token must be bound to a key (RFC 9728 §2).
  package var requiresDPoP: Bool

  /// - Parameters:
  ///   - document: the document with the metadata.
  ///   - resource: the resource that the document names.
  /// - Throws: `.responseInvalid`, `.unsupported`.
  package init(_ document: ResourceDocument, resource: String, allowsLoopbackHTTP: Bool) throws(EnrollError) {
    self.resource = resource
    let texts = try document.texts("authorization_servers") ?? []
    guard !texts.isEmpty else {
      throw EnrollError(
        .unsupported, "the resource names no authorization server: name the issuer and a client id",
        field: "authorization_servers")
    }
    guard texts.count <= Self.maximumServers else {
      throw document.wrong(
        "authorization_servers", "expected at most \(Self.maximumServers), got \(texts.count)")
    }
    servers = []
    for text in texts {
      if let fault = ConfiguredURL.issuer(text, allowsLoopbackHTTP: allowsLoopbackHTTP) {
        throw document.wrong(
          "authorization_servers", "\(Shown.url(text)) cannot be used: issuer: \(fault.text(.documented))")
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
package struct ResourceDocument {
  private let object: JSONObject
  private let place: String

  /// - Parameter place: the document's name in errors.
  /// - Throws: `.responseInvalid` for a body that is not a JSON object.
  package init(_ body: [UInt8], _ place: String) throws(EnrollError) {
    self.place = place
    do throws(JSONError) {
      let json = try JSON.parse(body)
      guard let object = json.object else { throw JSONError("expected an object, got \(json.kind)") }
      self.object = object.withoutNulls
    } catch {
      throw EnrollError(.responseInvalid, "\(place): it must be a JSON object: ", error)
    }
  }

  package subscript(name: String) -> JSON? { object[name] }

  /// The texts in a list; nil if the member is absent.
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

  /// The value of a member that is true or false; false if the member is absent.
  func flag(_ name: String) throws(EnrollError) -> Bool {
    guard let json = object[name] else { return false }
    guard let flag = json.bool else { throw wrong(name, "expected true or false") }
    return flag
  }

  package func wrong(_ name: String, _ text: String) -> EnrollError {
    EnrollError(.responseInvalid, "\(place), \(name): \(text)", field: name)
  }
}

/// Texts from other parties, for use in an error message.
package enum Shown {
  package static func url(_ text: String) -> String { PrintableText.bounded(text, maximumBytes: 200) }
}
