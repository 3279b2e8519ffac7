// The host names of this machine that need no network (RFC 8252 §8.3).

enum ThisMachine {
  private static let names = ["127.0.0.1", "localhost", "[::1]"]

  /// - Parameter host: the name of a host, with or without a port.
  static func isMeant(by host: String) -> Bool {
    names.contains { host == $0 || host.hasPrefix($0 + ":") }
  }
}
