// git, set up with `git config`. git asks every helper whose section matches the URL, in the order of the
// configuration, and gives the token to all of them. An empty helper drops the helpers before it. So an empty helper
// and then the helper of this program have to be the last ones.

import EnrollArguments
import EnrollRules

extension SetupTool {
  static let git = SetupTool(
    name: "git", summary: "Make git get the token for a host over https.", hasCommandLine: true,
    takesUsername: true,
    add: { request throws(Failure) in
      let settings = try GitSettings(request)
      guard settings.effective != [settings.helper] else { return SetupPlan() }
      // If git cannot remove the earlier lines, they stay: the new lines behind them take precedence.
      var plan = SetupPlan(steps: SetupPlan.runs(settings.file.removal ?? []) + settings.addition)
      if let other = settings.later {
        throw Failure(
          .failed,
          "GIT_CONFIG_COUNT or GIT_CONFIG_PARAMETERS names a helper, \(ShellWord.quoted(other)), "
            + "and git would give it the token: nothing is changed",
          advice: "Unset these variables, and run the command again.")
      }
      // Somebody has chosen the other helper for exactly this host, so only that person may change this.
      if let other = settings.others.first {
        throw Failure(
          .failed,
          "git has another helper for \(request.host.text), \(ShellWord.quoted(other)): nothing is changed",
          advice: "Run this by hand: \(plan.lines.joined(separator: " && "))")
      }
      if settings.isEmptied {
        throw Failure(
          .failed,
          "git's configuration turns all helpers off for \(request.host.text), by an empty one: "
            + "nothing is changed",
          advice: "Run this, and then the command again: \(ShellWord.line(settings.file.emptyRemoval))")
      }
      if let other = settings.local {
        plan.notes.append(
          "The repository in this folder names a helper of its own, \(ShellWord.quoted(other)): "
            + "in it, git gives the token to that helper, too.")
      }
      return plan
    },
    remove: { request throws(Failure) in
      let settings = try GitSettings(request)
      guard let removal = settings.file.removal else { throw settings.file.mixture(request) }
      var plan = SetupPlan(steps: SetupPlan.runs(removal))
      if settings.hasDraft {
        plan.steps.append(.run(["git", "config", "--global", "--remove-section", settings.draft]))
      }
      plan.remainder = settings.elsewhere(request)
      return plan
    })
}

/// The helpers of git's configuration for one host.
private struct GitSettings {
  /// The section's name: `credential.URL`.
  let key: String
  /// The value that names this program as the helper.
  let helper: String
  let hasDraft: Bool
  /// The user's own file.
  let file: GitFile
  private let url: String
  private let entries: [GitEntry]

  init(_ request: SetupRequest) throws(Failure) {
    url = ASCII.contains(request.host.text, "://") ? request.host.text : "https://\(request.host.text)"
    key = "credential.\(url)"
    helper = "!" + request.helper("git").map { ShellWord.quoted($0) }.joined(separator: " ")
    if let path = Environment.process["GIT_CONFIG_GLOBAL"], SetupFile.exists(path), !SetupFile.isFile(path) {
      throw Failure(
        .failed, "GIT_CONFIG_GLOBAL names \(path), which is not a file: git cannot save anything there",
        advice: "Unset the variable, or name a file.")
    }
    let section = GitSection(url)
    let read = { (words: [String]) throws(Failure) -> [GitEntry] in
      let parts = try Self.output(words)
      // Each setting has three parts: the scope, the origin, and the key and the value with a newline between them.
      return stride(from: 0, to: parts.count - 2, by: 3).map { at in
        let pair = parts[at + 2].split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        return GitEntry(
          scope: parts[at], origin: parts[at + 1], section: String(pair[0].dropLast(".helper".count)),
          match: section.match(String(pair[0])),
          value: pair.count > 1 ? String(pair[1]) : "")
      }
    }
    let pattern = #"^credential\.(.*\.)?helper$"#
    let list = ["--null", "--show-scope", "--show-origin", "--get-regexp"]
    entries = try read(["git", "config"] + list + [pattern])
    file = GitFile(
      words: ["git", "config", "--global"],
      entries: try read(["git", "config", "--global"] + list + [pattern]))
    hasDraft = try !Self.output([
      "git", "config", "--global", "--null", "--get-all", "\(Self.draft(url)).helper",
    ]).isEmpty
  }

  private static func draft(_ url: String) -> String { "enroll-setup.\(url)" }
  /// The section that is written first, and renamed when it is complete.
  var draft: String { Self.draft(url) }

