// Tests that each file of the gateway uses only types of its own folder and of lower folders.

import Expectations
import Foundation
import Testing

@Suite("the folders of the gateway")
struct FolderTests {
  /// The folders from the lowest to the highest: first the values and interfaces of the store, then the parts of the
  /// gateway, then the steps, then the gateway with its routes.
  static let order = [
    "Store", "Audit", "Limits", "Accounts", "Apps", "Passwords", "Directory", "Keys", "SignIn", "Providers",
    "Configuration", "Log", "Metrics", "Mail", "Registration", "Sessions", "Web", "Steps", "Gateway",
  ]

  /// The modules below the gateway, whose types every file of the gateway may use.
  private static let below = [
    "EnrollCrypto", "EnrollJSON", "EnrollRules", "EnrollSteps", "EnrollHTTP", "EnrollGatewayPages",
  ]

  private static func isType(_ name: String) -> Bool { name.first?.isUppercase ?? false }

  private static func files(of module: String) throws -> [(
    path: String, folder: String, names: DeclaredNames
  )] {
    let top = Repository.top.appendingPathComponent("Sources/\(module)")
    let paths = try FileManager.default.subpathsOfDirectory(atPath: top.path)
    return try paths.filter { $0.hasSuffix(".swift") }.map { path in
      let text = try String(contentsOf: top.appendingPathComponent(path), encoding: .utf8)
      return (path, String(path.prefix { $0 != "/" }), DeclaredNames(text))
    }
  }

  @Test("no file uses a type of a higher folder")
  func layers() throws {
    let files = try Self.files(of: "EnrollGateway")
    expect(Set(files.map(\.folder)), is: Set(Self.order))
    let below = Set(try Self.below.flatMap { try Self.files(of: $0) }.flatMap(\.names.declared))
    var owners: [String: Set<String>] = [:]
    for file in files {
      for name in file.names.declared.subtracting(below) where Self.isType(name) {
        owners[name, default: []].insert(file.folder)
      }
    }
    #expect(owners.count > 100)
    for file in files {
      let own = try #require(Self.order.firstIndex(of: file.folder))
      let reachable = Set(Self.order[...own])
      for name in file.names.used {
        guard let owner = owners[name] else { continue }
        #expect(!owner.isDisjoint(with: reachable), "\(file.path) uses \(name) of \(owner.sorted())")
      }
    }
  }
}
