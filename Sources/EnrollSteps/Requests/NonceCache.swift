// The nonces of servers that this process knows (RFC 9449 §8).

import EnrollRules

/// The nonces of this process. Responses of servers change the nonces, and so do calls with which the host requests
/// proofs.
struct NonceCache: Sendable {
  private struct Fields {
    var all = DPoPNonces()
    /// The nonces in `all` that the provider sent. They are stored in the record.
    var ofProvider = DPoPNonces()
  }

  private let fields: Guarded<Fields>

  init(lock: any Lock) { fields = Guarded(Fields(), by: lock) }

  var ofProvider: DPoPNonces { fields.withLock { $0.ofProvider } }

  subscript(origin: String) -> DPoPNonces.Entry? { fields.withLock { $0.all[origin] } }

  /// Remembers the nonce of a response.
  func receive(_ entry: DPoPNonces.Entry) {
    fields.withLock {
      $0.all.remember(entry)
      $0.ofProvider.remember(entry)
    }
  }

  /// Remembers a nonce that a resource server sent and that the host passed on.
  func note(_ entry: DPoPNonces.Entry) { fields.withLock { $0.all.remember(entry) } }
}
