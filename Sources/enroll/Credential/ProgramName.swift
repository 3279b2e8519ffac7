// The names under which other programs start this program. Those programs require the name and add their own
// arguments, so the name selects the command.

import EnrollPosix

enum ProgramName {
  private static let bearer = "enroll-bearer"
  /// Whether another program started `enroll` through a link whose name belongs to a credential format. Written once,
  /// before the first thread.
  nonisolated(unsafe) private(set) static var isLink = false

  /// The words of the command line. If a link started the program, they begin with the command that the link's name
  /// selects.
  /// - Parameter given: the arguments of this process.
  static func words(_ given: [String]) -> [String] {
    let path = ProcessArguments.pointers()?.first.map { String(cString: $0) } ?? ""
    let name = path.split(separator: "/").last.map { String($0) } ?? ""
    isLink = CredentialFormat.all.contains { $0.alias == name }
    return CargoRequest.words(given) ?? words(given, of: name)
  }

  static func words(_ given: [String], of name: String) -> [String] {
    if name == bearer { return ["token", "--format", TokenFormat.bearer.rawValue] + given }
    guard let format = CredentialFormat.all.first(where: { $0.alias == name }) else { return given }
    return ["credential", format.name] + given
  }
}
