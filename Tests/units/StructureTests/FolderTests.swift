// The allowed dependencies between the folders of the rules, and between the folders of the steps. A folder depends
// only on folders above it in the table, so the dependencies have no cycle. docs/architecture.md shows the tables;
// ENROLL_WRITE_DOCS=1 in the environment writes them there.
//
// The names are read from the text of the sources: a name that only one folder declares is a reference to it.

import Expectations
import Foundation
import Testing

private struct Folder {
  let name: String
  let purpose: String
  let needs: Set<String>

  init(_ name: String, _ purpose: String, _ needs: String = "") {
    self.name = name
    self.purpose = purpose
    self.needs = Set(needs.split(separator: " ").map(String.init))
  }
}

private struct Module {
  let name: String
  /// The lower modules whose names this module uses, too.
  let below: [String]
  let folders: [Folder]

  func mayNeed(_ folder: String) -> Set<String> { folders.first { $0.name == folder }?.needs ?? [] }
}

private let rules = Module(
  name: "EnrollRules", below: ["EnrollCrypto", "EnrollJSON"],
  folders: [
    Folder("Errors", "the errors, their codes, and what helps"),
    Folder("Text", "encodings, strict URLs, query parameters, scopes", "Errors"),
    Folder("Time", "dates, monotonic time, expiry, the clock of a server"),
    Folder(
      "HTTP", "requests and responses as values; what a refusal says, without the secrets that were sent",
      "Errors Text Time"),
    Folder(
      "Identity", "issuer and client id; keys, the id_token and its rules; userinfo", "Errors HTTP Text Time"),
    Folder("Proofs", "PKCE and DPoP", "Errors HTTP Text Time"),
    Folder("Configuration", "the configuration keys and their rules", "Errors Identity Text"),
    Folder(
      "Discovery", "the provider's metadata, and how long a document is used",
      "Configuration Errors HTTP Identity Proofs Text Time"),
    Folder(
      "Renewal", "the meaning of a refused refresh token; backoff; replayed responses",
      "Discovery Errors HTTP Text Time"),
    Folder(
      "Token", "token requests and responses; a session's tokens; how a client authenticates",
      "Configuration Discovery Errors HTTP Identity Proofs Renewal Text Time"),
    Folder(
      "Registration", "the states, the events, the transition table; the registration check",
      "Errors HTTP Identity Text Time Token"),
    Folder(
      "Authorization", "the authorize request; transactions of every kind",
      "Configuration Discovery Errors HTTP Identity Proofs Registration Text Time Token"),
    Folder(
      "Store", "the account record, the outbox and the PIN, and their coding",
      "Authorization Configuration Discovery Errors HTTP Identity Proofs Registration Renewal Text Time Token"
    ),
    Folder(
      "Session", "the session in an account's record: begun, renewed, narrowed, ended",
      "Authorization Errors Identity Registration Renewal Store Text Time Token"),
    Folder(
      "Links", "links that the app receives",
      "Authorization Configuration Errors Registration Store Text Time"),
    Folder(
      "Redirect", "the redirect, before and after it is verified",
      "Authorization Configuration Errors Identity Links Registration Text Time Token"),
    Folder(
      "Resource", "from the URL of an API or MCP server to a client of its authorization server",
      "Configuration Discovery Errors HTTP Identity Store Text Time Token"),
    Folder(
      "Logout", "logout, revocation, the messages of the outbox",
      "Authorization Configuration Discovery Errors HTTP Identity Redirect Session Store Text Time Token"),
    Folder(
      "Device", "codes that are typed on another device",
      "Authorization Configuration Discovery Errors HTTP Identity Proofs Registration Text Time Token"),
    Folder(
      "Passwordless", "codes and links by e-mail or SMS",
      "Authorization Configuration Discovery Errors HTTP Identity Proofs Text Token"),
    Folder("App2App", "sign-in with another app", "Configuration Errors HTTP Redirect Text Token"),
    Folder(
      "BFF", "sign-in through a back end",
      "Authorization Configuration Errors HTTP Identity Proofs Registration Text Time Token"),
    Folder(
      "Diagnostics", "the report for support, without secrets",
      "Authorization Configuration Discovery Errors Identity Registration Renewal Session Store Text Time Token"
    ),
  ])

