// Resolves relative paths in the configuration against the configuration file's folder, so that they do not depend on
// the current directory of systemd or a shell: `keys`, `database`, `textFiles`, and each key whose name ends
// with `File` in the settings of a provider, of the directory and of the mail.

import EnrollJSON

struct ConfiguredFiles {
  /// The folder with a slash at its end.
  private let folder: String

  /// - Parameter path: the path of the configuration file.
  init(besides path: String) {
    folder = path.utf8.lastIndex(of: 0x2F).map { String(path[...$0]) } ?? "./"
  }

  /// The configuration with these paths resolved.
  func resolved(_ json: JSON) -> JSON {
    guard var top = json.object else { return json }
    top["keys"] = top["keys"].map { resolved(file: $0) }
    top["database"] = top["database"].map { resolved(database: $0) }
    top["textFiles"] = top["textFiles"].map { texts in
      texts.array.map { .array($0.map { resolved(file: $0) }) } ?? texts
    }
    top["providers"] = top["providers"].map { providers in
      guard var object = providers.object else { return providers }
      for member in object.members { object[member.key] = resolved(part: member.value) }
      return .object(object)
    }
    for part in ["directory", "mail"] { top[part] = top[part].map { resolved(part: $0) } }
    return .object(top)
  }

  /// Resolves the paths of one provider, of the directory or of the mail.
  private func resolved(part: JSON) -> JSON {
    guard var object = part.object else { return part }
    for member in object.members where member.key.utf8.reversed().starts(with: "File".utf8.reversed()) {
      object[member.key] = resolved(file: member.value)
    }
    return .object(object)
  }

  private func resolved(file json: JSON) -> JSON {
    guard let path = json.string, !path.utf8.isEmpty, path.utf8.first != 0x2F else { return json }
    return .string(folder + path)
  }

  private func resolved(database json: JSON) -> JSON {
    let scheme = "sqlite:"
    guard let text = json.string, text.utf8.starts(with: scheme.utf8) else { return json }
    let path = String(Substring(text.utf8.dropFirst(scheme.utf8.count)))
    // A path such as `:memory:`, which the store refuses, stays as it is.
    guard let first = path.utf8.first, first != 0x2F, first != 0x3A else { return json }
    return .string(scheme + folder + path)
  }
}
