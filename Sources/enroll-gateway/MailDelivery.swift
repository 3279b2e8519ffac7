// Sends e-mails from the outbox on a separate thread, and limits concurrent password hashes.

import EnrollSteps
import EnrollGateway
import EnrollPosix

/// Sends the e-mails in the outbox: at once when this process has queued an e-mail, and every five seconds to find
/// e-mails of other replicas and to repeat failed attempts.
final class MailDelivery: @unchecked Sendable {
  // Unchecked: the flags are touched only with `condition` locked.
  private let condition = Condition()
  private var isWoken = false
  private var isEnded = false
  /// True while no thread runs.
  private var isIdle = true
  private let log: any LogHandler

  private static let pauseNanoseconds: Int64 = 5_000_000_000

  init(log: any LogHandler) { self.log = log }

  func wake() {
    condition.lock()
    isWoken = true
    condition.wakeOne()
    condition.unlock()
  }

  /// Ends the thread, but lets it finish sending the current e-mail. Otherwise the mail server might accept the e-mail
  /// although it stays in the outbox, and the e-mail would be sent twice.
  func stop(withinSeconds seconds: Int64) {
    condition.lock()
    defer { condition.unlock() }
    isEnded = true
    condition.wakeAll()
    let end = SystemClock.monotonic() + seconds * 1_000_000_000
    while !isIdle {
      let left = end - SystemClock.monotonic()
      guard left > 0 else { return }
      condition.wait(atMost: left)
    }
  }

  private func setIdle(_ isIdle: Bool) {
    condition.lock()
    self.isIdle = isIdle
    condition.wakeAll()
    condition.unlock()
  }

  func start(_ outbox: Outbox, by transport: any MailTransport) {
    setIdle(false)
    let isStarted = BackgroundThread.start {
      defer { self.setIdle(true) }
      while self.next() {
        do throws(StoreFailure) {
          while try outbox.send(by: transport) > 0, !self.hasEnded {}
        } catch {
          self.log.write(.warning, "outbox: \(error.message)")
        }
      }
    }
    guard !isStarted else { return }
    setIdle(true)
    log.write(
      .error, "no thread could be started that sends mails: they wait for another replica or the next start"
    )
  }

  private var hasEnded: Bool {
    condition.lock()
    defer { condition.unlock() }
    return isEnded
  }

  /// Waits for work.
  /// - Returns: false if the thread has to end.
  private func next() -> Bool {
    condition.lock()
    defer { condition.unlock() }
    if !isWoken, !isEnded { condition.wait(atMost: Self.pauseNanoseconds) }
    isWoken = false
    return !isEnded
  }
}

/// Allows at most four password hashes at the same time; together they need 128 MiB. A request that waits five seconds
/// for a slot is refused.
final class PasswordGate: WorkGate, @unchecked Sendable {
  // Unchecked: `free` is touched only with `condition` locked.
  private let condition = Condition()
  private var free = 4
  private static let timeoutNanoseconds: Int64 = 5_000_000_000

  func acquire() -> Bool {
    condition.lock()
    defer { condition.unlock() }
    let end = SystemClock.monotonic() + Self.timeoutNanoseconds
    while free == 0 {
      let left = end - SystemClock.monotonic()
      guard left > 0 else { return false }
      condition.wait(atMost: left)
    }
    free -= 1
    return true
  }

  func release() {
    condition.lock()
    free += 1
    condition.wakeOne()
    condition.unlock()
  }
}
