// Chooses a store's key provider: for a new store the best available provider, for an existing store the provider that
// has its key. A locked provider is an error and is not skipped: otherwise the key would silently go to a weaker
// provider.

import EnrollRules
public import EnrollSteps
import EnrollCrypto
import EnrollPosix

/// A key provider that was examined, and the result of the examination.
public struct KeyCandidate: Equatable, Sendable {
  public var name: String
  public var presence: KeyPresence
}

/// The chosen provider, and the reason.
public struct KeyDecision: Equatable, Sendable {
  /// The chosen provider; nil if no provider can be chosen, because a provider is locked, or no provider is present.
  public var provider: String?
  /// The reason for the choice, as one sentence.
  public var reason: String
}

/// Key providers, the preferred one first.
final class KeyChooser: Sendable {
  let candidates: [any KeyProvider]
  private let isAutomatic: Bool

  init(_ candidates: [any KeyProvider], isAutomatic: Bool) {
    self.candidates = candidates
    self.isAutomatic = isAutomatic
  }

  func survey() -> [KeyCandidate] {
    candidates.map { KeyCandidate(name: $0.name, presence: $0.presence()) }
  }

  /// The provider for a new store, or for a store that changes its provider.
  /// - Throws: `.storeLocked` if the best provider is locked, or if no provider is present; `.cancelled`,
  ///   `.deadlineExceeded` if the call ended before the provider answered.
  func best() throws(EnrollError) -> any KeyProvider {
    var failure: EnrollError?
    for candidate in candidates {
      switch candidate.presence() {
      case .present: return candidate
      case .locked(let why):
        // The call may have been cancelled or timed out before the provider answered.
        try CallTimeout.check("while the key provider \(candidate.name) was asked")
        let advice = isAutomatic ? "; or choose another key provider" : ""
        throw EnrollError(.storeLocked, why + advice, field: "keys")
      case .absent(let why):
        failure =
          failure ?? EnrollError(.storeLocked, "the key provider \(candidate.name): \(why)", field: "keys")
      }
    }
    throw failure ?? EnrollError(.invalidArgument, "no key provider was given", field: "keys")
  }

  /// The choice that follows from the survey.
  func decision(_ survey: [KeyCandidate]) -> KeyDecision {
    guard isAutomatic else {
      return KeyDecision(provider: candidates.first?.name, reason: "it was chosen by the program or its user")
    }
    var passed: [String] = []
    for candidate in survey {
      switch candidate.presence {
      case .present:
        let why = passed.isEmpty ? "" : " (" + passed.joined(separator: "; ") + ")"
        return KeyDecision(provider: candidate.name, reason: "the best that is available" + why)
      case .locked(let why): return KeyDecision(provider: nil, reason: candidate.name + " is locked: " + why)
      case .absent(let why): passed.append("no " + candidate.name + ": " + why)
      }
    }
    return KeyDecision(provider: nil, reason: "none is present: " + passed.joined(separator: "; "))
  }

  /// Unwraps one key with the first candidate that can open a slot of this key.
  /// - Returns: the key; nil if no slot belongs to a candidate.
  /// - Throws: if every attempt failed, the first error; but `.storeLocked` has precedence, because the user can
  ///   unlock that provider.
  func open(_ keyID: [UInt8], in file: KeysFile) throws(EnrollError) -> Secret? {
    var failure: EnrollError?
    for candidate in candidates {
      for slot in file.slots where slot.keyID == keyID && ASCII.equals(slot.provider, candidate.name) {
        do throws(EnrollError) {
          return try candidate.unwrap(slot.wrapped, slot: file.slot(keyID))
        } catch {
          if failure == nil || (failure?.code != .storeLocked && error.code == .storeLocked) {
            failure = error
          }
        }
      }
    }
    if let failure { throw failure }
    return nil
  }

  /// The error for a store whose slots are all for other providers.
  func mismatch(_ file: KeysFile) -> EnrollError {
    var owners: [String] = []
    for slot in file.slots where !owners.contains(where: { ASCII.equals($0, slot.provider) }) {
      owners.append(slot.provider)
    }
    let own = candidates.map { $0.name }.joined(separator: ", ")
    return EnrollError(
      .storeKey,
      "the store's key is kept by \(owners.joined(separator: ", ")), this program looks for it with \(own): "
        + "choose that key provider, or move the store",
      field: "keys")
  }
}

extension KeyPlan {
  /// Checks the plan. This does not open a provider yet.
  /// - Throws: `.invalidArgument`.
  func chooser(
    forStoreAt folder: String, random: any RandomSource, system: any FileSystem
  ) throws(EnrollError) -> KeyChooser {
    guard (0...KeyPlan.longestSessionSeconds).contains(sessionCacheSeconds) else {
      throw EnrollError(
        .invalidArgument,
        "a key is remembered for 0 to \(KeyPlan.longestSessionSeconds) seconds, not \(sessionCacheSeconds)",
        field: "keys")
    }
    func file(_ path: String?) throws(EnrollError) -> any KeyProvider {
      try KeyFileProvider(
        path: path ?? folder + "/key", isShared: path != nil, random: random, system: system)
    }
    func keyring() -> any KeyProvider {
      SecretStoreKeyProvider(
        name: SecretService.providerName, title: SecretService.title, store: SecretService(), random: random)
    }
    let providers: [any KeyProvider]
    var isAutomatic = false
    switch provider {
    case .automatic:
      isAutomatic = true
      let typed: any KeyProvider = PassphraseKeyProvider(passphrase, random: random)
      providers = [typed, keyring(), try file(nil)]
    case .file(let path): providers = [try file(path)]
    case .secretService: providers = [keyring()]
    case .passphrase: providers = [PassphraseKeyProvider(passphrase, random: random)]
    case .host(let store):
      providers = [
        SecretStoreKeyProvider(name: "host", title: "the host's secret store", store: store, random: random)
      ]
    case .custom(let own): providers = [own]
    }
    return KeyChooser(remembering(providers), isAutomatic: isAutomatic)
  }

  private func remembering(_ providers: [any KeyProvider]) -> [any KeyProvider] {
    guard sessionCacheSeconds > 0 else { return providers }
    let memory = KernelKeyring()
    var cached: [any KeyProvider] = []
    for provider in providers {
      cached.append(SessionKeyCache(provider, in: memory, seconds: sessionCacheSeconds))
    }
    return cached
  }
}
