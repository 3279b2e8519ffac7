// What `enroll switch` chose: the account, and the profile that it belongs to. One small file in the user's state directory. It
// counts for this program alone, and only where a command names no other place.

import CPosix
import EnrollCore
import EnrollHost
import EnrollJSON
import EnrollPosix

struct CurrentChoice: Equatable {
  var profile: String
  var account: String

  // No profile is called so, whose files end with .json: both may be in one folder.
  private static let name = "current-account"

  /// nil if nothing was chosen, or if the file cannot be read.
  static func saved() -> CurrentChoice? {
    guard let path, access(path, F_OK) == 0,
      let json = try? UserDirectories.readConfiguration(at: path, called: path),
      let profile = json["profile"]?.string, let account = json["account"]?.string, !account.isEmpty
    else { return nil }
    return CurrentChoice(profile: profile, account: account)
  }

  func save() throws(Failure) {
    guard let path = Self.path else {
      throw Failure(.failed, "the choice cannot be saved: neither XDG_STATE_HOME nor HOME is set")
    }
    try Folders.make(Folders.parent(of: path))
    let json = JSON.object([("profile", .string(profile)), ("account", .string(account))])
    try Folders.write(json.text + "\n", to: path)
  }

  /// - Returns: whether there was one.
  @discardableResult
  static func forget() -> Bool { path.map { unlink($0) == 0 } ?? false }

  private static var path: String? { (try? UserDirectories.state()).map { "\($0)/\(name)" } }
}
