// The environment variables that the program reads. Tests use other variables instead.

import CPosix

struct Environment: Sendable {
  private let value: @Sendable (String) -> String?

  /// The process's own variables. An empty variable counts as not set.
  static let process = Environment { name in getenv(name).map { String(cString: $0) } }

  init(_ value: @escaping @Sendable (String) -> String?) { self.value = value }

  init(_ values: [String: String]) { self.init { values[$0] } }

  subscript(name: String) -> String? {
    guard let text = value(name), !text.isEmpty else { return nil }
    return text
  }
}
