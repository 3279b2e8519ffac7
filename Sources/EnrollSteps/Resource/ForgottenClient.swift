// Detects that a provider refuses a client that EnrollKit registered there, because the provider has deleted the client
// or replaced its secret. The remedy is another registration (flows.md §12); the configuration is not at fault.

import EnrollCrypto
import EnrollRules

extension EngineContext {
  /// The registered client of the configuration's resource; nil unless the configuration names this registered client
  /// or a client that it replaced.
  var registeredClient: RegisteredClient? {
    guard let resource = configuration.resourceIdentifier else { return nil }
    let name = RegistrationName(
      issuer: configuration.issuer, redirectURI: configuration.redirectURI, resource: resource,
      trust: transport.trust)
    guard let client = try? store.registeredClient(name), client.isOrReplaced(configuration.clientID) else {
      return nil
    }
    return client
  }

  /// The error; if it says that the provider refuses a registered client, the remedy is added.
  func withRegistration(_ error: EnrollError) -> EnrollError {
    // Both codes must be checked: `.rejected` is the code of a stored refusal that is reported again.
    guard error.code == .oauth || error.code == .rejected, error.refusesClient, registeredClient != nil else {
      return error
    }
    return error.withoutSecretHint.askingForRegistration()
  }
}

extension RegisteredClient {
  /// Whether the server refused this client at the last renewal of a session in the store. False if no record can be
  /// read.
  /// - Parameter configuration: a configuration with this client.
  func isForgotten(by store: any TokenStore, as configuration: Configuration) -> Bool {
    let realm = AccountName.default.belonging(to: configuration).realm
    guard let accounts = try? store.accounts() else { return false }
    return accounts.contains { account in
      guard ASCII.equals(account.realm, realm), let record = try? store.read(account) else { return false }
      return isForgotten(record)
    }
  }

  /// Whether the server refused this client at the last renewal of the session. A refusal from before this client's
  /// registration does not count, because a server may issue the same client id again.
  func isForgotten(_ record: AccountRecord) -> Bool {
    guard let refusal = record.refusal, let code = refusal.oauthError else { return false }
    return EnrollError.refusesClient(code) && refusal.began.map { $0 >= registeredAt } ?? true
  }
}
