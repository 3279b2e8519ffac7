// The registries of one host in Cargo's configuration. Cargo has no command that changes its configuration, so this
// program adds, changes and removes single lines of the file. Everything else in the file stays the same.

import EnrollRules

struct CargoSettings {
  private static let key = "credential-provider"

  /// Why the file is not changed.
  enum Refusal: Error {
    case line(Int)
    case noRegistry
    /// The registry has another credential provider.
    case otherProvider(String)
    /// The registry is in braces, or is set twice.
    case form(String)
  }

  struct Change {
    let text: String
    /// The removed (-) and added (+) lines.
    var shown: [String] = []
  }

  private let registries: [Registry]
  private let document: TOMLStatements

  private struct Registry {
    let name: String
    let index: TOMLStatements.Statement
    let provider: TOMLStatements.Statement?
  }

  /// - Throws: if the file cannot be read completely, or if a registry of the host has a form that cannot be changed.
  init(_ text: String, _ host: NamedHost) throws(Refusal) {
    let document = TOMLStatements(text)
    self.document = document
    if let line = document.badLine { throw .line(line) }
    registries = try Self.registries(document, host)
  }

  /// The line of the file that names this program as the credential provider.
  static func line(_ words: [String]) -> String { "\(key) = \(list(words))" }

  private static func list(_ words: [String]) -> String {
    "[\(words.map { quoted($0) }.joined(separator: ", "))]"
  }

  /// A basic string (TOML 1.0).
  private static func quoted(_ word: String) -> String {
    var text = ""
    for letter in word.unicodeScalars {
      if letter == "\"" || letter == "\\" { text += "\\" }
      text.unicodeScalars.append(letter)
    }
    return "\"\(text)\""
  }

  /// Adds the line to each registry of the host.
  /// - Returns: false if the host has no registry, or if one of its registries has another credential provider.
  func adding(_ words: [String]) throws(Refusal) -> Change {
    guard !registries.isEmpty else { throw .noRegistry }
    if let other = registries.first(where: { $0.provider.map { !isOwn($0) } ?? false }) {
      throw .otherProvider(other.name)
    }
    var bytes = document.bytes
    var shown: [String] = []
    for registry in registries.sorted(by: { Self.position($0) > Self.position($1) }) {
      if let provider = registry.provider, let value = provider.value {
        guard document.strings(value) != words else { continue }
        // A comment behind the value stays.
        bytes.replaceSubrange(value, with: Array(Self.list(words).utf8))
        let old = document.text(provider.lines.lowerBound..<value.lowerBound)
        shown += ["- \(old)\(document.text(value))", "+ \(old)\(Self.list(words))"]
      } else {
        let added = document.text(registry.index.prefix) + Self.line(words)
        let end = registry.index.lines.upperBound
        let isComplete = bytes[..<end].last == UInt8(ascii: "\n")
        bytes.insert(
          contentsOf: Array((isComplete ? added + newline : newline + added).utf8), at: end)
        shown.append("+ \(added)")
      }
    }
    return Change(text: String(decoding: bytes, as: UTF8.self), shown: shown)
  }

  /// The file without the lines that ``adding(_:)`` added.
  func removing() -> Change {
    var bytes = document.bytes
    var shown: [String] = []
    let providers = registries.compactMap { $0.provider }.filter { isOwn($0) }
    for provider in providers.sorted(by: { $0.lines.lowerBound > $1.lines.lowerBound }) {
      var lines = provider.lines
      shown.append("- \(document.text(lines.lowerBound..<(provider.value?.upperBound ?? lines.upperBound)))")
      // A line without a newline at its end is the last line of the file. In this case ``adding(_:)`` has added the
      // newline before it, which is now removed, too.
      if bytes[lines].last != UInt8(ascii: "\n"), bytes[..<lines.lowerBound].last == UInt8(ascii: "\n") {
        let newline = bytes[..<lines.lowerBound].suffix(2).elementsEqual("\r\n".utf8) ? 2 : 1
        lines = (lines.lowerBound - newline)..<lines.upperBound
      }
      bytes.removeSubrange(lines)
    }
    return Change(text: String(decoding: bytes, as: UTF8.self), shown: shown)
  }

  private var newline: String {
    ASCII.contains(document.text(0..<document.bytes.count), "\r\n") ? "\r\n" : "\n"
  }

  /// The position of the change for a registry.
  private static func position(_ registry: Registry) -> Int {
    registry.provider?.lines.lowerBound ?? registry.index.lines.upperBound
  }

  private func isOwn(_ provider: TOMLStatements.Statement) -> Bool {
    guard let value = provider.value, let words = document.strings(value) else { return false }
    return words.dropFirst().starts(with: ["credential", CredentialFormat.cargo.name])
  }

  private static func registries(
    _ document: TOMLStatements, _ host: NamedHost
  ) throws(Refusal) -> [Registry] {
    let statements = document.all.filter { $0.path.first == "registries" }
    var found: [Registry] = []
    for index in statements where index.path.count == 3 && index.path[2] == "index" {
      guard let value = index.value, let url = document.string(value), isOf(host, url) else { continue }
      let name = index.path[1]
      let own = statements.filter { $0.path.count > 1 && $0.path[1] == name && !$0.isArray }
      let keys = own.map { ($0.value == nil ? "header " : "") + $0.path.joined(separator: "\n") }
      guard Set(keys).count == keys.count else { throw .form(name) }
      found.append(
        Registry(
          name: name, index: index, provider: own.first { $0.path == ["registries", name, key] }))
    }
    for inline in statements where inline.path.count < 3 {
      guard let value = inline.value, document.bytes[value.lowerBound] == UInt8(ascii: "{"),
        value.contains(where: { document.bytes[$0..<value.upperBound].starts(with: host.host.text.utf8) })
      else { continue }
      throw .form(inline.path.last ?? "")
    }
    return found
  }

  private static func isOf(_ host: NamedHost, _ url: String) -> Bool {
    guard let target = CargoRequest.target(url) else { return false }
    if case .allowed = CredentialHosts(named: [host]).answer(target) { return true }
    return false
  }
}
