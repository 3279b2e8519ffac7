// Facts about the outbox that this process remembers, in addition to the store.

import EnrollCrypto
import EnrollRules

/// What this process remembers about the outbox. Only the steps of the outbox change it.
struct OutboxProgress: Sendable {
  typealias Delivered = (entry: OutboxEntry, delivery: OutboxEntry.Delivery)

  private struct Fields {
    /// Messages that could not be stored in the outbox.
    var unqueued: [OutboxEntry] = []
    /// Messages of the outbox that threads of this process are sending.
    var sending: [OutboxEntry] = []
    /// The last messages that servers accepted or refused, in any thread.
    var delivered: [Delivered] = []
    /// When the first wait for a browser at the provider's logout page ends; nil while no message in the outbox waits
    /// for a browser.
    var logoutWaitEnds: Instant?
    /// Tokens of users whose browser came back from the logout page. A sign-in that another account has begun does not
    /// delay the revocation of these tokens.
    var signedOut: [Secret] = []
  }

  private let fields: Guarded<Fields>

  init(lock: any Lock) { fields = Guarded(Fields(), by: lock) }

  var unqueued: [OutboxEntry] { fields.withLock { $0.unqueued } }
  var delivered: [Delivered] { fields.withLock { $0.delivered } }
  var logoutWaitEnds: Instant? { fields.withLock { $0.logoutWaitEnds } }

  func noteLogoutWait(until end: Instant?) { fields.withLock { $0.logoutWaitEnds = end } }

  func addUnqueued(_ entries: [OutboxEntry]) { fields.withLock { $0.unqueued.add(entries) } }

  func removeUnqueued(where isRemoved: (OutboxEntry) -> Bool) {
    fields.withLock { $0.unqueued.removeAll(where: isRemoved) }
  }

  /// Replaces an entry among the messages that the store did not accept, or removes it.
  /// - Returns: false if the entry is not among these messages.
  func replaceUnqueued(_ entry: OutboxEntry, by left: OutboxEntry?) -> Bool {
    fields.withLock { fields in
      guard fields.unqueued.contains(where: { $0.isSame(as: entry) }) else { return false }
      fields.unqueued.put(left, inPlaceOf: entry)
      return true
    }
  }

  /// Marks a message as being sent by this thread.
  /// - Returns: false while another thread sends the same message.
  func beginSending(_ entry: OutboxEntry) -> Bool {
    fields.withLock { fields in
      guard !fields.sending.contains(where: { $0.isSame(as: entry) }) else { return false }
      fields.sending.append(entry)
      return true
    }
  }

  func endSending(_ entry: OutboxEntry) {
    fields.withLock { fields in fields.sending.removeAll { $0.isSame(as: entry) } }
  }

  /// Remembers the result of a delivery for other threads. If another thread of this process has sent the message of a
  /// sign-out, the sign-out reports the result of that thread.
  func note(_ delivery: OutboxEntry.Delivery, of entry: OutboxEntry) {
    switch delivery {
    case .done, .refused:
      fields.withLock { $0.delivered = $0.delivered.suffix(7) + [(entry, delivery)] }
    case .unreached, .later: break
    }
  }

  func addSignedOut(_ tokens: [Secret]) { fields.withLock { $0.signedOut += tokens } }

  /// Removes and returns the tokens of users who signed out, for one run of the delivery.
  func takeSignedOut() -> [Secret] {
    fields.withLock { fields in
      defer { fields.signedOut = [] }
      return fields.signedOut
    }
  }
}
