// Requests and answers as values, so that the provider can be used and tested without a socket.

import EnrollJSON
import Foundation

/// A received request.
public struct SandboxRequest: Sendable {
  public var method: String
  /// The path of the URL, without the query.
  public var path: String
  /// The query, still percent-encoded, without the question mark.
  public var query: String
  /// The headers, with their names in lower case.
  public var headers: [String: String]
  public var body: [UInt8]

  public init(
    method: String, path: String, query: String = "", headers: [String: String] = [:], body: [UInt8] = []
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.headers = headers
    self.body = body
  }

  /// The form in the body; nil for another content type, or if it cannot be parsed.
  var form: Form? {
    let type = headers["content-type"]?.split(separator: ";").first?.trimmingCharacters(in: .whitespaces)
    guard type?.lowercased() == "application/x-www-form-urlencoded" else { return nil }
    guard let text = String(validating: body, as: UTF8.self) else { return nil }
    return Form(encoded: text)
  }

  /// The JSON in the body; nil for another content type, or if it cannot be parsed.
  var json: JSON? {
    let type = headers["content-type"]?.split(separator: ";").first?.trimmingCharacters(in: .whitespaces)
    return type?.lowercased() == "application/json" ? try? JSON.parse(body) : nil
  }

  /// The token of `Authorization: Bearer` (RFC 6750 §2.1).
  var bearer: String? { credentials.flatMap { $0.scheme == "bearer" ? $0.token : nil } }

  /// The scheme, in lower case, and the token of `Authorization` (RFC 6750 §2.1, RFC 9449 §7.1).
  var credentials: (scheme: String, token: String)? {
    guard let header = headers["authorization"] else { return nil }
    let parts = header.split(separator: " ", maxSplits: 1)
    guard parts.count == 2 else { return nil }
    return (parts[0].lowercased(), String(parts[1]))
  }

  func cookie(_ name: String) -> String? {
    for part in (headers["cookie"] ?? "").split(separator: ";") {
      let sides = part.split(separator: "=", maxSplits: 1)
      if sides.count == 2, sides[0].trimmingCharacters(in: .whitespaces) == name { return String(sides[1]) }
    }
    return nil
  }

  /// Whether `Host` names this machine. A page of another site that uses DNS rebinding sends its own host name there.
  var isForLoopback: Bool {
    guard let host = headers["host"]?.lowercased() else { return false }
    let name = host.hasPrefix("[") ? host.prefix { $0 != "]" } + "]" : host.prefix { $0 != ":" }
    return ["127.0.0.1", "localhost", "[::1]"].contains(String(name))
  }
}

/// An answer, and how it is sent.
public struct SandboxAnswer: Sendable {
  public var status: Int
  public var headers: [(name: String, value: String)]
  public var body: [UInt8]
  public var delivery: Delivery = .whole
  /// How long to wait before the first byte.
  public var delayMilliseconds: Int64 = 0

  public enum Delivery: Equatable, Sendable {
    case whole
    /// The connection is closed without sending a byte.
    case nothing
    /// All headers with the whole length, then half of the body, then the connection is closed.
    case half
  }

  init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  static func json(_ value: JSON, status: Int = 200) -> SandboxAnswer {
    SandboxAnswer(
      status: status,
      headers: [
        ("Content-Type", "application/json"), ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
      ], body: value.serialized())
  }

  /// Lets clients cache this answer for five minutes, and changes it to a 304 for a client that has this version
  /// already (RFC 9111).
  mutating func allowCaching(asked request: SandboxRequest) {
    // The tag is computed with FNV-1a. It only has to differ for different bodies, and is not for security.
    let hash = body.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    let tag = "\"" + String(hash, radix: 16) + "\""
    setHeader("Cache-Control", "public, max-age=300")
    setHeader("ETag", tag)
    if status == 200, request.headers["if-none-match"] == tag { (status, body) = (304, []) }
  }

  /// A redirect with status 303, so that a form's POST becomes a GET (RFC 9700 §4.12).
  static func redirect(to location: String) -> SandboxAnswer {
    SandboxAnswer(
      status: 303,
      headers: [
        ("Location", location), ("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer"),
      ])
  }

  public func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  mutating func setHeader(_ name: String, _ value: String) {
    headers.removeAll { $0.name.lowercased() == name.lowercased() }
    headers.append((name, value))
  }
}
