// Steps that a process of their own runs: a renewal, the exchange of a code, a poll of a device's transaction. The caller's
// process may be killed at any time, and the answer, which comes once, is stored all the same (reliability.md, Renewals that
// outlive their caller). Where no process can be made the step runs here.

import EnrollCore
public import EnrollJSON
import EnrollPosix

/// Makes processes that outlive this one, for the steps of one client. A class-bound protocol, as all of them.
package protocol StepProcesses: AnyObject, Sendable {
  /// Starts one that opens the same account and runs ``Client/perform(_:tell:)``.
  /// - Parameter step: as ``DetachedStep`` reads it.
  /// - Returns: a descriptor that gives its lines, to be closed; nil where no process can be made.
  func start(_ step: JSON) -> Int32?
}

/// The steps of a client whose host makes processes for them.
final class DetachedSteps: Sendable {
  private let processes: any StepProcesses
  private let abandoned: CancellationFlag

  /// - Parameter abandoned: ends every wait.
  init(_ processes: any StepProcesses, abandoned: CancellationFlag) {
    self.processes = processes
    self.abandoned = abandoned
  }

  /// Runs a step elsewhere and waits for its end.
  /// - Parameters:
  ///   - leaving: ends the wait, and not the step.
  ///   - isFollowed: whether the wait goes on once the step has sent what works once.
  /// - Returns: nil where no process could be made, or it died: the step is to be run here. A request that
  ///   it had sent is treated as that of any process that died.
  /// - Throws: what the step threw; `.cancelled` for a wait that ended.
  func run(
    _ step: DetachedStep, leaving: any Cancellation, isFollowed: Bool,
    onProgress: (CallTimeout.Progress) -> Void
  ) throws(EnrollError) -> JSON? {
    guard let wake = try? EventDescriptor(), let descriptor = processes.start(step.json) else { return nil }
    defer { DetachedProcess.close(descriptor) }
    let hooks = [leaving.onCancel { wake.wake() }, abandoned.onCancel { wake.wake() }]
    defer {
      leaving.removeHook(hooks[0])
      abandoned.removeHook(hooks[1])
    }
    var lines = DetachedLines()
    var isSent = false
    while true {
      while let line = lines.next() {
        switch line {
        case .begun: break
        case .progress(let progress):
          if progress == .committed { isSent = true }
          onProgress(progress)
        case .ended(let result): return try result.get()
        }
      }
      if abandoned.isCancelled || leaving.isCancelled && !(isFollowed && isSent) {
        throw EnrollError(.cancelled, "nobody waits any more for what was begun in a process of its own")
      }
      // A wish that does not end the wait is not to wake it again and again.
      wake.drain()
      DetachedProcess.waitForInput(descriptor, or: wake)
      switch DetachedProcess.piece(of: descriptor) {
      case .bytes(let bytes): lines.add(bytes)
      case .none: break
      case .end: return nil
      }
    }
  }
}

/// Lines as they come, in pieces.
private struct DetachedLines {
  private var bytes: [UInt8] = []

  mutating func add(_ piece: ArraySlice<UInt8>) { bytes += piece }

  /// - Returns: nil until another line is whole.
  mutating func next() -> DetachedLine? {
    while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
      let line = Array(bytes[..<end])
      bytes.removeFirst(end + 1)
      if let json = try? JSON.parse(line), let read = DetachedLine(json) { return read }
    }
    return nil
  }
}

extension DetachedSteps {
  /// - Returns: nil as for ``run(_:leaving:isFollowed:onProgress:)``.
  func renew(
    _ wish: RenewalWish, leaving: any Cancellation, onProgress: (CallTimeout.Progress) -> Void
  ) throws(EnrollError) -> RenewalResult? {
    let step = DetachedStep.renewal(
      epochs: wish.epochs, isForced: wish.isForced, audience: wish.audience)
    // Where process 1 waits for this one, the end of this one may be the end of all.
    let isFollowed = DetachedProcess.isOfFirst
    return try run(step, leaving: leaving, isFollowed: isFollowed, onProgress: onProgress).map {
      RenewalResult(handed: $0)
    }
  }
}

