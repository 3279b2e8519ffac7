// Tests which code the sandbox shares with the library that it tests (docs/architecture.md, The sandbox).

import Expectations
import Foundation
import Testing

@Suite("The sandbox shares no protocol code with the library")
struct SandboxImportTests {
  private static let sources = Repository.top.appendingPathComponent("Sources")

  /// The modules that the sandbox may share with the library: keys and digests, JSON, and the HTTP server.
  private static let shared: Set = ["EnrollCrypto", "EnrollHTTP", "EnrollJSON", "Foundation"]
  /// The only names of EnrollRules that the sandbox may use, by file.
  private static let namesOfRules = ["Server/ProviderServer.swift": Set(["HTTPHeader"])]

  @Test(
    "it imports keys, JSON and the HTTP server; one file imports EnrollRules, for the headers of that server")
  func imports() throws {
    for (path, text) in try Self.files(of: "EnrollSandbox") {
      let imports = text.matches(of: /(?m)^(?:@\w+ )*(?:public )?import (\w+)/).map { String($0.1) }
      let allowed = Self.namesOfRules[path] == nil ? Self.shared : Self.shared.union(["EnrollRules"])
      #expect(allowed.isSuperset(of: imports), "\(path)")
    }
  }

  @Test("no other type of EnrollRules is used there")
  func names() throws {
    let own = try ["EnrollSandbox", "EnrollHTTP"].reduce(into: Set()) { $0.formUnion(try Self.types(of: $1)) }
    let rules = try Self.types(of: "EnrollRules").subtracting(own)
    #expect(rules.contains("HTTPHeader") && rules.contains("Base64URL"))
    for (path, text) in try Self.files(of: "EnrollSandbox") where Self.namesOfRules[path] != nil {
      let used = text.matches(of: /[^.\w]([A-Z]\w*)/).map { String($0.1) }
      #expect(rules.intersection(used) == Self.namesOfRules[path], "\(path)")
    }
  }

  /// Each file's path in the module, and its text without comments.
  private static func files(of module: String) throws -> [(String, String)] {
    let folder = sources.appendingPathComponent(module)
    let paths = FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String] ?? []
    return try paths.filter { $0.hasSuffix(".swift") }.map { path in
      let text = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
      return (path, text.replacing(/(?m)^ *\/\/.*$/, with: ""))
    }
  }

  private static func types(of module: String) throws -> Set<String> {
    let declaration = /(?:struct|class|enum|protocol|actor|typealias) ([A-Z]\w*)/
    return try files(of: module).reduce(into: []) { types, file in
      types.formUnion(file.1.matches(of: declaration).map { String($0.1) })
    }
  }
}
