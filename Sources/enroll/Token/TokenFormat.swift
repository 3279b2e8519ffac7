// The output of `enroll token`: only the token, or the document for kubectl.

import CPosix
import EnrollJSON

enum TokenFormat: String, CaseIterable {
  case text, kubernetes

  /// - Parameter expiresAt: seconds since 1970.
  func words(_ token: String, expiresAt: Int64?, _ environment: Environment = .process) -> String {
    switch self {
    case .text: token
    case .kubernetes: Self.execCredential(token, expiresAt: expiresAt, environment).text
    }
  }

  private static let group = "client.authentication.k8s.io/"

  /// An ExecCredential, in the version that kubectl names in KUBERNETES_EXEC_INFO.
  private static func execCredential(_ token: String, expiresAt: Int64?, _ environment: Environment) -> JSON {
    let asked = environment["KUBERNETES_EXEC_INFO"].flatMap { try? JSON.parse(Array($0.utf8)) }
    let version = asked?["apiVersion"]?.string
    return .object([
      ("apiVersion", .string(version.flatMap { $0.hasPrefix(group) ? $0 : nil } ?? group + "v1")),
      ("kind", .string("ExecCredential")),
      (
        "status",
        .object([
          ("token", .string(token)), ("expirationTimestamp", expiresAt.map { .string(date($0)) }),
        ])
      ),
    ])
  }

  /// RFC 3339 §5.6, in UTC.
  static func date(_ seconds: Int64) -> String {
    var time = time_t(seconds)
    var parts = tm()
    gmtime_r(&time, &parts)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
      + "T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
  }
}
