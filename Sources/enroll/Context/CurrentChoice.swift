// The choice of `enroll switch`: an account and its profile. The choice is stored in a small file in the user's state
// directory. Only this program uses the choice, and only if a command names no other profile, account, configuration or
// store.

import CPosix
import EnrollHost
import EnrollJSON
import EnrollPosix

struct CurrentChoice: Equatable {
  var profile: String
  var account: String

  // The file may be in the same directory as the profiles. No profile has this name, because their names end with
  // .json.
  private static let name = "current-account"

  /// The choice in the file; nil if the user has made no choice.
  /// - Throws: `.usage` if the file cannot be read. If this were no error, the command would use an account that the
  ///   user did not choose.
  static func saved() throws(Failure) -> CurrentChoice? {
    guard let path, access(path, F_OK) == 0 else { return nil }
    guard let json = try? UserDirectories.readConfiguration(at: path, called: path),
      let profile = json["profile"]?.string, let account = json["account"]?.string, !account.isEmpty
    else {
      throw Failure(
        .usage, "the account that was chosen by enroll switch is unknown: the file \(path) is damaged",
        advice: "Choose the account again by enroll switch, or remove the file for the account default.")
    }
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

  /// Deletes the choice.
  /// - Returns: whether there was a choice.
  @discardableResult
  static func forget() -> Bool { path.map { unlink($0) == 0 } ?? false }

  private static var path: String? { (try? UserDirectories.state()).map { "\($0)/\(name)" } }
}
