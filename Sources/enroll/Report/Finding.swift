// A finding of `enroll doctor`: good, worth knowing, or wrong; and what to do. Pure, from the library's own facts.

import EnrollCore
import EnrollJSON

struct Finding: Equatable {
  var check: String
  var verdict: Verdict
  var text: String
  var advice: Advice?

  enum Verdict: String {
    case good, warning, bad

    func sign(_ signs: Signs) -> String {
      switch self {
      case .good: signs.good
      case .warning: signs.warning
      case .bad: signs.bad
      }
    }

    var colour: Terminal.Colour {
      switch self {
      case .good: .good
      case .warning: .warning
      case .bad: .bad
      }
    }
  }

  init(_ check: String, _ verdict: Verdict, _ text: String, advice: Advice? = nil) {
    self.check = check
    self.verdict = verdict
    self.text = Shown.text(text)
    self.advice = advice
  }

  func json(_ said: Said) -> JSON {
    .object([
      ("check", .string(check)), ("verdict", .string(verdict.rawValue)), ("text", .string(text)),
      ("advice", advice.map { .string($0.text(said)) }),
    ])
  }

  // MARK: The store

  /// - Parameters:
  ///   - found: what `store.diagnose` gives.
  ///   - user: this process's.
  ///   - isConfigured: whether a sign-in can begin.
  static func store(_ found: JSON, user: UInt32, isConfigured: Bool = true) -> [Finding] {
    let path = found["store"]?.string ?? ""
    guard found["exists"]?.bool ?? false else {
      return [
        Finding(
          "store", .warning, "none yet at \(path)",
          advice: isConfigured ? "The first \(.login) makes it." : "The first sign-in makes it.")
      ]
    }
    var findings: [Finding] = []
    let owner = found["owner"]?.integer ?? -1
    let permissions = found["permissions"]?.string ?? ""
    let wrongModes = found["wrongModes"]?.array ?? []
    let isRefused = found["problem"]?["status"]?.string == "storeRefused"
    if owner != Int64(user) {
      findings.append(
        Finding(
          "store", .bad, "\(path) belongs to user \(owner), not to you (\(user))",
          advice: "Run as that user, or name another folder by --store."))
    } else if !isPrivateFolder(permissions) {
      findings.append(
        Finding(
          "store", .bad, "\(path) has the permissions \(permissions); expected 0700",
          // No command: closing a home or /tmp to others would do harm.
          advice: "Name a folder that holds the store alone, or, if this one does, give it mode 700."))
    } else if let problem = found["problem"], wrongModes.isEmpty || !isRefused {
      let isLocked = problem["status"]?.string == "storeLocked"
      findings.append(
        Finding(
          "store", .bad, problem["message"]?.string ?? "it cannot be used",
          advice: isLocked ? CommandStatus.storeLocked.advice : nil))
    } else if found["problem"] == nil {
      let count = found["accounts"]?.integer ?? 0
      findings.append(Finding("store", .good, "\(path), \(count) \(count == 1 ? "account" : "accounts")"))
    }
    return findings + modes(wrongModes, in: path)
      + files(found["files"]?.array ?? [], except: wrongModes.compactMap { $0["name"]?.string })
  }

  /// The setgid bit, which a folder has from its parent, lets nobody in.
  private static func isPrivateFolder(_ permissions: String) -> Bool {
    UInt32(permissions, radix: 8).map { $0 & 0o777 == 0o700 } ?? false
  }

  private static func modes(_ wrong: [JSON], in path: String) -> [Finding] {
    wrong.map { file in
      let name = file["name"]?.string ?? ""
      return Finding(
        "store", .bad, "\(name) has mode \(file["permissions"]?.string ?? ""); expected 0600",
        advice: "chmod 600 \(ShellWord.quoted(path + "/" + name))")
    }
  }

  /// - Parameter named: files about which the mode says why they do not open.
  private static func files(_ files: [JSON], except named: [String]) -> [Finding] {
    files.compactMap { file in
      let name = file["name"]?.string ?? ""
      if named.contains(name), file["problem"]?["status"]?.string == "storeRefused" { return nil }
      let problem = file["problem"]?["message"]?.string
      switch (file["setAsideFrom"]?.string, problem) {
      case (let original?, let problem):
        return Finding(
          "store", problem == nil ? .warning : .bad,
          "\(name) was damaged and set aside" + (problem.map { ": \($0)" } ?? ", and can be read again"),
          advice: problem == nil
            ? "Rename it to \(original) while nothing uses the store."
            : "Restore \(original) from a backup, or sign in again and remove \(name).")
      case (nil, let problem?):
        return Finding(
          "store", .bad, "\(name): \(problem)", advice: "Restore it from a backup, or sign in again.")
      case (nil, nil): return nil
      }
    }
  }

  // MARK: Keys

  /// nil if there is no store yet, and for one that cannot be read.
  static func key(_ found: JSON) -> Finding? {
    guard found["exists"]?.bool ?? false else { return nil }
    let choice = found["keyChoice"]
    let reason = choice?["reason"]?.string ?? ""
    if let owners = found["keyProviders"]?.array, !owners.isEmpty {
      return Finding("key", .good, KeyWords.list(owners))
    }
    if let problem = found["problem"]?["status"]?.string, problem != "storeLocked" { return nil }
    guard let provider = choice?["provider"]?.string else {
      return Finding("key", .bad, reason, advice: CommandStatus.storeLocked.advice)
    }
    return Finding("key", .good, "a new store's key would be in \(KeyWords.words(provider)): \(reason)")
  }

