// The names under which other programs start this one. They choose the name, and add their own words, so the name says which
// command is meant.

import EnrollPosix

enum ProgramName {
  private static let bearer = "enroll-bearer"

  /// The words of the command line, with the command that the program's name means.
  /// - Parameter given: the arguments of this process.
  static func words(_ given: [String]) -> [String] {
    if let words = CargoRequest.words(given) { return words }
    let name = ProcessArguments.pointers()?.first.map { String(cString: $0) } ?? ""
    return words(given, of: name.split(separator: "/").last.map { String($0) } ?? "")
  }

  static func words(_ given: [String], of name: String) -> [String] {
    if name == bearer { return ["token", "--format", TokenFormat.bearer.rawValue] + given }
    guard let format = CredentialFormat.all.first(where: { $0.alias == name }) else { return given }
    return ["credential", format.name] + given
  }
}
