// The registries of one host in Cargo's configuration. Cargo has no command that changes its configuration, so this
// program adds and removes single lines of the file. Everything else in the file stays the same.

/// The lines of `config.toml`.
struct CargoSettings {
  private static let key = "credential-provider"
  private var lines: [String]
  /// The removed lines, each with `-`, and the added lines, each with `+`.
  private(set) var shown: [String] = []
  private let host: NamedHost

  init(_ text: String, _ host: NamedHost) {
    lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    self.host = host
  }

  var text: String { lines.joined(separator: "\n") }

  /// The line of the file that names this program as the credential provider.
  static func line(_ words: [String]) -> String {
    "\(key) = [\(words.map { quoted($0) }.joined(separator: ", "))]"
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
  mutating func add(_ line: String) -> Bool {
    let tables = self.tables
    guard !tables.isEmpty,
      tables.allSatisfy({ table in table.provider.map { lines[$0] == line || isOwn(lines[$0]) } ?? true })
    else { return false }
    for table in tables.reversed() {
      if let provider = table.provider {
        guard lines[provider] != line else { continue }
        shown.append("- \(lines[provider])")
        lines[provider] = line
      } else {
        lines.insert(line, at: table.index + 1)
      }
      shown.append("+ \(line)")
    }
    return true
  }

  /// Removes the lines that ``add(_:)`` added.
  mutating func remove() {
    for table in tables.reversed() {
      if let provider = table.provider, isOwn(lines[provider]) {
        shown.append("- \(lines.remove(at: provider))")
      }
    }
  }

  private func isOwn(_ line: String) -> Bool {
    guard let words = Self.value(of: Self.key, in: line) else { return false }
    let parts = words.split(separator: "\"").map { String($0) }
    return parts.contains("credential") && parts.contains(CredentialFormat.cargo.name)
  }

  /// For each registry's table, the positions of the lines for its index and for its credential provider.
  private var tables: [(index: Int, provider: Int?)] {
    var found: [(index: Int, provider: Int?)] = []
    var isRegistry = false
    var index: Int?
    var provider: Int?
    func end() {
      if isRegistry, let index { found.append((index, provider)) }
      (index, provider) = (nil, nil)
    }
    for (number, line) in lines.enumerated() {
      let text = line.drop { $0 == " " || $0 == "\t" }
      if text.hasPrefix("[") {
        end()
        isRegistry = text.hasPrefix("[registries.")
      } else if let url = Self.value(of: "index", in: line), isOfHost(url) {
        index = number
      } else if Self.value(of: Self.key, in: line) != nil {
        provider = number
      }
    }
    end()
    return found
  }

  private func isOfHost(_ quotedURL: String) -> Bool {
    guard let request = quotedURL.split(separator: quotedURL.hasPrefix("'") ? "'" : "\"").first else {
      return false
    }
    guard let target = CargoRequest.target(String(request)) else { return false }
    if case .allowed = CredentialHosts(named: [host]).answer(target) { return true }
    return false
  }

  /// The text after `key =`; nil for another line.
  private static func value(of key: String, in line: String) -> String? {
    let text = line.drop { $0 == " " || $0 == "\t" }
    guard text.hasPrefix(key) else { return nil }
    let rest = text.dropFirst(key.count).drop { $0 == " " || $0 == "\t" }
    guard rest.hasPrefix("=") else { return nil }
    return String(rest.dropFirst().drop { $0 == " " || $0 == "\t" })
  }
}
