// A finding of `enroll doctor`: something that is good, a warning, or a problem, with advice. Findings are values that
// are made only from the library's facts.

import EnrollSteps
import EnrollCommands
import EnrollRules
import EnrollJSON
import EnrollStore

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
    self.text = Shown.message(text)
    self.advice = advice
  }

  func json(_ said: Said) -> JSON {
    .object([
      ("check", .string(check)), ("verdict", .string(verdict.rawValue)), ("text", .string(text)),
      ("advice", advice.map { .string($0.text(said)) }),
    ])
  }

  // MARK: The store

  /// The findings about the store.
  /// - Parameters:
  ///   - found: nil if there is no store.
  ///   - path: the directory of the store.
  ///   - user: the user id of this process.
  ///   - isConfigured: whether a sign-in can begin.
  ///   - missingParent: the folder that must hold the store, if it does not exist.
  static func store(
    _ found: StoreDiagnosis?, at path: String, user: UInt32, isConfigured: Bool = true,
    missingParent: String? = nil
  ) -> [Finding] {
    guard let found else {
      if let missingParent {
        return [
          Finding(
            "store", .bad, "none at \(path), and the folder \(missingParent) does not exist",
            advice: "Make that folder, or name another store by --store.")
        ]
      }
      return [
        Finding(
          "store", .warning, "none yet at \(path)",
          advice: isConfigured ? "The first \(.login) makes it." : "The first sign-in makes it.")
      ]
    }
    var findings: [Finding] = []
    if found.owner != user {
      findings.append(
        Finding(
          "store", .bad, "\(path) belongs to user \(found.owner), not to you (\(user))",
          advice: "Run as that user, or name another folder by --store."))
    } else if !isPrivateFolder(found.permissions) {
      findings.append(
        Finding(
          "store", .bad,
          "\(path) has the permissions \(StoreDiagnosis.octal(found.permissions)); expected 0700",
          // No command is suggested: changing the mode of a home directory or /tmp would do harm.
          advice: "Name a folder that holds the store alone, or, if this one does, give it mode 700."))
    } else if let problem = found.problem {
      // A file with the wrong mode has its own finding.
      if found.wrongModes.isEmpty || problem.code != .storeRefused {
        findings.append(
          Finding(
            "store", .bad, problem.message,
            advice: problem.code == .storeLocked && !Failure.isFileMissing(problem)
              ? CommandStatus.storeLocked.advice : nil))
      }
    } else {
      let count = found.accountCount
      findings.append(Finding("store", .good, "\(path), \(count) \(count == 1 ? "account" : "accounts")"))
    }
    return findings + modes(found.wrongModes, in: path)
      + files(found.files, except: found.wrongModes.map { $0.name })
  }

  /// Whether only the owner has access to the folder. The setgid bit, which a directory inherits from its parent, is
  /// ignored, because it gives nobody access.
  private static func isPrivateFolder(_ permissions: UInt32) -> Bool { permissions & 0o777 == 0o700 }

  private static func modes(_ wrong: [StoreDiagnosis.WrongMode], in path: String) -> [Finding] {
    wrong.map { file in
      Finding(
        "store", .bad, "\(file.name) has mode \(StoreDiagnosis.octal(file.permissions)); expected 0600",
        advice: "chmod 600 \(ShellWord.quoted(path + "/" + file.name))")
    }
  }

  /// The findings about files that cannot be opened.
  /// - Parameter named: files that another finding already names, because their wrong mode is why they cannot be
  ///   opened.
  private static func files(_ files: [StoredFile], except named: [String]) -> [Finding] {
    files.compactMap { file in
      let name = file.name
      if named.contains(name), file.problem?.code == .storeRefused { return nil }
      let problem = file.problem?.message
      switch (file.originalName, problem) {
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

  /// The finding about the store's key; nil if there is no diagnosis, or if the store cannot be read.
  static func key(_ found: StoreDiagnosis?) -> Finding? {
    guard let found else { return nil }
    guard found.keyProviders.isEmpty else { return Finding("key", .good, KeyWords.list(found.keyProviders)) }
    if let problem = found.problem, problem.code != .storeLocked { return nil }
    let reason = found.keyDecision?.reason ?? ""
    guard let provider = found.keyDecision?.provider else {
      return Finding("key", .bad, reason, advice: CommandStatus.storeLocked.advice)
    }
    return Finding("key", .good, "a new store's key would be in \(KeyWords.words(provider)): \(reason)")
  }

  /// The finding about the desktop's keyring, whether the keyring is used or not; nil if it was not examined.
  static func keyring(in found: StoreDiagnosis?) -> Finding? {
    guard let found, found.keyDecision != nil,
      let candidate = found.keyCandidates.first(where: { $0.name == SecretService.providerName })
    else { return nil }
    return keyring(
      candidate.presence, isUsed: found.keyProviders.contains(SecretService.providerName))
  }

  /// The finding about the desktop's keyring.
  /// - Parameter isUsed: whether the store's key is in the keyring.
  static func keyring(_ presence: KeyPresence, isUsed: Bool) -> Finding {
    switch presence {
    case .present: Finding("keyring", .good, "present and unlocked")
    case .locked(let reason):
      Finding(
        "keyring", isUsed ? .bad : .warning, reason,
        advice: "Unlock it, for example by logging in to the desktop.")
    case .absent(let reason):
      Finding(
        "keyring", isUsed ? .bad : .warning, "none: \(reason)",
        advice: isUsed ? "Run in the desktop session that has it." : nil)
    }
  }

  // MARK: The provider

  /// The findings about features that do not work at the provider, or that work only in part.
  /// - Parameters:
  ///   - told: an error text that is already shown. The finding with this text is left out.
  ///   - key: the key of the configuration whose findings are left out.
  static func announcements(
    _ check: ProviderCheck, besides told: String?, except key: String? = nil
  ) -> [Finding] {
    var findings: [Finding] = []
    if let name = check.preset {
      findings.append(
        Finding(
          "provider", .warning, "EnrollKit knows this provider as \(name)",
          advice: "Configure provider \(name), or pass --provider \(name) instead of --issuer."))
    }
    for finding in check.findings where finding.text != told && (key == nil || finding.key != key) {
      let verdict: Verdict
      switch finding.verdict {
      case .works: continue
      case .limited: verdict = .warning
      case .fails: verdict = .bad
      }
      findings.append(
        Finding(
          "provider", verdict, "\(subject(finding)): \(finding.text)", advice: advice(finding)))
    }
    return findings
  }

  /// The advice of the finding with this text; nil if there is no such advice.
  static func advice(about text: String, in check: ProviderCheck) -> Advice? {
    check.findings.first { $0.text == text }.flatMap { advice($0) }
  }

  /// The finding's advice, with the option that sets its key.
  private static func advice(_ finding: ProviderFinding) -> Advice? {
    let key = finding.key ?? ""
    let option =
      key == "clientSecret"
      ? "--client-secret-file names the file with the secret."
      : ConfigurationSetting.accepts(key) ? "--set \(key)=VALUE changes it at the next sign-in." : ""
    let all = [finding.advice ?? "", option].filter { !$0.isEmpty }.joined(separator: " ")
    return all.isEmpty ? nil : "\(all)"
  }

  private static func subject(_ finding: ProviderFinding) -> String {
    switch finding.subject {
    case .signIn: "sign-in"
    case .scopes, .profile, .renewal, .logout, .device: finding.subject.rawValue
    }
  }

  /// The smallest difference of the clocks that is reported, and the smallest difference for which id_tokens are
  /// refused (R25), in seconds.
  private static let (noticeable, tolerable): (Int64, Int64) = (60, 300)

  /// The finding about the difference of the clocks.
  /// - Parameter ahead: how many seconds this machine's clock is ahead of the provider's clock; nil if the provider's
  ///   responses have no date.
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

  /// The finding about the browser.
  /// - Parameter hasDevices: whether the provider announces the device grant.
  static func browser(_ browser: Browser, hasDevices: Bool) -> Finding {
    guard let name = browser.name else {
      return Finding(
        "browser", .warning, browser.absence ?? "none",
        advice: hasDevices ? "\(.loginByDevice) needs no browser here." : nil)
    }
    return Finding("browser", .good, name)
  }

  /// The finding for a redirect URI at which this program cannot listen.
  /// - Parameter isGiven: whether the command line names the provider.
  static func redirect(
    _ document: ConfigurationDocument, hasDevices: Bool, isGiven: Bool = false
  ) -> [Finding] {
    guard let configuration = try? document.checked() else { return [] }
    let scheme = configuration.redirectWarning.map { [Finding("redirect", .warning, $0)] } ?? []
    guard !configuration.usesLoopbackRedirect else { return scheme }
    return [
      Finding(
        "redirect", .warning, "\(configuration.redirectURI) leads back to an app, not to this program",
        advice: hasDevices && !isGiven
          ? "Set it by --set redirectUri=\(ProviderSetup.redirectURI), or sign in by \(.loginByDevice)."
          : ProviderSetup.redirectAdvice(isGiven: isGiven))
    ] + scheme
  }

  /// The finding about a last sign-in that failed.
  static func attempt(_ attempt: LastAttempt, now: Int64) -> Finding {
    Finding(
      "last sign-in", .warning, "failed \(Shown.span(seconds: now - attempt.at)) ago: \(attempt.message)",
      advice: "\(.login) tries again.")
  }
}

/// The names of key providers, in words for people.
enum KeyWords {
  static func words(_ provider: String) -> String {
    switch provider {
    case KeyFileProvider.providerName: "a key file in the store"
    case SecretService.providerName: "the desktop's keyring"
    case PassphraseKeyProvider.providerName: "a passphrase"
    default: Shown.text(provider)
    }
  }

  static func list(_ providers: [String]) -> String {
    let names = providers.map { words($0) }
    return names.isEmpty ? "none yet" : "in " + names.joined(separator: ", ")
  }
}
