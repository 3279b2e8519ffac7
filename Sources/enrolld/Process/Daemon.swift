// The daemon's life: read, until there is nothing to read or nobody to answer; then finish what was begun (R39).

import CPosix
import EnrollCore
import EnrollHost
import EnrollJSON
import EnrollPosix

enum Daemon {
  /// - Returns: the exit status: 0 after the end of the input or a signal, 1 when the host's messages could not be read or
  ///   told apart, it did not read the answers, or they could not be written.
  static func serve(_ log: Log) -> Int32 {
    do throws(EnrollError) { try ProcessMemory.hide() } catch { log.warning(error.message) }
    let signals = EndingSignals.prepare()
    let waker = enroll_posix_event()
    let conversation = Conversation(log: log, waker: waker)
    let input = Input(signals: signals, waker: waker)
    let status = read(input, conversation, log)
    finish(input, conversation)
    return conversation.hasFailed ? 1 : status
  }

  private static func read(_ input: Input, _ conversation: Conversation, _ log: Log) -> Int32 {
    while true {
      switch input.next() {
      case .bytes(let count):
        guard conversation.read(UnsafeRawBufferPointer(rebasing: input.buffer[..<count])) else {
          conversation.server.giveUpHost()
          return 1
        }
      case .end:
        log.info("the input has ended")
        let isUnderstood = conversation.readEnd()
        conversation.server.giveUpWaiting()
        return isUnderstood ? 0 : 1
      case .unreadable(let number):
        log.error("standard input cannot be read: \(SystemError.words(number))")
        conversation.server.giveUpWaiting()
        return 1
      case .signal:
        log.info("a signal ends the daemon")
        input.takeSignal()
        conversation.server.giveUpAll()
        takeAnswers(input, conversation)
        return 0
      case .wake:
        log.info("the host no longer reads the output")
        conversation.server.giveUpAll()
        conversation.server.giveUpHost()
        return 0
      }
    }
  }

  /// After a signal: a renewal under way may need the host, which goes on answering until the end.
  private static func takeAnswers(_ input: Input, _ conversation: Conversation) {
    conversation.server.takeAnswersOnly()
    let isReading = WorkerPool(threads: 1).submit {
      while let count = input.more() {
        guard conversation.read(UnsafeRawBufferPointer(rebasing: input.buffer[..<count])) else { break }
      }
      conversation.server.giveUpHost()
    }
    if !isReading { conversation.server.giveUpHost() }
  }

  /// How long the daemon goes on at most once it is asked to end: as long as one request may take.
  private static let longestSeconds = HTTPRequest.totalTimeoutSeconds
  /// How long requests under way may go on to their answers after the end of the input; then they are given up, so that
  /// a refresh token which was sent late still has a while to be answered.
  private static let answeringSeconds: Int64 = 20

  /// Requests under way get their answers, renewals that were sent are stored, within half a minute. A host that goes
  /// away meanwhile, or a signal, ends the waits and not the renewals.
  private static func finish(_ input: Input, _ conversation: Conversation) {
    let begin = SystemClock.now()
    let timeout = begin.advanced(bySeconds: answeringSeconds)
    while !conversation.server.isIdle(withinNanoseconds: 20_000_000) {
      if timeout < SystemClock.now() { conversation.server.giveUpAll() }
      if input.hasSignal {
        input.takeSignal()
        conversation.server.giveUpAll()
      }
      if conversation.output.isClosed {
        conversation.server.giveUpAll()
        conversation.server.giveUpHost()
      }
    }
    let left = begin.advanced(bySeconds: longestSeconds).since(SystemClock.now()) / 1_000_000_000
    conversation.server.finish(within: max(1, left))
    conversation.output.finish()
  }
}
