// The folders of the gateway, from the lowest to the highest: a file uses only types of its own folder and of lower ones.

import Expectations
import Foundation
import Testing

@Suite("the folders of the gateway")
struct FolderTests {
  /// Values and interfaces of the store first, then the parts of the gateway, then the steps, then the gateway with its routes.
  static let order = [
    "Store", "Audit", "Limits", "Accounts", "Apps", "Passwords", "Directory", "Keys", "SignIn", "Providers",
    "Configuration", "Log", "Metrics", "Mail", "Registration", "Sessions", "Web", "Steps", "Gateway",
  ]

  private static let root = Repository.top.appendingPathComponent("Sources/EnrollGateway")

  /// The files with their folders, without comments and texts.
  private static func files() throws -> [(name: String, folder: String, code: String)] {
    let found = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
    let paths = (found?.compactMap { ($0 as? URL)?.path } ?? []).filter { $0.hasSuffix(".swift") }
    return try paths.map { path in
      let parts = path.dropFirst(root.path.count + 1).split(separator: "/")
      let text = try String(contentsOfFile: path, encoding: .utf8)
      let code = text.replacing(#/"(?:[^"\\\n]|\\.)*"/#, with: "\"\"").replacing(#///.*/#, with: "")
      return (String(parts[parts.count - 1]), String(parts[0]), code)
    }
  }

  @Test("no file uses a type of a higher folder")
  func layers() throws {
    let files = try Self.files()
    expect(Set(files.map(\.folder)), is: Set(Self.order))
    var folders: [Substring: Set<String>] = [:]
    for file in files {
      let declared =
        #/(?m)^(?:public |package |final |indirect )*(?:struct|class|enum|protocol|typealias) ([A-Z]\w*)/#
      for match in file.code.matches(of: declared) { folders[match.1, default: []].insert(file.folder) }
    }
    #expect(folders.count > 100)
    for file in files {
      let own = Self.order.firstIndex(of: file.folder) ?? 0
      for word in Set(file.code.matches(of: #/\b[A-Z]\w*/#).map(\.output)) {
        guard let places = folders[word], places.count == 1, let place = places.first else { continue }
        let used = Self.order.firstIndex(of: place) ?? 0
        #expect(used <= own, "\(file.folder)/\(file.name) uses \(word) of \(place)")
      }
    }
  }
}
