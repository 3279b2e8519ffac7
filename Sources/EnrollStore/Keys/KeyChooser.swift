// Picks a store's key provider: for a new store the best provider that is present, and for one that is there the provider
// that has its key. A provider that is locked is waited for, not passed over: nobody would notice that the next best one got
// the key (no silent downgrade).

public import EnrollCore
import EnrollCrypto
import EnrollPosix

/// A provider that was looked at, and what was found.
public struct KeyCandidate: Equatable, Sendable {
  public var name: String
  public var presence: KeyPresence
}

/// The chosen provider, and why.
public struct KeyDecision: Equatable, Sendable {
  /// nil where the choice waits for somebody to unlock something.
  public var provider: String?
  /// One sentence.
  public var reason: String
}

/// Providers in the order in which they are preferred.
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

  /// For a store that is new or moves.
  /// - Throws: `.storeLocked` where the best provider is locked, or the only one is absent; `.cancelled`, `.deadlineExceeded` where
  ///   the caller did not wait for its answer.
  func best() throws(EnrollError) -> any KeyProvider {
    var failure: EnrollError?
    for candidate in candidates {
      switch candidate.presence() {
      case .present: return candidate
      case .locked(let why):
        // A caller that does not wait for the answer has none.
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

  /// The decision that follows from a survey.
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

  /// Unwraps one key with whichever candidate has a slot for it.
  /// - Returns: nil where no slot is for any of them.
  /// - Throws: what the candidates threw, if none could: what waiting or unlocking would mend, before anything else.
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

  /// Why a store cannot be opened whose slots are for other providers.
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
  /// Nothing is opened or asked yet.
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
        name: SecretService.providerName, title: SecretService.title, keeper: SecretService(), random: random)
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
    case .host(let keeper):
      providers = [
        SecretStoreKeyProvider(name: "host", title: "the host's secret store", keeper: keeper, random: random)
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
