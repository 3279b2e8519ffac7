// The connection string of PostgreSQL (libpq, "Connection Strings"): keywords or a URI, with one or several hosts.
// Settings that the string does not have get defaults, so that a dead server is noticed within five seconds, and the
// server that accepts writes is used. No error contains its password.

import CPostgreSQL
import EnrollGateway

struct ConnectionString: Sendable {
  /// Keywords with their values, in the form that libpq expects.
  let parameters: [(keyword: String, value: String)]
  private let secrets: [String]

  /// Defaults for settings that the text does not have. The kernel closes a connection if sent data are not
  /// acknowledged for four seconds (tcp_user_timeout), or if keepalives get no answer for as long.
  private static let defaults = [
    ("target_session_attrs", "read-write"), ("connect_timeout", "3"), ("tcp_user_timeout", "4000"),
    ("keepalives", "1"), ("keepalives_idle", "1"), ("keepalives_interval", "1"), ("keepalives_count", "3"),
    ("fallback_application_name", "enroll-gateway"),
  ]

  /// Parses a connection string.
  /// - Throws: `.fault` for a text that libpq cannot parse, or a URI whose password seems to contain an unescaped `@` or `/`.
  init(_ text: String, by functions: PostgreSQLLibrary.Functions) throws(StoreFailure) {
    var error: UnsafeMutablePointer<CChar>?
    guard !text.utf8.contains(0), let options = functions.pointee.PQconninfoParse(text, &error) else {
      // The message of libpq would quote the text, and with it the password.
      if let error { functions.pointee.PQfreemem(error) }
      throw Self.unreadable("libpq cannot read it")
    }
    defer { functions.pointee.PQconninfoFree(options) }
    var given: [String: String] = [:]
    var parameters: [(keyword: String, value: String)] = []
    var option = options
    while let keyword = option.pointee.keyword {
      if let value = option.pointee.value {
        given[String(cString: keyword)] = String(cString: value)
        parameters.append((String(cString: keyword), String(cString: value)))
      }
      option += 1
    }
    let isURI = text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
    if isURI, ["host", "port", "dbname"].contains(where: { given[$0]?.contains("@") == true }) {
      throw Self.unreadable("a part behind the password contains an @")
    }
    if let port = given["port"], !port.utf8.allSatisfy({ $0 == UInt8(ascii: ",") || (48...57).contains($0) })
    {
      throw Self.unreadable("the port is no number")
    }
    for (keyword, value) in Self.defaults where given[keyword] == nil { parameters.append((keyword, value)) }
    parameters.removeAll { $0.keyword == "client_encoding" }
    parameters.append(("client_encoding", "UTF8"))
    self.parameters = parameters
    secrets = ["password", "sslpassword"].compactMap { given[$0] }.filter { !$0.isEmpty }
  }

  /// A message of libpq on one line, without the password.
  func redacted(_ message: String) -> String {
    var line = message.split(whereSeparator: \.isNewline).joined(separator: "; ")
    for secret in secrets { line = line.replacing(secret, with: "…") }
    return line
  }

  private static func unreadable(_ why: String) -> StoreFailure {
    .fault(
      "The connection string of PostgreSQL is not understood: \(why). The store expects keywords "
        + "(host=db user=gateway dbname=gateway) or a URI (postgresql://gateway@db/gateway). In a URI write @ and / of "
        + "a password as %40 and %2F.")
  }
}
