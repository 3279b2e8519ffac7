// A report for support, in one value without secrets (flows.md §11).

public import EnrollRules
public import EnrollSteps
public import EnrollJSON
import EnrollStore

extension Client {
  /// The report for support: versions, configuration, provider, state, expiries, clock, store, transactions, outbox and
  /// the last failures. It has no token, code, `state`, key or PIN, and nothing about the user. Sends no request.
  public func diagnostics() throws(EnrollError) -> JSONObject {
    try requireOpen()
    var facts = JSONObject([
      ("library", .string(LibraryVersion.string)), ("abi", .integer(Int64(LibraryVersion.abi))),
    ])
    for member in engine.diagnostics.diagnostics().members { facts[member.key] = member.value }
    facts["store"] = storeFacts
    return facts
  }

  /// Returns the facts that a program acts on. Sends no request.
  public func facts() throws(EnrollError) -> ClientFacts {
    try requireOpen()
    var facts = engine.diagnostics.facts()
    facts.revocationRefusal = engine.outbox.revocationRefusal
    facts.hasUnqueuedMessages = engine.outbox.hasUnqueuedMessages
    return facts
  }

  /// As ``RegistrationStep/waitingAtOtherClients()``.
  public func waitingAtOtherClients() throws(EnrollError) -> [OtherClientSignIn] {
    try requireOpen()
    return engine.registration.waitingAtOtherClients()
  }

  /// Whether this transaction ended with tokens, or whether another transaction ended with tokens while this
  /// transaction was open. Tokens from a renewal do not count.
  /// - Throws: `.notFound` for an unknown transaction; `.transactionExpired`.
  package func hasSignedIn(since transactionID: TransactionID) throws(EnrollError) -> Bool {
    try requireOpen()
    if try engine.transactions.isSuperseded(transactionID) { return true }
    if case .succeeded = try engine.transactions.transactionStatus(transactionID) { return true }
    return false
  }

  private var storeFacts: JSON {
    guard let storePath else { return .object([("kind", .string("host"))]) }
    do throws(EnrollError) {
      guard let found = try StoreDiagnosis.examine(path: storePath, keys: storeKeys) else {
        return .object([("kind", .string("directory")), ("exists", .bool(false))])
      }
      return .object([
        ("kind", .string("directory")), ("exists", .bool(true)),
        ("permissions", .string("0" + String(found.permissions, radix: 8))),
        ("keyProviders", .array(found.keyProviders.map { .string($0) })),
        ("accounts", .integer(Int64(found.accountCount))),
        ("setAside", .integer(Int64(found.setAsideCount))), ("problem", found.problem?.shown(at: nil)),
      ])
    } catch {
      return .object([("kind", .string("directory")), ("problem", error.shown(at: nil))])
    }
  }
}
