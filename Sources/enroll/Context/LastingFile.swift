// A file that the profile names. Later processes, which have other descriptors and other current directories, read it
// again.

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

  /// Whether the path leads to devices and descriptors, whose content differs from process to process.
  static func isOfThisProcess(_ path: String) -> Bool {
    let first = path.split(separator: "/").first { $0 != "." }
    return first == "dev" || first == "proc"
  }
}
