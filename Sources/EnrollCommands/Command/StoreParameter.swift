// Which store a command is about: named by the caller, or the program's default.

import EnrollCore
import EnrollJSON

extension Schema {
  static let store = Schema.storeFolder.as(
    "An absolute path of a directory, or memory. The daemon's default: $XDG_DATA_HOME/enrollkit.")
}

extension Invocation {
  var wantsMemoryStore: Bool { text("store").map { ASCII.equals($0, "memory") } ?? false }

  /// - Throws: `.invalidArgument` when none is named and there is no default.
  func storePath() throws(EnrollError) -> String {
    if let path = text("store") { return path }
    return try (session?.environment ?? .none).defaultStore()
  }
}