extension Client {
  /// ``Engine/resume(_:transactionID:cancellation:)``, where that spends a code, in a process of its own.
  func resumed(
    _ url: String, _ transactionID: TransactionID? = nil, isReported: Bool, goesOn: Bool = false,
    _ cancellation: any Cancellation
  ) throws(EnrollError) -> Engine.Settlement {
    let hasCode = (try? Redirect(parsing: url, configured: configuration.redirectURI))?.hasCode ?? false
    let step = DetachedStep.redirect(
      url: url, transactionID: transactionID, isReported: isReported, goesOn: goesOn)
    if hasCode, let settled = try settled(step, cancellation) { return settled }
    guard isReported else {
      return try engine.resume(
        url, transactionID: transactionID, goesOn: goesOn, cancellation: cancellation)
    }
    return try engine.reporting { () throws(EnrollError) in
      try engine.resume(url, transactionID: transactionID, goesOn: goesOn, cancellation: cancellation)
    }
  }

  /// ``Engine/pollDevice(_:)`` in a process of its own.
  func polled(_ transactionID: TransactionID) throws(EnrollError) -> Engine.Settlement? {
    guard let detached,
      let answer = try detached.run(
        .poll(transactionID), leaving: steps.abandoned, isFollowed: true, onProgress: { _ in })
    else { return try engine.pollDevice(transactionID) }
    return try settlement(handed: answer)
  }

  /// - Returns: nil where the step is to be run here.
  private func settled(
    _ step: DetachedStep, _ cancellation: any Cancellation
  ) throws(EnrollError) -> Engine.Settlement? {
    let answer: JSON?
    do throws(EnrollError) {
      answer = try detached?.run(step, leaving: cancellation, isFollowed: true) { progress in
        if progress == .committed { engine.noticeExchange() }
      }
    } catch {
      engine.noticeReturn()
      if case .redirect(_, _, let isReported, _) = step, isReported { engine.notice(failure: error) }
      throw error
    }
    return try answer.flatMap { answer throws(EnrollError) in try settlement(handed: answer) }
  }

  private func settlement(handed answer: JSON) throws(EnrollError) -> Engine.Settlement? {
    var state = engine.state
    if case .known(let known) = try engine.standing() { state = known }
    return Engine.Settlement(handed: answer, state: state)
  }
}

extension Client {
  /// Runs a step for a client of the same account in another process.
  /// - Parameter tell: gets a line for that process, without its end; the last one as soon as the step has ended.
  public func perform(_ step: DetachedStep, tell: @escaping @Sendable (JSON) -> Void) {
    let onProgress: @Sendable (CallTimeout.Progress) -> Void = { tell(DetachedLine.progress($0).json) }
    tell(DetachedLine.begun.json)
    let result: Result<JSON, EnrollError>
    do throws(EnrollError) { result = .success(try ran(step, onProgress)) } catch { result = .failure(error) }
    tell(DetachedLine.ended(result).json)
    guard engine.hasUnsaved else { return }
    // Nobody waits for this process: it lasts as long as it may.
    UnsavedTokens.ofProcess.take(engine, of: place)
    let end = SystemClock.now().advanced(bySeconds: Self.storingSeconds)
    _ = UnsavedTokens.ofProcess.wait(for: engine, until: end, steps.abandoned)
  }

  /// How long a process of its own goes on trying to store what it got. It may last 300 seconds in all (``DetachedProcess``).
  private static var storingSeconds: Int64 { 200 }

  private func ran(
    _ step: DetachedStep, _ onProgress: @escaping @Sendable (CallTimeout.Progress) -> Void
  ) throws(EnrollError) -> JSON {
    switch step {
    case .renewal(let epochs, let isForced, let audience):
      renewalWatcher.withLock { $0 = onProgress }
      let wish = RenewalWish(audience: audience, epochs: epochs, isForced: isForced)
      switch renewals.join(wish, deadline: .distantFuture) {
      case .finished(let run): return try run.result.get().handed
      case .refused(let error): throw error
      case .deadlinePassed, .cancelled: throw EnrollError(.internal, "a renewal without an end has ended")
      }
    case .redirect(let url, let transactionID, let isReported, let goesOn):
      let settlement = try CallTimeout.until(cancellation: nil, onProgress: onProgress) {
        () throws(EnrollError) in
        try resumed(url, transactionID, isReported: isReported, goesOn: goesOn, steps.closing)
      }
      if settlement.nextURL == nil { _ = try? remember(settlement) }
      return settlement.handed
    case .poll(let transactionID):
      guard let settlement = try engine.pollDevice(transactionID) else { return .object([]) }
      _ = try? remember(settlement)
      return settlement.handed
    }
  }
}