private let steps = Module(
  name: "EnrollSteps", below: ["EnrollCrypto", "EnrollJSON", "EnrollRules"],
  folders: [
    Folder("Concurrency", "a value behind a lock; the cancellation of a call"),
    Folder(
      "Interfaces",
      "what the steps need of the outside: transport, store, clock, random bytes, log, observer",
      "Concurrency"),
    Folder(
      "Discovery", "the provider's documents and keys, fetched and remembered",
      "Concurrency Interfaces"),
    Folder("HTTP", "a transport that reads responses: times, caches, secrets", "Concurrency Interfaces"),
    Folder(
      "Context", "what the steps share: constants, events, the state machine, the parts of the state",
      "Concurrency Discovery Interfaces"),
    Folder(
      "Resource", "from the URL of an API or MCP server to a registered client",
      "Concurrency Context HTTP Interfaces"),
    Folder(
      "Requests", "requests with the client's authentication and with proofs; when one is sent again",
      "Concurrency Context Discovery Interfaces"),
    Folder(
      "Token", "the access token for a caller; introspection; proofs for the host's requests",
      "Concurrency Context Interfaces Requests"),
    Folder("Identity", "userinfo and the stored profile", "Concurrency Context Interfaces Requests Token"),
    Folder("BackEnd", "messages to the host's back end", "Concurrency Context Interfaces Requests"),
    Folder(
      "Logout", "logout, revocation, the outbox",
      "BackEnd Concurrency Context Discovery Interfaces Requests"),
    Folder(
      "Renewal", "one renewal, from its turn to its stored tokens; a rejected token",
      "BackEnd Concurrency Context Discovery Identity Interfaces Logout Requests Resource Token"),
    Folder(
      "Registration", "the state, the registration check, the confirmation",
      "BackEnd Concurrency Context Identity Interfaces Logout Renewal Requests Resource"),
    Folder(
      "Authorization", "transactions: the URL for the browser, the verified tokens, the end",
      "BackEnd Concurrency Context Discovery Identity Interfaces Logout Registration Renewal Requests Resource"
    ),
    Folder(
      "Diagnostics", "the report for support; the check of a provider",
      "Authorization Concurrency Context Discovery Interfaces Requests"),
    Folder(
      "Links", "links that the app receives",
      "Authorization Concurrency Context Interfaces Registration Requests"),
    Folder(
      "Device", "the device grant",
      "Authorization Concurrency Context Interfaces Logout Requests Resource"),
    Folder(
      "Passwordless", "one-time codes and links",
      "Authorization Concurrency Context Discovery Interfaces Logout Requests"),
    Folder(
      "App2App", "sign-in with another app",
      "Authorization Concurrency Context Interfaces Logout Renewal Requests"),
    Folder("BFF", "sign-in through a back end", "Authorization Concurrency Context Identity Interfaces"),
    Folder(
      "SignIn", "a sign-in of any kind: begun, and continued by its redirect",
      "App2App Authorization BFF Concurrency Context Device Discovery Interfaces Passwordless Registration Requests"
    ),
    Folder("PIN", "the PIN of an account", "Authorization Context"),
    Folder(
      "Engine", "the engine of one account: composes the steps",
      "App2App Authorization BFF BackEnd Concurrency Context Device Diagnostics Discovery HTTP Identity Interfaces Links Logout PIN Passwordless Registration Renewal Requests SignIn Token"
    ),
  ])

private func names(of module: String) throws -> [(folder: String, file: String, names: DeclaredNames)] {
  let top = Repository.top.appendingPathComponent("Sources/\(module)")
  return try FileManager.default.subpathsOfDirectory(atPath: top.path).filter { $0.hasSuffix(".swift") }.map {
    let text = try String(contentsOf: top.appendingPathComponent($0), encoding: .utf8)
    return (String($0.prefix { $0 != "/" }), $0, DeclaredNames(text))
  }
}

/// Words of the language and of its library that a folder also declares, and names that files use for local values.
private let commonNames: Set<String> = [
  "Value", "after", "error", "failure", "get", "never", "prefix", "private", "remove", "set", "suffix", "sum",
]

private typealias File = (folder: String, file: String, names: DeclaredNames)

/// The folders that declare a name, for each name that only folders of this module declare.
private func owners(of files: [File], below: Set<String>) -> [String: Set<String>] {
  var owners: [String: Set<String>] = [:]
  for file in files {
    for name in file.names.declared { owners[name, default: []].insert(file.folder) }
  }
  return owners.filter { !below.contains($0.key) && !commonNames.contains($0.key) }
}

/// The references between folders that the table does not allow.
private func faults(in files: [File], of module: Module, below: Set<String> = []) -> [String] {
  let owners = owners(of: files, below: below)
  return files.flatMap { file in
    let allowed = module.mayNeed(file.folder).union([file.folder])
    return file.names.used.sorted().compactMap { name -> String? in
      guard let known = owners[name], known.isDisjoint(with: allowed) else { return nil }
      return "\(module.name)/\(file.file) uses \(name) of \(known.sorted().joined(separator: ", "))"
    }
  }
}

