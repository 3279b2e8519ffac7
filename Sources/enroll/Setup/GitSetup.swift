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
      var plan = SetupPlan(steps: settings.removal)
      plan.steps += settings.addition
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
        let key = ShellWord.quoted("\(settings.key).helper")
        throw Failure(
          .failed,
          "git's configuration turns all helpers off for \(request.host.text), by an empty one: "
            + "nothing is changed",
          advice: "Run this, and then the command again: git config --global --unset-all \(key) '^$'")
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
      var plan = SetupPlan(steps: settings.removal)
      if settings.hasDraft {
        plan.steps.append(.run(["git", "config", "--global", "--remove-section", settings.draft]))
      }
      if let origin = settings.elsewhere {
        let name = origin.hasPrefix("file:") ? String(origin.dropFirst(5)) : origin
        let words = ["git", "config", "--file", name, "--unset-all", "\(settings.key).helper"]
        let text = "\(name) names the helper, too, and git config --global does not change that file"
        guard !plan.steps.isEmpty else {
          throw Failure(
            .failed, text,
            advice: "Remove it by hand: \(words.map { ShellWord.quoted($0) }.joined(separator: " "))")
        }
        plan.notes.append("\(text).")
      }
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
  private let url: String
  private let entries: [Entry]
  /// The helpers in the user's own file for exactly this host.
  private let present: [Entry]

  private struct Entry {
    let scope: String
    let origin: String
    /// The section as it is written: `credential.URL`.
    let section: String
    let match: GitSection.Match
    let value: String

    /// Whether the setting is only for one repository.
    var isLocal: Bool { scope == "local" || scope == "worktree" }
  }

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
    let read = { (words: [String]) throws(Failure) -> [Entry] in
      let parts = try Self.output(words)
      // Each setting has three parts: the scope, the origin, and the key and the value with a newline between them.
      return stride(from: 0, to: parts.count - 2, by: 3).map { at in
        let pair = parts[at + 2].split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        return Entry(
          scope: parts[at], origin: parts[at + 1], section: String(pair[0].dropLast(".helper".count)),
          match: section.match(String(pair[0])),
          value: pair.count > 1 ? String(pair[1]) : "")
      }
    }
    let pattern = #"^credential\.(.*\.)?helper$"#
    let list = ["--null", "--show-scope", "--show-origin", "--get-regexp"]
    entries = try read(["git", "config"] + list + [pattern])
    present = try read(["git", "config", "--global"] + list + [pattern]).filter { $0.match == .exact }
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
    entries.filter { $0.match == .exact && !$0.isLocal && !$0.value.isEmpty && !Self.isOwn($0.value) }.map {
      $0.value
    }
  }

  /// Whether somebody else's empty helper is for exactly this host.
  var isEmptied: Bool {
    present.contains { $0.value.isEmpty } && !present.contains { Self.isOwn($0.value) }
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

  /// The place, other than the user's own file, where a helper of this program is set.
  var elsewhere: String? {
    let files = present.map { $0.origin }
    return entries.first { entry in
      entry.match == .exact && Self.isOwn(entry.value) && !files.contains(entry.origin)
    }?.origin
  }

  /// A new section at the end of the file, after every other helper. Its name is changed last: if a command fails, git
  /// does not have half of the section.
  var addition: [SetupPlan.Step] {
    [
      ["--replace-all", "\(draft).helper", ""], ["--add", "\(draft).helper", helper],
      ["--rename-section", draft, key],
    ].map { .run(["git", "config", "--global"] + $0) }
  }

  /// Removes the helpers of a section in one command, so that none of them stays alone. The empty helper stays if
  /// somebody has added another helper behind it, because it also applies to that helper.
  var removal: [SetupPlan.Step] {
    var sections: [String] = []
    for entry in present where Self.isOwn(entry.value) && !sections.contains(entry.section) {
      sections.append(entry.section)
    }
    return sections.map { section in
      let entries = present.filter { $0.section == section }
      var names: [String] = []
      for entry in entries where Self.isOwn(entry.value) && !names.contains(entry.value) {
        names.append(entry.value)
      }
      let pattern = names.map { Self.escaped($0) }.joined(separator: "|")
      let behind = entries.drop { !Self.isOwn($0.value) }
      let isEmptyToo =
        entries.contains { $0.value.isEmpty }
        && behind.allSatisfy { $0.value.isEmpty || Self.isOwn($0.value) }
      return .run(
        [
          "git", "config", "--global", "--unset-all", "\(section).helper",
          "^(\(pattern))\(isEmptyToo ? "?" : "")$",
        ])
    }
  }

  /// The text as a POSIX extended regular expression.
  private static func escaped(_ text: String) -> String {
    var pattern = ""
    for letter in text {
      if "\\.[]{}()*+?^$|".contains(letter) { pattern += "\\" }
      pattern.append(letter)
    }
    return pattern
  }

  private static func isOwn(_ value: String) -> Bool {
    // `enroll setup` quotes a path with spaces.
    value.hasPrefix("!")
      && ["enroll credential git ", "enroll' credential git "].contains { ASCII.contains(value, $0) }
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
