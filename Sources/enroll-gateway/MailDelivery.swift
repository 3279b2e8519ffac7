// Mails leave the outbox on a thread of their own, and passwords are hashed a few at a time.

import EnrollCore
import EnrollGateway
import EnrollPosix

/// Sends what is in the outbox: at once when this process has posted something, else every few seconds, for mails of other
/// replicas and those that are due again.
final class MailDelivery: @unchecked Sendable {
  // Unchecked: the flags are touched with `condition` held only.
  private let condition = Condition()
  private var isWoken = false
  private var isEnded = false
  /// Raised where no thread runs.
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

  /// Ends the thread. A mail that is on its way is waited for: one that the server took and the outbox still has would come twice.
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
    let isStarted = PlainThread.start {
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

  /// Waits for something to do.
  /// - Returns: false at the end.
  private func next() -> Bool {
    condition.lock()
    defer { condition.unlock() }
    if !isWoken, !isEnded { condition.wait(atMost: Self.pauseNanoseconds) }
    isWoken = false
    return !isEnded
  }
}

/// Four hashes at once: 128 MiB. Who waits five seconds for a place is told to come back.
final class PasswordGate: WorkGate, @unchecked Sendable {
  // Unchecked: `free` is touched with `condition` held only.
  private let condition = Condition()
  private var free = 4
  private static let patienceNanoseconds: Int64 = 5_000_000_000

  func enter() -> Bool {
    condition.lock()
    defer { condition.unlock() }
    let end = SystemClock.monotonic() + Self.patienceNanoseconds
    while free == 0 {
      let left = end - SystemClock.monotonic()
      guard left > 0 else { return false }
      condition.wait(atMost: left)
    }
    free -= 1
    return true
  }

  func leave() {
    condition.lock()
    free += 1
    condition.wakeOne()
    condition.unlock()
  }
}
