// The daemon's life: it reads until the input ends or no host reads the answers, then completes the requests that are
// running (R39).

import CPosix
import EnrollRules
import EnrollHost
import EnrollJSON
import EnrollPosix

enum Daemon {
  /// - Returns: the exit status: 0 after the end of the input or a signal; 1 if the host's messages could not be read
  ///   or separated, the host did not read the answers, or the answers could not be written.
  static func serve(_ log: Log) -> Int32 {
    do throws(EnrollError) { try ProcessMemory.hide() } catch { log.warning(error.message) }
    let signals = TerminationSignals.prepare()
    let waker = enroll_posix_event()
    let connection = HostConnection(log: log, waker: waker)
    let input = Input(signals: signals, waker: waker)
    let status = read(input, connection, log)
    finish(input, connection)
    return connection.hasFailed ? 1 : status
  }

  private static func read(_ input: Input, _ connection: HostConnection, _ log: Log) -> Int32 {
    while true {
      switch input.next() {
      case .bytes(let count):
        guard connection.read(UnsafeRawBufferPointer(rebasing: input.buffer[..<count])) else {
          connection.server.endHostRequests()
          return 1
        }
      case .end:
        log.info("the input has ended")
        let isUnderstood = connection.readEnd()
        connection.server.cancelWaits()
        return isUnderstood ? 0 : 1
      case .unreadable(let number):
        log.error("standard input cannot be read: \(SystemError.message(number))")
        connection.server.cancelWaits()
        return 1
      case .signal:
        log.info("a signal ends the daemon")
        input.readSignal()
        connection.server.cancelAll()
        readAnswers(input, connection)
        return 0
      case .wake:
        log.info("the host no longer reads the output")
        connection.server.cancelAll()
        connection.server.endHostRequests()
        return 0
      }
    }
  }

  /// Reads the host's answers until the input ends, after a signal: a running renewal may need these answers.
  private static func readAnswers(_ input: Input, _ connection: HostConnection) {
    connection.server.ignoreRequests()
    let isReading = WorkerPool(threads: 1).submit {
      while let count = input.more() {
        guard connection.read(UnsafeRawBufferPointer(rebasing: input.buffer[..<count])) else { break }
      }
      connection.server.endHostRequests()
    }
    if !isReading { connection.server.endHostRequests() }
  }

  /// How long the process may continue after it was asked to end: the timeout of one HTTP request.
  private static let longestSeconds = HTTPRequest.totalTimeoutSeconds
  /// How long running requests may continue after the end of the input. They are cancelled well before the process
  /// must end, so that there is still time for the answer to a refresh token that was sent late.
  private static let answeringSeconds: Int64 = 20

  /// Lets running requests get their answers, and saves renewals that were sent, within half a minute. If the host
  /// exits meanwhile, or a signal arrives, the waits end, but the renewals continue.
  private static func finish(_ input: Input, _ connection: HostConnection) {
    let begin = SystemClock.now()
    let timeout = begin.advanced(bySeconds: answeringSeconds)
    while !connection.server.isIdle(withinNanoseconds: 20_000_000) {
      if timeout < SystemClock.now() { connection.server.cancelAll() }
      if input.hasSignal {
        input.readSignal()
        connection.server.cancelAll()
      }
      if connection.output.isClosed {
        connection.server.cancelAll()
        connection.server.endHostRequests()
      }
    }
    let left = begin.advanced(bySeconds: longestSeconds).since(SystemClock.now()) / 1_000_000_000
    connection.server.finish(within: max(1, left))
    connection.output.finish()
  }
}
