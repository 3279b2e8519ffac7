// Paths in the configuration that do not begin with a slash are meant from the configuration's folder: neither systemd nor a person's shell
// changes what they name.

import EnrollCore
import EnrollJSON

struct ConfiguredFiles {
  /// With a slash at its end, or empty.
  private let folder: String

  /// - Parameter path: the configuration file's.
  init(besides path: String) {
    folder = path.utf8.lastIndex(of: 0x2F).map { String(path[...$0]) } ?? "./"
  }

  /// The configuration with every path resolved that names a file.
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
    return .object(top)
  }

  /// A part of the configuration, whose files have these names.
  private func resolved(part: JSON) -> JSON {
    guard var object = part.object else { return part }
    for name in ["clientSecretFile", "caFile"] { object[name] = object[name].map { resolved(file: $0) } }
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
    // Such as :memory:, which the store refuses.
    guard let first = path.utf8.first, first != 0x2F, first != 0x3A else { return json }
    return .string(scheme + folder + path)
  }
}
