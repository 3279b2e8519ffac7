// The allowed imports of each module. An import that is not in this table fails the test: add the import to
// the table deliberately, or remove it. docs/architecture.md shows the table; ENROLL_WRITE_DOCS=1 writes it
// there.

import Expectations
import Foundation
import Testing

/// The imports that each module may have, and its purpose in one line.
private let modules: [(name: String, purpose: String, imports: Set<String>)] = [
  (
    "EnrollCrypto", "digests, ciphers, signatures, random bytes and wiped secrets, over OpenSSL", ["COpenSSL"]
  ),
  ("EnrollJSON", "one JSON value, read within limits and written, over jansson", ["CJansson"]),
  (
    "EnrollRules", "values, requests, responses and decisions: no clock, no store, no transport",
    ["EnrollCrypto", "EnrollJSON"]
  ),
  (
    "EnrollSteps", "the steps of the engine, over interfaces: no IO, no C library, no platform",
    ["EnrollRules", "EnrollCrypto", "EnrollJSON"]
  ),
  (
    "EnrollPosix", "the system: threads and pools of them, locks, clocks, signals, fork, the user's folders",
    ["EnrollSteps", "EnrollRules", "EnrollCrypto", "EnrollJSON", "CPosix", "Synchronization"]
  ),
  (
    "EnrollStore", "the store: its format, files, locks and keys",
    [
      "EnrollPosix", "EnrollSteps", "EnrollRules", "EnrollCrypto", "EnrollJSON", "CPosix", "CSecret",
      "Synchronization",
    ]
  ),
  (
    "EnrollHost", "the client, and its IO: libcurl, the loopback listener, timers",
    [
      "EnrollStore", "EnrollPosix", "EnrollSteps", "EnrollRules", "EnrollCrypto", "EnrollJSON", "CCurl",
      "CPosix",
    ]
  ),
  (
    "EnrollCommands", "every command once, with its schema; the manifest",
    ["EnrollHost", "EnrollStore", "EnrollPosix", "EnrollSteps", "EnrollRules", "EnrollCrypto", "EnrollJSON"]
  ),
  (
    "EnrollC", "the C functions: checks of pointers and sizes, then the client or a command",
    [
      "CEnroll", "EnrollCommands", "EnrollHost", "EnrollPosix", "EnrollSteps", "EnrollRules", "EnrollCrypto",
      "EnrollJSON",
      "Synchronization",
    ]
  ),
  (
    "enrolld", "framing, JSON-RPC and scheduling",
    [
      "EnrollCommands", "EnrollHost", "EnrollPosix", "EnrollSteps", "EnrollRules", "EnrollJSON", "CPosix",
      "Synchronization",
    ]
  ),
  (
    "EnrollArguments", "command lines as values: read, explained in help and manual, completed in shells",
    ["EnrollRules", "EnrollJSON"]
  ),
  (
    "EnrollMCP", "the pure parts of the MCP bridge: messages by their bytes, event streams, headers, errors",
    ["EnrollRules", "EnrollJSON"]
  ),
  (
    "enroll", "the command for people and scripts: terminal, reports, exit statuses",
    [
      "EnrollArguments", "EnrollMCP", "EnrollCommands", "EnrollHost", "EnrollStore", "EnrollPosix",
      "EnrollSteps",
      "EnrollRules",
      "EnrollCrypto", "EnrollJSON", "CPosix",
    ]
  ),
  (
    "EnrollKit", "the Swift API: async methods over the client",
    [
      "EnrollHost", "EnrollStore", "EnrollPosix", "EnrollSteps", "EnrollRules", "EnrollCrypto", "EnrollJSON",
      "FoundationEssentials", "Foundation",
    ]
  ),
  (
    "EnrollFoundation", "requests of URLSession with a token, and the desktop's browser",
    ["EnrollKit", "Foundation", "FoundationNetworking", "Synchronization"]
  ),
  (
    "EnrollTesting", "the test kit for hosts",
    [
      "EnrollKit", "EnrollHost", "EnrollStore", "EnrollPosix", "EnrollSteps", "EnrollRules", "EnrollCrypto",
      "EnrollJSON",
      "Foundation",
    ]
  ),
  (
    "EnrollHTTP", "the HTTP server of the gateway and of the tests, on the event loop of libevent",
    ["EnrollPosix", "EnrollSteps", "EnrollRules", "CEvent", "CPosix", "Synchronization"]
  ),
  (
    "EnrollGatewayPages", "the gateway's pages: HTML, texts in several languages, theme", ["EnrollJSON"]
  ),
  (
    "EnrollGateway", "the gateway's rules and steps, over the interfaces of its store and its providers",
    [
      "EnrollGatewayPages", "EnrollHTTP", "EnrollSteps", "EnrollRules", "EnrollCrypto", "EnrollJSON",
      "Synchronization",
    ]
  ),
  (
    "EnrollGatewayStore", "accounts and sessions in SQLite or PostgreSQL",
    [
      "EnrollGateway", "EnrollPosix", "EnrollSteps", "EnrollRules", "EnrollCrypto", "CPosix", "CPostgreSQL",
      "CSQLite",
    ]
  ),
  (
    "EnrollGatewayMail", "the gateway's mail, over libcurl",
    ["EnrollGateway", "EnrollHost", "EnrollPosix", "EnrollRules", "CCurl", "CPosix"]
  ),
  (
    "enroll-gateway", "the gateway as a program",
    [
      "EnrollArguments", "EnrollGateway", "EnrollGatewayMail", "EnrollGatewayPages", "EnrollGatewayStore",
      "EnrollHTTP", "EnrollHost", "EnrollStore", "EnrollPosix", "EnrollSteps", "EnrollRules", "EnrollCrypto",
      "EnrollJSON",
      "CPosix", "Synchronization",
    ]
  ),
]

