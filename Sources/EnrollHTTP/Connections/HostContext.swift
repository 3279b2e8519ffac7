// What all connections of a host share.

import EnrollGateway
import EnrollHost
import EnrollPosix
import NIOCore

/// Shared by the event loops and the workers; nothing in it changes but counters and one flag.
final class HostContext: Sendable {
  let application: any WebApplication
  let limits: HostLimits
  let rules: HeadRules
  let writer: AnswerWriter
  let proxies: TrustedProxies
  let database: WorkerPool
  let provider: WorkerPool
  let census: ConnectionCensus
  let counters = HostCounters()
  /// Raised when the host stops: answers then close their connections.
  let drains = CancellationFlag()

  init(_ options: HostOptions, proxies: TrustedProxies, application: any WebApplication) {
    self.application = application
    self.proxies = proxies
    limits = options.limits
    rules = HeadRules(
      origin: options.publicOrigin, names: options.names, takesLoopbackNames: options.takesLoopbackNames,
      probes: options.probes,
      bodyLimit: options.limits.bodyBytes)
    writer = AnswerWriter(isSecure: options.isSecure)
    database = WorkerPool(threads: options.database.threads, queue: options.database.queue)
    provider = WorkerPool(threads: options.provider.threads, queue: options.provider.queue)
    census = ConnectionCensus(options.limits)
  }

  /// The application's answer, counted; a 500 where it cannot be written. Whether the connection stays is decided when the
  /// answer is there: the host may have begun to stop meanwhile.
  func answer(_ request: WebRequest, isHead: Bool, persists: Bool) -> Reply {
    let answer = application.answer(request)
    let manner = manner(isHead: isHead, persists: persists)
    if let bytes = writer.bytes(answer, manner) {
      counters.answered(answer.status)
      return Reply(bytes: bytes, persists: manner.persists)
    }
    return refuse(.badAnswer, isHead: isHead, persists: persists)
  }

  /// Counts a refusal. Without bytes when it has no answer.
  func refuse(_ refusal: Refusal, isHead: Bool, persists: Bool) -> Reply {
    counters.refused(refusal)
    let manner = manner(isHead: isHead, persists: persists)
    return Reply(bytes: writer.bytes(refusal, manner) ?? ByteBuffer(), persists: manner.persists)
  }

  private func manner(isHead: Bool, persists: Bool) -> AnswerWriter.Manner {
    AnswerWriter.Manner(isHead: isHead, persists: persists && !drains.isCancelled)
  }
}

/// What is written for a request, and whether the connection stays open behind it.
struct Reply: Sendable {
  var bytes: ByteBuffer
  var persists: Bool
}
