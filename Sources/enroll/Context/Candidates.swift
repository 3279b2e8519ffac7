// The names for a shell to complete: profiles and accounts on this machine. Listing these names never asks the user
// anything, and never fails.
//
// A shell may expand the words that it gets, and may then execute the result. So the shell gets only plain names, with
// letters, digits, and characters that have no meaning in any shell. The user can type other names in quotes.

import EnrollSteps
import CPosix
import EnrollPosix
import EnrollStore

enum Candidates {
  static var profiles: [String] { allProfiles.filter { isPlain($0) } }

  /// - Parameter words: the command line so far, which may name the store.
  static func accounts(_ words: [String]) -> [String] {
    var named = Environment.process["ENROLL_STORE"]
    for (word, next) in zip(words, words.dropFirst() + [""]) {
      if word == "--store" { named = next }
      if word.hasPrefix("--store=") { named = String(word.dropFirst(8)) }
    }
    return allAccounts(of: named.flatMap { try? Context.absolute($0) }).filter { isPlain($0) }
  }

  private static func isPlain(_ name: String) -> Bool {
    let signs = "-_.@+%,"
    return name.unicodeScalars.allSatisfy {
      $0.properties.isAlphabetic || $0.properties.generalCategory == .decimalNumber
        || signs.unicodeScalars.contains($0)
    }
  }

  static var allProfiles: [String] {
    guard let path = try? UserDirectories.configurations(), let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = String(cString: enroll_posix_entry_name(entry))
      if name.hasSuffix(".json"), !name.hasPrefix(".") { names.append(String(name.dropLast(5))) }
    }
    return names.sorted()
  }

  /// - Parameter store: the path of the store; nil for the default store.
  static func allAccounts(of store: String?) -> [String] {
    guard let path = store ?? (try? UserDirectories.storeInMadeFolders()) else { return [] }
    return (try? FileTokenStore.accountNames(path: path, keys: .automatic)) ?? []
  }
}