/// The server side, which is not built for a program that embeds the library.
private let serverSide: Set<String> = [
  "EnrollHTTP", "EnrollGatewayPages", "EnrollGateway", "EnrollGatewayStore", "EnrollGatewayMail",
  "enroll-gateway",
]

/// The C libraries that only the server side uses: libevent, SQLite, PostgreSQL.
private let serverLibraries: Set<String> = ["CEvent", "CSQLite", "CPostgreSQL"]

private func sources(of module: String) throws -> [URL] {
  let folder = Repository.top.appendingPathComponent("Sources/\(module)")
  let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
  return (files?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "swift" }
}

/// The modules that a file imports, whatever the access level and attributes of the import.
private func imports(in text: String) -> [String] {
  text.split(separator: "\n").compactMap { line in
    let words = line.split(separator: " ").map(String.init)
    guard let at = words.firstIndex(of: "import"), words.count > at + 1,
      words[..<at].allSatisfy({
        $0.hasPrefix("@") || ["public", "internal", "package", "private", "fileprivate"].contains($0)
      })
    else { return nil }
    return words[at + 1].split(separator: ".").first.map(String.init)
  }
}

/// The conditions of `#if` and `#elseif` at the start of a line.
private func conditions(in text: String) -> [String] {
  text.split(separator: "\n").compactMap {
    let bare = $0.trimmingCharacters(in: .whitespaces)
    guard let word = ["#if ", "#elseif "].first(where: { bare.hasPrefix($0) }) else { return nil }
    return bare.dropFirst(word.count).trimmingCharacters(in: .whitespaces)
  }
}

