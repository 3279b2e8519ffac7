// The files that a configuration names. A profile is read by processes with different current directories, so its
// relative paths start at a fixed folder.

package import EnrollJSON

extension Configuration {
  /// The configuration with absolute paths of files, such as `caFile`. Absolute and empty paths do not change.
  /// - Parameter absolute: returns the absolute path for a relative path.
  /// - Throws: the errors of `absolute`.
  package static func resolvingFiles(
    of configuration: JSON, by absolute: (String) throws(EnrollError) -> String
  ) throws(EnrollError) -> JSON {
    guard var members = configuration.object else { return configuration }
    for key in keys where key.isFile {
      for name in [key.name] + key.otherSpellings {
        guard let path = members[name]?.string, let first = path.utf8.first, first != UInt8(ascii: "/") else {
          continue
        }
        members[name] = .string(try absolute(path))
      }
    }
    return .object(members)
  }
}
