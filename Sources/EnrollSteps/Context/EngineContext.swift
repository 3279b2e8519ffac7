// The constants that every step of an engine may use. Values that change are in the parts of the state (such as
// StateMachine); a step has only the parts that it changes.

package import EnrollCrypto
package import EnrollRules

/// The configuration, the account and the interfaces of one engine. This is a class that all steps of the engine
/// share, because a copy for each step would be large.
package final class EngineContext: Sendable {
  package let configuration: Configuration
  package let account: AccountName
  package let platform: Platform
  /// The identity with which this engine queues and sends entries of the outbox.
  let sender: OutboxEntry.Sender
  package let transport: any Transport
  let store: any TokenStore
  let clock: any Clock
  let random: any RandomSource
  package let provider: ProviderDirectory
  /// The cancellation that comes when the client is closed: after that no request is sent, and all waits end.
  let closing: (any Cancellation)?
  /// Reads the client's own key; nil if the client has no key.
  let clientKey: ClientKey.Reader?
  let events: EngineEvents

  init(
    configuration: Configuration, account: AccountName, platform: Platform, sender: OutboxEntry.Sender,
    transport: any Transport, store: any TokenStore, clock: any Clock, random: any RandomSource,
    provider: ProviderDirectory, closing: (any Cancellation)?, clientKey: ClientKey.Reader?,
    events: EngineEvents
  ) {
    self.configuration = configuration
    self.account = account
    self.platform = platform
    self.sender = sender
    self.transport = transport
    self.store = store
    self.clock = clock
    self.random = random
    self.provider = provider
    self.closing = closing
    self.clientKey = clientKey
    self.events = events
  }

  /// Requires that the client is not being closed.
  /// - Throws: `.cancelled` once the client is being closed.
  func requireNotClosing() throws(EnrollError) {
    if closing?.isCancelled ?? false { throw EnrollError(.cancelled, "the client was closed") }
  }

  /// The algorithms with which the provider's id_tokens may be signed.
  package var idTokenAlgorithms: [SignatureAlgorithm] {
    configuration.idTokenAlgorithms(at: provider.cachedMetadata)
  }

  /// Requires a native platform.
  /// - Throws: `.illegalState` on a platform that is not native: there is no browser to open.
  func requireNative() throws(EnrollError) {
    guard isNative else {
      throw EnrollError(
        .illegalState, "registration needs a native platform, the host declared this one non-native")
    }
  }

  /// Whether the states `valid` (B) and `renewed` (C) require the registration check.
  var requiresCheck: Bool { configuration.requireCheck && configuration.registrationCheckURI != nil }

  var isNative: Bool { platform.isNative && configuration.isNative }

  /// Whether the client has neither a secret nor a key.
  var isPublicClient: Bool { configuration.clientSecret == nil && clientKey == nil }

  /// Whether this client queued the entry, and may therefore send it.
  func isOurs(_ entry: OutboxEntry) -> Bool { entry.belongs(toIssuer: configuration.issuer, sender) }
}
