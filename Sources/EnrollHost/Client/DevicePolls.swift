// Polls of device transactions (RFC 8628 §3.4). Each poll runs on its own thread, so that a caller can stop waiting at
// any time while the answer, which may have the tokens, is still stored.

import EnrollRules
import EnrollSteps
import EnrollPosix

/// The transactions that are being polled, and the errors of their last polls.
struct DevicePolls: Sendable {
  private var underWay: [TransactionID] = []
  private var failures: [(transactionID: TransactionID, error: EnrollError)] = []

  func isUnderWay(_ transactionID: TransactionID) -> Bool {
    underWay.contains(transactionID)
  }

  /// Notes that a poll begins.
  /// - Returns: false if a poll of this transaction was already running.
  mutating func begin(_ transactionID: TransactionID) -> Bool {
    guard !isUnderWay(transactionID) else { return false }
    underWay.append(transactionID)
    return true
  }

  mutating func end(_ transactionID: TransactionID, _ failure: EnrollError?) {
    underWay.removeAll { $0 == transactionID }
    if let failure { failures.append((transactionID, failure)) }
  }

  mutating func takeFailure(_ transactionID: TransactionID) -> EnrollError? {
    guard let index = failures.firstIndex(where: { $0.transactionID == transactionID }) else {
      return nil
    }
    return failures.remove(at: index).error
  }
}

extension Client {
  /// Starts a poll if one is due. The caller learns the poll's result when it checks the transaction again.
  /// - Throws: the error that ended the last poll (``DeviceStep/pollDevice(_:)``); `.busy` if no thread could be started.
  func pollDevice(_ transactionID: TransactionID) throws(EnrollError) {
    if let failure = devicePolls.withLock({ $0.takeFailure(transactionID) }) { throw failure }
    guard try engine.device.isDevicePollDue(transactionID), devicePolls.withLock({ $0.begin(transactionID) })
    else {
      return
    }
    let isStarted = perform { [self] in
      var failure: EnrollError?
      do throws(EnrollError) {
        if let settlement = try polled(transactionID) { _ = try? remember(settlement) }
      } catch {
        failure = error
      }
      devicePolls.withLock { $0.end(transactionID, failure) }
      hub.announceChange()
    }
    guard isStarted else {
      devicePolls.withLock { $0.end(transactionID, nil) }
      throw EnrollError.noThread(" for the device sign-in")
    }
  }
}