  /// The helpers that git asks outside of a repository, in this order. The helpers of a section that perhaps matches
  /// are included, but an empty helper of such a section drops no helpers.
  var effective: [String] {
    var helpers: [String] = []
    for entry in entries where !entry.isLocal && entry.match != .none {
      if !entry.value.isEmpty {
        helpers.append(entry.value)
      } else if entry.match != .possible {
        helpers = []
      }
    }
    return helpers
  }

  /// Helpers for exactly this host that are not of this program.
  var others: [String] {
    entries.filter { $0.match == .exact && !$0.isLocal && !$0.value.isEmpty && !$0.isOwn }.map { $0.value }
  }

  /// Whether somebody else's empty helper is for exactly this host.
  var isEmptied: Bool {
    file.present.contains { $0.value.isEmpty } && !file.present.contains { $0.isOwn }
  }

  /// A helper that git reads after all files.
  var later: String? {
    entries.first { $0.scope == "command" && $0.match != .none && !$0.value.isEmpty && $0.value != helper }?
      .value
  }

  /// A helper of the repository in this folder.
  var local: String? {
    entries.first { $0.isLocal && $0.match != .none && !$0.value.isEmpty && $0.value != helper }?.value
  }

  /// The lines of another file, or the variables, that the user has to remove by hand, because they name the helper,
  /// too; nil if there are none.
  func elsewhere(_ request: SetupRequest) -> SetupPlan.Remainder? {
    let files = file.present.map { $0.origin }
    let entry = entries.first { $0.match == .exact && $0.isOwn && !files.contains($0.origin) }
    guard let origin = entry?.origin else { return nil }
    guard origin.hasPrefix("file:") else {
      return .init(
        text: "GIT_CONFIG_COUNT or GIT_CONFIG_PARAMETERS names the helper, too",
        advice: "Unset these variables.")
    }
    let name = String(origin.dropFirst(5))
    let other = GitFile(
      words: ["git", "config", "--file", name], entries: entries.filter { $0.origin == origin })
    guard let removal = other.removal else {
      let mixture = other.mixture(request)
      return .init(text: mixture.message, advice: other.linesByHand)
    }
    return .init(
      text: "\(name) names the helper, too, and git config --global does not change that file",
      advice: "Remove it by hand: \(ShellWord.line(removal))")
  }

  /// A new section at the end of the file, after every other helper. Its name is changed last: if a command fails, git
  /// does not have half of the section.
  var addition: [SetupPlan.Step] {
    [
      ["--replace-all", "\(draft).helper", ""], ["--add", "\(draft).helper", helper],
      ["--rename-section", draft, key],
    ].map { .run(["git", "config", "--global"] + $0) }
  }

  /// The texts that the command prints, each with a zero byte at its end.
  private static func output(_ words: [String]) throws(Failure) -> [String] {
    let ending = try ToolRun.output(words)
    // The status is 1 if there is no such key.
    guard ending.status != 1 else { return [] }
    guard ending.status == 0 else {
      throw Failure(
        .failed,
        "\(words.map { ShellWord.quoted($0) }.joined(separator: " ")) failed, and nothing is changed",
        advice: "Correct git's configuration, or install git 2.26 or newer.")
    }
    return ending.output.utf8.split(separator: 0, omittingEmptySubsequences: false).dropLast()
      .map { String(decoding: $0, as: UTF8.self) }
  }
}

/// A helper in git's configuration.
private struct GitEntry {
  let scope: String
  let origin: String
  /// The section as it is written: `credential.URL`.
  let section: String
  let match: GitSection.Match
  let value: String

  /// Whether the setting is only for one repository.
  var isLocal: Bool { scope == "local" || scope == "worktree" }

  /// Whether the helper is this program.
  var isOwn: Bool {
    // `enroll setup` quotes a path with spaces.
    value.hasPrefix("!")
      && ["enroll credential git ", "enroll' credential git "].contains { ASCII.contains(value, $0) }
  }
}

/// The helpers that one file of git's configuration names, in their order.
private struct GitFile {
  /// The beginning of the commands that change the file.
  let words: [String]
  let entries: [GitEntry]

  /// The helpers for exactly this host.
  var present: [GitEntry] { entries.filter { $0.match == .exact } }

  private func sections(_ isWanted: (GitEntry) -> Bool) -> [String] {
    var sections: [String] = []
    for entry in present where isWanted(entry) && !sections.contains(entry.section) {
      sections.append(entry.section)
    }
    return sections
  }

