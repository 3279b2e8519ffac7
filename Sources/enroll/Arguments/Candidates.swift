// What a shell may complete: names of profiles and of accounts, as they are on this machine. Nothing is asked, nothing fails.

import CPosix
import EnrollCommands
import EnrollHost
import EnrollJSON

enum Candidates {
  @Sendable static func profiles(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
    guard let path = try? UserDirectories.configurations(), let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = String(cString: enroll_posix_entry_name(entry))
      if name.hasSuffix(".json"), !name.hasPrefix(".") { names.append(String(name.dropLast(5))) }
    }
    return names.sorted()
  }

  @Sendable static func accounts(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
    let environment = Environment.process
    let named = words.firstIndex(of: "--store").flatMap { at in
      words.indices.contains(at + 1) ? words[at + 1] : nil
    }
    let store = (named ?? environment["ENROLL_STORE"]).map { Place.absolute($0) }
    let found = try? Session(.user).call(
      "accounts.list", .object([("store", store.map { .string($0) })]))
    return found?["accounts"]?.array?.compactMap { $0.string } ?? []
  }
}
