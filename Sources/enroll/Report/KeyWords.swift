// Key providers, by the names that people know them by.

import EnrollJSON

enum KeyWords {
  static func words(_ provider: String) -> String {
    switch provider {
    case "file": "a key file in the store"
    case "secret-service": "the desktop's keyring"
    case "passphrase": "a passphrase"
    default: Shown.text(provider)
    }
  }

  static func list(_ providers: [JSON]) -> String {
    let names = providers.compactMap { $0.string }.map { words($0) }
    return names.isEmpty ? "none yet" : "in " + names.joined(separator: ", ")
  }
}
