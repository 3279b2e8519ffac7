// The text that users add to the configuration of a host, so that the host starts the bridge.

import EnrollJSON

/// A host of the Model Context Protocol, by its name on the command line.
package enum HostSnippet: String, CaseIterable, Sendable {
  case claudeDesktop = "claude-desktop"
  case claudeCode = "claude-code"
  case cursor, vscode, windsurf, zed, codex, gemini, opencode

  /// Where the user adds the snippet.
  package var place: String {
    switch self {
    case .claudeDesktop: "claude_desktop_config.json"
    case .claudeCode: "a shell"
    case .cursor: "~/.cursor/mcp.json"
    case .vscode: ".vscode/mcp.json"
    case .windsurf: "~/.codeium/windsurf/mcp_config.json"
    case .zed: "Zed's settings.json"
    case .codex: "~/.codex/config.toml"
    case .gemini: "~/.gemini/settings.json"
    case .opencode: "opencode.json"
    }
  }

  /// The text of the snippet.
  /// - Parameters:
  ///   - name: the server's name in the host.
  ///   - words: the command line: the absolute path of `enroll`, and its arguments. The path is absolute because
  ///     hosts on the desktop do not have the shell's PATH.
  ///   - quoted: quotes a word for a shell.
  package func text(name: String, words: [String], quoted: (String) -> String) -> String {
    let arguments = JSON.array(words.dropFirst().map { .string($0) })
    let command = JSON.string(words.first ?? "")
    let plain = JSON.object([("command", command), ("args", arguments)])
    switch self {
    case .claudeDesktop, .cursor, .windsurf, .gemini: return Self.nested(["mcpServers", name], plain)
    case .zed: return Self.nested(["context_servers", name], plain)
    case .claudeCode:
      return "claude mcp add \(quoted(name)) -- " + words.map(quoted).joined(separator: " ")
    case .vscode:
      return Self.nested(
        ["servers", name],
        .object([("type", .string("stdio")), ("command", command), ("args", arguments)]))
    case .opencode:
      return Self.nested(
        ["mcp", name],
        .object([("type", .string("local")), ("command", .array(words.map { .string($0) }))]))
    case .codex:
      return "[mcp_servers.\(Self.text(.string(name)))]\ncommand = \(Self.text(command))\n"
        + "args = \(Self.text(arguments))"
    }
  }

  private static func nested(_ names: [String], _ value: JSON) -> String {
    text(names.reversed().reduce(value) { .object([($1, $0)]) })
  }

  private static func text(_ json: JSON) -> String { String(decoding: json.serialized(), as: UTF8.self) }

  /// A name for the server: the first label of the server's host name, except `mcp`, `www` and `api`; `server` if there
  /// is no other label.
  package static func name(ofHost host: String) -> String {
    let parts = host.split(separator: ".").filter { !["mcp", "www", "api"].contains($0) }
    guard let first = parts.first, host.utf8.contains(where: { !"0123456789.:[]".utf8.contains($0) }) else {
      return "server"
    }
    return String(first)
  }
}
