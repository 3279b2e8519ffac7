// The last sign-in that failed, for the doctor: a first one that fails leaves no profile to look at. One small file in the
// user's state directory, for the user alone; what it says is in no error text a secret (R40).

import CPosix
import EnrollCore
import EnrollHost
import EnrollJSON
import EnrollPosix

struct LastAttempt: Equatable {
  /// Seconds since 1970.
  var at: Int64
  /// Where the profile is, or would have been saved.
  var configurationPath: String
  /// The configuration of a first sign-in, which was not saved; nil where there is a profile.
  var configuration: JSON?
  /// The options that named the provider.
  var options: [String]
  var message: String

  private static let name = "last-attempt.json"

  /// nil if there is none for that profile, or if it cannot be read.
  init?(about configurationPath: String) {
    guard let path = Self.path,
      let json = try? UserDirectories.readConfiguration(at: path, called: path),
      let at = json["at"]?.integer, let message = json["message"]?.string,
      json["configurationPath"]?.string == configurationPath
    else { return nil }
    self.init(
      at: at, configurationPath: configurationPath, configuration: json["configuration"],
      options: json["options"]?.array?.compactMap { $0.string } ?? [], message: message)
  }

  init(
    at: Int64, configurationPath: String, configuration: JSON?, options: [String] = [], message: String
  ) {
    self.at = at
    self.configurationPath = configurationPath
    self.configuration = configuration
    self.options = options
    self.message = message
  }

  /// A failed write is ignored: the sign-in has failed already, and says why.
  func save() {
    guard let path = Self.path else { return }
    var configuration = configuration
    if var members = configuration?.object {
      members["clientSecret"] = nil
      configuration = .object(members)
    }
    let text = JSON.object([
      ("at", .integer(at)), ("configurationPath", .string(configurationPath)),
      ("configuration", configuration),
      ("options", options.isEmpty ? nil : .array(options.map { .string($0) })),
      ("message", .string(message)),
    ]).text
    do throws(Failure) {
      try Folders.make(Folders.parent(of: path))
      try Folders.write(text + "\n", to: path)
    } catch {}
  }

  /// After a sign-in that did not fail.
  static func forget(about configurationPath: String) {
    guard LastAttempt(about: configurationPath) != nil, let path else { return }
    unlink(path)
  }

  private static var path: String? { (try? UserDirectories.state()).map { "\($0)/\(name)" } }
}
