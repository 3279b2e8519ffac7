// The path of a file that the profile names. Later processes read the file again, with other descriptors and other
// current directories.

import EnrollArguments
import EnrollRules

enum LastingFile {
  /// The absolute path of a file that an option names.
  /// - Throws: for an empty path, and for a descriptor of this process, such as `/dev/fd/3`.
  static func path(_ typed: String, of option: String) throws(UsageError) -> String {
    guard !typed.isEmpty else { throw UsageError("\(option) has no value; expected the path of a file.") }
    let path: String
    do throws(EnrollError) { path = try Context.absolute(typed) } catch {
      throw UsageError("\(option): \(error.message).")
    }
    guard !isOfThisProcess(path) else {
      throw UsageError(
        "\(option) \(Shown.text(typed)): it must be a file that stays there; a later process reads it again. Write the content to a file, and name that."
      )
    }
    return path
  }

  /// Whether the path leads to a device or a descriptor, whose content differs from process to process.
  static func isOfThisProcess(_ path: String) -> Bool {
    let first = path.split(separator: "/").first { $0 != "." }
    return first == "dev" || first == "proc"
  }
}
