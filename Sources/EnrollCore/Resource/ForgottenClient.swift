// A provider that refuses a client which EnrollKit registered there: it has forgotten the client, or taken its secret away.
// Another registration helps (flows.md §12), and no look at the configuration does.

import EnrollCrypto

extension Engine {
  /// Whether the configuration's client is the one that was registered for its resource.
  var hasRegisteredClient: Bool {
    guard let resource = configuration.resource else { return false }
    let name = RegistrationName(
      issuer: configuration.issuer, redirectURI: configuration.redirectURI, resource: resource,
      trust: transport.trust)
    do throws(EnrollError) {
      return try store.registeredClient(name)?.clientID == configuration.clientID
    } catch {
      return false
    }
  }

  /// The error, with what helps if the provider refuses a registered client.
  func withRegistration(_ error: EnrollError) -> EnrollError {
    // The second code is that of a refusal which is remembered.
    guard error.code == .oauth || error.code == .rejected, error.refusesClient, hasRegisteredClient else {
      return error
    }
    return error.withoutSecretHint.askingForRegistration()
  }
}