/// The allowed dependencies in the table that no file uses.
private func idleArrows(in files: [File], of module: Module) -> [String] {
  let owners = owners(of: files, below: [])
  var used: [String: Set<String>] = [:]
  for file in files {
    for name in file.names.used { used[file.folder, default: []].formUnion(owners[name] ?? []) }
  }
  return module.folders.flatMap { folder in
    module.mayNeed(folder.name).subtracting(used[folder.name] ?? []).sorted().map { "\(folder.name) → \($0)" }
  }
}

@Suite("The folders of the rules and of the steps")
struct FolderTests {
  @Test("no folder needs one that its row does not name", arguments: [rules.name, steps.name])
  func arrows(name: String) throws {
    let module = name == rules.name ? rules : steps
    let below = Set(try module.below.flatMap { try names(of: $0) }.flatMap { $0.names.declared })
    let files = try names(of: module.name)
    #expect(Set(files.map(\.folder)) == Set(module.folders.map(\.name)))
    #expect(faults(in: files, of: module, below: below) == [])
    #expect(idleArrows(in: files, of: module) == [])
  }

  @Test("a folder needs only folders above it")
  func order() {
    for module in [rules, steps] {
      let order = module.folders.map(\.name)
      for (index, folder) in module.folders.enumerated() {
        #expect(folder.needs.isSubset(of: order[..<index]), "\(module.name)/\(folder.name)")
      }
    }
  }

  @Test("a rule has no clock, no store, no transport, no random source and no engine")
  func pureRules() throws {
    let interfaces = try names(of: "EnrollSteps")
      .filter { ["Interfaces", "Concurrency", "Context", "Engine", "Discovery"].contains($0.folder) }
      .reduce(into: Set()) { $0.formUnion($1.names.declared) }
      .filter { $0.first?.isUppercase ?? false }
    #expect(
      interfaces.isSuperset(of: ["Clock", "TokenStore", "Transport", "RandomSource", "Engine", "Guarded"]))
    for file in try names(of: "EnrollRules") {
      #expect(file.names.bare.isDisjoint(with: interfaces), "\(file.file)")
    }
  }

  @Test("a reference to a folder below is a fault: to a type, to a member, in a text")
  func faultsAreFound() {
    let module = Module(
      name: "M", below: [], folders: [Folder("Low", "low"), Folder("High", "high", "Low")])
    let high = """
      public struct Later { var remedy: Int }
      extension Early { func explained() -> Later { Later(remedy: 1) } }
      """
    func found(_ low: String) -> [String] {
      faults(
        in: [("Low", "Low/A.swift", DeclaredNames(low)), ("High", "High/B.swift", DeclaredNames(high))],
        of: module)
    }
    let early = "struct Early { let name: String }\n"
    #expect(found(early) == [])
    #expect(found(early + "func f(_ later: Later) {}") == ["M/Low/A.swift uses Later of High"])
    #expect(
      found(early + "let a = Early(name: \"\").explained()") == ["M/Low/A.swift uses explained of High"])
    #expect(found(early + "let a = \"a \\(early.remedy) b\"") == ["M/Low/A.swift uses remedy of High"])
    // Comments, texts and local names do not count as references.
    #expect(found(early + "// Later\nlet a = \"Later\"\nfunc f(remedy: Int) -> Int { remedy }") == [])
  }

  @Test("docs/architecture.md shows the folders and their arrows")
  func documented() throws {
    let page = Repository.top.appendingPathComponent("docs/architecture.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    var drawn = text
    for module in [rules, steps] {
      let start = try #require(drawn.range(of: "<!-- folders of \(module.name) -->\n"))
      let end = try #require(drawn.range(of: "<!-- end of folders of \(module.name) -->"))
      drawn.replaceSubrange(start.upperBound..<end.lowerBound, with: table(of: module))
    }
    if ProcessInfo.processInfo.environment["ENROLL_WRITE_DOCS"] == "1" {
      try drawn.write(to: page, atomically: true, encoding: .utf8)
    }
    #expect(text == drawn, "run with ENROLL_WRITE_DOCS=1 and look at the difference")
  }

  private func table(of module: Module) -> String {
    let rows = module.folders.map { folder in
      let needs = module.folders.map(\.name).filter { folder.needs.contains($0) }.map { "`\($0)`" }
      let shown = needs.isEmpty ? "nothing" : needs.joined(separator: ", ")
      return "| `\(folder.name)` | \(folder.purpose) | \(shown) |\n"
    }
    return "| folder | domain | may need |\n| --- | --- | --- |\n" + rows.joined()
  }
}