/// Initializers of classes that may fail before every property is set: Embedded Swift 6.3 then does not free
/// the object. A convenience initializer has no object before it calls another initializer.
private func leakingInitializers(in text: String) throws -> [String] {
  try text.matches(of: Regex(#"(?m)^( *)(?:@?[a-z]+ )*class \w.*\{$"#)).flatMap { header in
    let indent = header[1].substring ?? ""
    let body = text[header.range.upperBound...]
    let end = body.firstRange(of: "\n\(indent)}")?.lowerBound ?? body.endIndex
    // Members are indented by two more columns; members of nested types are indented further.
    return try body[..<end].matches(of: Regex(#"\n\#(indent)  ((?:[a-z]+ )*init[?(][^{]*) \{"#))
      .map { String($0[1].substring ?? "") }
      .filter { !$0.contains("convenience ") && ($0.contains("init?") || $0.contains(") throws")) }
  }
}

@Suite("The structure of the sources")
struct ImportTests {
  @Test("every module imports only what its drawing allows", arguments: modules.map(\.name))
  func arrows(module: String) throws {
    let allowed = try #require(modules.first { $0.name == module }).imports
    let files = try sources(of: module)
    #expect(!files.isEmpty)
    for file in files {
      for imported in imports(in: try String(contentsOf: file, encoding: .utf8)) {
        #expect(allowed.contains(imported), "\(module)/\(file.lastPathComponent) imports \(imported)")
      }
    }
  }

  @Test("what embeds the library builds and links no part of the server side: no libevent, no SQLite")
  func serverSideApart() {
    for module in modules where !serverSide.contains(module.name) {
      #expect(module.imports.isDisjoint(with: serverSide.union(serverLibraries)), "\(module.name)")
    }
  }

  @Test("every module of Sources is drawn, or is a C module or the sandbox")
  func complete() throws {
    let folders = try FileManager.default.contentsOfDirectory(
      atPath: Repository.top.appendingPathComponent("Sources").path)
    #expect(
      Set(folders).subtracting(modules.map(\.name)).isSubset(of: [
        "CCurl", "CEvent", "CJansson", "COpenSSL", "CPosix", "CPostgreSQL", "CSQLite", "CSecret",
        "EnrollSandbox", "enroll-sandbox",
      ]))
  }

  @Test("docs/architecture.md shows who may import whom")
  func documented() throws {
    let page = Repository.top.appendingPathComponent("docs/architecture.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    let start = try #require(text.range(of: "<!-- imports -->\n"))
    let end = try #require(text.range(of: "<!-- end of imports -->"))
    let rows = modules.map { module in
      let imports = module.imports.sorted().map { "`\($0)`" }.joined(separator: ", ")
      return "| `\(module.name)` | \(module.purpose) | \(imports) |\n"
    }
    let table = "| module | purpose | may import |\n| --- | --- | --- |\n" + rows.joined()
    let drawn = text.replacingCharacters(in: start.upperBound..<end.lowerBound, with: table)
    if ProcessInfo.processInfo.environment["ENROLL_WRITE_DOCS"] == "1" {
      try drawn.write(to: page, atomically: true, encoding: .utf8)
    }
    #expect(text == drawn, "run with ENROLL_WRITE_DOCS=1 and look at the difference")
  }

  @Test("the core has no conditional compilation: what ships and the debug build read the same rules")
  func unconditional() throws {
    for module in ["EnrollRules", "EnrollSteps", "EnrollCrypto", "EnrollJSON"] {
      for file in try sources(of: module) {
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(!text.contains("\n#if") && !text.contains("\n  #if"), "\(module)/\(file.lastPathComponent)")
      }
    }
  }

  @Test("no Swift file asks which system it is compiled for", arguments: modules.map(\.name))
  func systems(module: String) throws {
    // Two modules import Foundation's smaller part, if there is one.
    let halves = ["EnrollKit": "FoundationEssentials", "EnrollFoundation": "FoundationNetworking"]
    let foundation = halves[module].map { ["canImport(\($0))"] } ?? []
    let allowed = ["hasFeature(Embedded)"] + foundation
    for file in try sources(of: module) {
      for condition in conditions(in: try String(contentsOf: file, encoding: .utf8)) {
        #expect(allowed.contains(condition), "\(module)/\(file.lastPathComponent) has #if \(condition)")
      }
    }
  }

  @Test("C headers ask which system they are compiled for in CPosix alone")
  func systemsInC() throws {
    let names = ["__APPLE__", "__ANDROID__", "__linux__", "__GLIBC__", "__unix__", "_WIN32"]
    var askers: Set<String> = []
    for folder in ["Sources", "include"] {
      let place = Repository.top.appendingPathComponent(folder)
      for name in try FileManager.default.subpathsOfDirectory(atPath: place.path) where name.hasSuffix(".h") {
        let text = try String(contentsOf: place.appendingPathComponent(name), encoding: .utf8)
        if names.contains(where: { text.contains($0) }) { askers.insert("\(folder)/\(name)") }
      }
    }
    #expect(askers.contains("Sources/CPosix/shim.h"))
    #expect(askers.filter { !$0.hasPrefix("Sources/CPosix/") } == [])
  }

  @Test("every C function is compared with the header by the compiler")
  func implementation() throws {
    for file in try sources(of: "EnrollC") {
      let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      for line in lines where line.contains("@_cdecl(") {
        #expect(line.contains("@implementation"), "\(file.lastPathComponent): \(line)")
      }
    }
  }

  @Test("nothing on outside data can trap: no force, no fatalError")
  func traps() throws {
    for module in modules.map(\.name) where module != "EnrollTesting" {
      for file in try sources(of: module) {
        let text = try String(contentsOf: file, encoding: .utf8)
        for word in ["fatalError(", "try!", " as!", "preconditionFailure(", "TODO", "FIXME"] {
          #expect(!text.contains(word), "\(module)/\(file.lastPathComponent) has \(word)")
        }
      }
    }
  }

  @Test("a file opens with a note that says what it is")
  func notes() throws {
    for module in modules.map(\.name) {
      for file in try sources(of: module) {
        #expect(
          try String(contentsOf: file, encoding: .utf8).hasPrefix("//"), "\(module)/\(file.lastPathComponent)"
        )
      }
    }
  }

  @Test(
    "in Embedded Swift an object that cannot be made is not begun: such initializers are convenience ones")
  func failingInitializers() throws {
    // The command exits if such an initializer fails, so no object must be freed.
    let others = serverSide.union(["EnrollKit", "EnrollFoundation", "EnrollTesting", "enroll"])
    for module in modules.map(\.name) where !others.contains(module) {
      for file in try sources(of: module) {
        let found = try leakingInitializers(in: try String(contentsOf: file, encoding: .utf8))
        #expect(found.isEmpty, "\(module)/\(file.lastPathComponent): \(found)")
      }
    }
  }

  @Test("initializers are found in the classes, on one line or on several")
  func initializerReader() throws {
    let text = """
      final class A {
        init(_ text: String) throws(E) { name = try read(text) }
        public init?(
          number: Int
        ) {
          guard number > 0 else { return nil }
        }
        convenience init() throws(E) { self.init(name: try read("")) }
        init(name: String) { self.name = name }
        struct Inner {
          init() throws(E) { try run() }
        }
      }
      struct B {
        init() throws(E) { try run() }
      }
      """
    #expect(
      try leakingInitializers(in: text) == [
        "init(_ text: String) throws(E)", "public init?(\n    number: Int\n  )",
      ])
  }

  @Test("conditions are read at every depth, and not in comments")
  func conditionReader() {
    let text = "#if os(Linux)\n  #elseif  canImport(Darwin)\n#else\n#endif\n// #if A\n#if !B && C\n"
    #expect(conditions(in: text) == ["os(Linux)", "canImport(Darwin)", "!B && C"])
  }

  @Test("imports are read whatever stands before them")
  func reader() {
    let text =
      "public import A\n@_exported public import B\nimport struct C.D\n@testable import E\n// import F\n  import G"
    #expect(imports(in: text) == ["A", "B", "struct", "E", "G"])
  }
}
