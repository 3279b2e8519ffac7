// The last failed sign-in, for `enroll doctor`: after a first sign-in that fails there is no profile to examine. It
// is one small file in the user's state directory, which only the user can read. It contains no secret, and neither
// does its error text (R40).

import CPosix
import EnrollHost
import EnrollJSON
import EnrollPosix

struct LastAttempt: Equatable {
  /// Seconds since 1970.
  var at: Int64
  /// The path of the profile, even if the profile was not saved.
  var configurationPath: String
  /// The configuration of a first sign-in, which was not saved; nil if there is a profile.
  var configuration: ConfigurationDocument?
  /// The options that name the provider.
  var options: [String]
  var message: String

  private static let name = "last-attempt.json"

  /// Reads the record. nil if no attempt is recorded for the configuration file at `configurationPath`, or if the
  /// record cannot be read.
  init?(about configurationPath: String) {
    guard let path = Self.path,
      let json = try? UserDirectories.readConfiguration(at: path, called: path),
      let at = json["at"]?.integer, let message = json["message"]?.string,
      json["configurationPath"]?.string == configurationPath
    else { return nil }
    self.init(
      at: at, configurationPath: configurationPath,
      configuration: json["configuration"].map { ConfigurationDocument($0) },
      options: json["options"]?.array?.compactMap { $0.string } ?? [], message: message)
  }

  init(
    at: Int64, configurationPath: String, configuration: ConfigurationDocument?, options: [String] = [],
    message: String
  ) {
    self.at = at
    self.configurationPath = configurationPath
    self.configuration = configuration
    self.options = options
    self.message = message
  }

  /// A failed write is ignored, because the failed sign-in has reported its own error.
  func save() {
    guard let path = Self.path else { return }
    let text = JSON.object([
      ("at", .integer(at)), ("configurationPath", .string(configurationPath)),
      ("configuration", configuration?.withoutSecret.json),
      ("options", options.isEmpty ? nil : .array(options.map { .string($0) })),
      ("message", .string(message)),
    ]).text
    do throws(Failure) {
      try Folders.make(Folders.parent(of: path))
      try Folders.write(text + "\n", to: path)
    } catch {}
  }

  /// Deletes the record after a sign-in that succeeded.
  static func forget(about configurationPath: String) {
    guard LastAttempt(about: configurationPath) != nil, let path else { return }
    unlink(path)
  }

  private static var path: String? { (try? UserDirectories.state()).map { "\($0)/\(name)" } }
}