  /// The commands that remove this program's helpers: one for each section, so that no helper stays alone.
  ///
  /// An empty helper before this program's helper goes, too. It stays if another helper is behind them, because it
  /// also applies to that helper. git cannot remove only one of several empty helpers, so all of them stay if the
  /// others then mean the same.
  /// - Returns: nil if the others would then mean something else.
  var removal: [[String]]? {
    var commands: [[String]] = []
    for section in sections({ $0.isOwn }) {
      let places = entries.indices.filter { entries[$0].section == section && entries[$0].match == .exact }
      let own = places.filter { entries[$0].isOwn }
      let empty = places.filter { entries[$0].value.isEmpty }
      let isBehind = places.contains { place in
        place > own[0] && !entries[place].isOwn && !entries[place].value.isEmpty
      }
      let ownEmpty = zip(places, places.dropFirst()).filter { place, next in
        !isBehind && entries[place].value.isEmpty && entries[next].isOwn
      }.map { $0.0 }
      guard ownEmpty == empty || meaning(without: own) == meaning(without: own + ownEmpty) else { return nil }
      var names: [String] = []
      for place in own where !names.contains(entries[place].value) { names.append(entries[place].value) }
      let pattern = names.map { Self.escaped($0) }.joined(separator: "|")
      let isEmptyToo = !empty.isEmpty && ownEmpty == empty
      commands.append(
        words + ["--unset-all", "\(section).helper", "^(\(pattern))\(isEmptyToo ? "?" : "")$"])
    }
    return commands
  }

  /// The commands that remove the empty helpers.
  var emptyRemoval: [[String]] {
    sections { $0.value.isEmpty }.map { words + ["--unset-all", "\($0).helper", "^$"] }
  }

  /// The helpers that the file names without some of them, after the last empty one.
  private func meaning(without places: [Int]) -> [String] {
    var helpers: [String] = []
    for (place, entry) in entries.enumerated() where entry.match != .none && !places.contains(place) {
      if entry.value.isEmpty, entry.match != .possible { helpers = [] }
      helpers.append(entry.section + "\n" + entry.value)
    }
    return helpers
  }

  /// The failure for a file whose empty helpers git cannot tell apart.
  func mixture(_ request: SetupRequest) -> Failure {
    let origin = present.first { $0.isOwn }?.origin ?? ""
    let name = origin.hasPrefix("file:") ? String(origin.dropFirst(5)) : origin
    return Failure(
      .failed,
      "\(name) has several empty helpers for \(request.host.text), and git config cannot remove one of them: "
        + "nothing is changed", advice: Advice(stringLiteral: linesByHand))
  }

  /// The advice to remove this program's lines with an editor.
  var linesByHand: String {
    let own = present.filter { $0.isOwn }.map { "helper = \(ShellWord.quoted($0.value))" }
    return "Remove these lines by hand, with the line helper = above them: \(own.joined(separator: ", "))"
  }

  /// The text as a POSIX extended regular expression.
  private static func escaped(_ text: String) -> String {
    let special = Array("\\.[]{}()*+?^$|".utf8)
    return String(
      decoding: text.utf8.flatMap { special.contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] }, as: UTF8.self)
  }
}

/// Compares the sections of git's configuration with one URL (gitcredentials(7), CONFIGURATION OPTIONS).
private struct GitSection {
  enum Match {
    case none
    /// The section has a pattern, a path or a user name, so it may apply to some questions about the host.
    case possible
    /// The section is for all hosts.
    case general
    /// The section is for exactly this host.
    case exact
  }

  private let scheme: String
  private let host: String

  init(_ url: String) {
    let parts = Self.parts(url)
    (scheme, host) = (parts.scheme ?? "", parts.host)
  }

  /// - Parameter key: `credential.helper`, or `credential.URL.helper`.
  func match(_ key: String) -> Match {
    let name = key.dropFirst("credential.".count).dropLast("helper".count)
    guard !name.isEmpty else { return .general }
    let other = Self.parts(String(name.dropLast()))
    if let named = other.scheme, named != scheme { return .none }
    if other.host.isEmpty || other.host.contains("*") { return .possible }
    guard other.host == host else { return .none }
    return other.scheme != nil && !other.isNarrow ? .exact : .possible
  }

  /// - Returns: isNarrow: whether the URL has a user name, or a path.
  private static func parts(_ url: String) -> (scheme: String?, host: String, isNarrow: Bool) {
    let text = url.lowercased()
    var scheme: String?
    var rest = text[...]
    if let (named, after) = CredentialTarget.split(text) { (scheme, rest) = (named, after) }
    let authority = rest.prefix { !"/?#".contains($0) }
    let path = rest.dropFirst(authority.count)
    var host = String(authority.split(separator: "@", omittingEmptySubsequences: false).last ?? "")
    if scheme == "https", host.hasSuffix(":443") { host.removeLast(4) }
    return (scheme, host, authority.contains("@") || !["", "/"].contains(path))
  }
}