  /// The desktop's keyring, whether it is used or not.
  /// - Parameter isUsed: whether the store's key is in it.
  static func keyring(_ candidate: JSON?, isUsed: Bool) -> Finding? {
    guard let candidate else { return nil }
    let reason = candidate["reason"]?.string ?? ""
    switch candidate["presence"]?.string {
    case "present": return Finding("keyring", .good, "present and unlocked")
    case "locked":
      return Finding(
        "keyring", isUsed ? .bad : .warning, reason,
        advice: "Unlock it, for example by logging in to the desktop.")
    default:
      return Finding(
        "keyring", isUsed ? .bad : .warning, "none: \(reason)",
        advice: isUsed ? "Run in the desktop session that has it." : nil)
    }
  }

  // MARK: The provider

  /// What does not work at the provider, or only in part.
  /// - Parameters:
  ///   - check: what `provider.check` gives.
  ///   - told: an error text that is shown already.
  ///   - key: the key of the configuration about which nothing is said.
  static func announcements(_ check: JSON, besides told: String?, except key: String? = nil) -> [Finding] {
    var findings: [Finding] = []
    if let name = check["provider"]?.string {
      findings.append(
        Finding(
          "provider", .warning, "EnrollKit knows this provider as \(name)",
          advice: "Configure provider \(name), or pass --provider \(name) instead of --issuer."))
    }
    for finding in check["findings"]?.array ?? [] {
      let text = finding["text"]?.string ?? ""
      guard let verdict = finding["verdict"]?.string, verdict != "works", text != told,
        key == nil || finding["key"]?.string != key
      else { continue }
      findings.append(
        Finding(
          "provider", verdict == "fails" ? .bad : .warning, "\(subject(finding)): \(text)",
          advice: finding["advice"]?.string.map { "\($0)" }))
    }
    return findings
  }

  private static func subject(_ finding: JSON) -> String {
    switch finding["subject"]?.string {
    case "signIn": "sign-in"
    case let subject: Shown.text(subject ?? "")
    }
  }

  /// Seconds by which a device's clock may be off without anybody's noticing, and beyond which id_tokens are refused (R25).
  private static let (noticeable, tolerable): (Int64, Int64) = (60, 300)

  /// - Parameter ahead: of the provider's clock, in seconds; nil where it told no date.
  static func clock(ahead: Int64?) -> Finding {
    guard let ahead else {
      return Finding("clock", .warning, "the provider's responses have no Date to compare it with")
    }
    let words =
      abs(ahead) < 2
      ? "agrees with the provider's"
      : "\(Shown.span(seconds: abs(ahead))) \(ahead > 0 ? "ahead of" : "behind") the provider's"
    let verdict: Verdict = abs(ahead) <= noticeable ? .good : abs(ahead) <= tolerable ? .warning : .bad
    return Finding(
      "clock", verdict, words,
      advice: verdict == .good ? nil : "Set this machine's clock: timedatectl set-ntp true")
  }

  /// - Parameter hasDevices: whether the provider says that it signs in other devices.
  static func browser(_ browser: Browser, hasDevices: Bool) -> Finding {
    guard let name = browser.name else {
      return Finding(
        "browser", .warning, browser.absence ?? "none",
        advice: hasDevices ? "\(.loginByDevice) needs no browser here." : nil)
    }
    return Finding("browser", .good, name)
  }

  /// A redirect that this program cannot wait for.
  /// - Parameter isGiven: the command line names the provider.
  static func redirect(_ configuration: JSON, hasDevices: Bool, isGiven: Bool = false) -> [Finding] {
    guard let configuration = try? Configuration(json: configuration) else { return [] }
    let scheme = configuration.redirectWarning.map { [Finding("redirect", .warning, $0)] } ?? []
    guard !configuration.usesLoopbackRedirect else { return scheme }
    return [
      Finding(
        "redirect", .warning, "\(configuration.redirectURI) leads back to an app, not to this program",
        advice: hasDevices && !isGiven
          ? "Configure \(ProviderSetup.redirectURI), or sign in by \(.loginByDevice)."
          : ProviderSetup.redirectAdvice(isGiven: isGiven))
    ] + scheme
  }

  /// The last sign-in, which failed.
  static func attempt(_ attempt: LastAttempt, now: Int64) -> Finding {
    Finding(
      "last sign-in", .warning, "failed \(Shown.span(seconds: now - attempt.at)) ago: \(attempt.message)",
      advice: "\(.login) tries again.")
  }
}

/// Key providers, by the names that people know them by.
enum KeyWords {
  static func words(_ provider: String) -> String {
    switch provider {
    case "file": "a key file in the store"
    case "secret-service": "the desktop's keyring"
    case "passphrase": "a passphrase"
    default: Shown.text(provider)
    }
  }

  static func list(_ providers: [JSON]) -> String {
    let names = providers.compactMap { $0.string }.map { words($0) }
    return names.isEmpty ? "none yet" : "in " + names.joined(separator: ", ")
  }
}
