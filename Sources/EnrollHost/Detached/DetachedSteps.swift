// Steps that run in a separate process: a renewal, the exchange of a code, a poll of a device transaction.
// The caller's process may be killed at any time; the answer, which is issued only once, is saved even then
// (reliability.md, Renewals that outlive their caller). If no process can be started, the step runs in this
// process.

import EnrollRules
import EnrollSteps
public import EnrollJSON
import EnrollPosix

/// Starts processes that outlive this process, for the steps of one client.
package protocol StepProcesses: AnyObject, Sendable {
  /// Starts a process that opens the same account and runs ``Client/perform(_:onLine:)``.
  /// - Parameter step: the step, in the form that ``DetachedStep`` reads.
  /// - Returns: a descriptor from which to read the lines of the process, which the caller closes; nil if no process
  ///   can be started.
  func start(_ step: JSON) -> Int32?
}

/// The steps of a client whose host can start processes for them.
final class DetachedSteps: Sendable {
  private let processes: any StepProcesses
  private let abandoned: CancellationFlag

  /// - Parameter abandoned: a flag whose cancellation ends every wait.
  init(_ processes: any StepProcesses, abandoned: CancellationFlag) {
    self.processes = processes
    self.abandoned = abandoned
  }

  /// Runs a step in another process and waits for its end.
  /// - Parameters:
  ///   - waitCancellation: ends the wait, but not the step.
  ///   - waitsForAnswer: whether the wait continues once the step has sent its one-time value.
  ///   - onBegin: called when the other process is about to run the step.
  /// - Returns: nil if no process could be started, or the process died. In both cases this process has to run the
  ///   step. A request that the other process had already sent is treated like the request of any process that died.
  /// - Throws: the error of the step; `.cancelled` if the wait ended first.
  func run(
    _ step: DetachedStep, waitCancellation: any Cancellation, waitsForAnswer: Bool,
    onBegin: () -> Void = {}, onProgress: (CallTimeout.Progress) -> Void
  ) throws(EnrollError) -> JSON? {
    guard let wake = try? EventDescriptor(), let descriptor = processes.start(step.json) else { return nil }
    defer { DetachedProcess.close(descriptor) }
    let hooks = [waitCancellation.onCancel { wake.wake() }, abandoned.onCancel { wake.wake() }]
    defer {
      waitCancellation.removeHook(hooks[0])
      abandoned.removeHook(hooks[1])
    }
    var lines = DetachedLines()
    var isSent = false
    while true {
      while let line = lines.next() {
        switch line {
        case .begun: onBegin()
        case .progress(let progress):
          if progress == .committed { isSent = true }
          onProgress(progress)
        case .ended(let result): return try result.get()
        }
      }
      if abandoned.isCancelled || waitCancellation.isCancelled && !(waitsForAnswer && isSent) {
        throw EnrollError(
          .cancelled, "the caller no longer waits; the request continues in a process of its own")
      }
      // A cancellation that does not end the wait must not wake this thread again and again.
      wake.drain()
      DetachedProcess.waitForInput(descriptor, or: wake)
      switch DetachedProcess.readChunk(from: descriptor) {
      case .bytes(let bytes): lines.add(bytes)
      case .none: break
      case .end: return nil
      }
    }
  }
}

/// Splits the output of a process into lines.
private struct DetachedLines {
  private var bytes: [UInt8] = []

  mutating func add(_ piece: ArraySlice<UInt8>) { bytes += piece }

  /// Removes and returns the next line; nil if no line is complete yet.
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
  /// - Returns: nil as for ``run(_:waitCancellation:waitsForAnswer:onProgress:)``.
  func renew(
    _ request: RenewalRequest, waitCancellation: any Cancellation, onProgress: (CallTimeout.Progress) -> Void
  ) throws(EnrollError) -> RenewalResult? {
    let step = DetachedStep.renewal(
      epochs: request.epochs, isForced: request.isForced, audience: request.audience)
    // If process 1 started this process, this process may be the only command of a container. Process 1, and with it
    // the container and the separate process, would then end as soon as this process ends. So this process waits for
    // the answer.
    let waitsForAnswer = DetachedProcess.isChildOfProcessOne
    return try run(
      step, waitCancellation: waitCancellation, waitsForAnswer: waitsForAnswer, onProgress: onProgress
    ).map {
      RenewalResult(detachedJSON: $0)
    }
  }
}

extension Client {
  /// Runs ``SignInStep/resume(_:transactionID:cancellation:)``, in a separate process if the redirect has a code.
  func resumed(
    _ url: String, _ transactionID: TransactionID? = nil, isReported: Bool,
    mayContinueInBrowser: Bool = false,
    _ cancellation: any Cancellation
  ) throws(EnrollError) -> Settlement {
    let hasCode = (try? Redirect(parsing: url, configured: configuration.redirectURI))?.hasCode ?? false
    let step = DetachedStep.redirect(
      url: url, transactionID: transactionID, isReported: isReported,
      mayContinueInBrowser: mayContinueInBrowser)
    if hasCode, let settled = try settled(step, cancellation) { return settled }
    guard isReported else {
      return try engine.signIn.resume(
        url, transactionID: transactionID, mayContinueInBrowser: mayContinueInBrowser,
        cancellation: cancellation)
    }
    return try engine.backEnd.reporting { () throws(EnrollError) in
      try engine.signIn.resume(
        url, transactionID: transactionID, mayContinueInBrowser: mayContinueInBrowser,
        cancellation: cancellation)
    }
  }

  /// Runs ``DeviceStep/pollDevice(_:)`` in a separate process.
  func polled(_ transactionID: TransactionID) throws(EnrollError) -> Settlement? {
    guard let detached,
      let answer = try detached.run(
        .poll(transactionID), waitCancellation: phases.abandoned, waitsForAnswer: true, onProgress: { _ in })
    else { return try engine.device.pollDevice(transactionID) }
    return try settlement(detachedJSON: answer)
  }

  /// - Returns: nil if this process has to run the step.
  private func settled(
    _ step: DetachedStep, _ cancellation: any Cancellation
  ) throws(EnrollError) -> Settlement? {
    let answer: JSON?
    var hasBegun = false
    do throws(EnrollError) {
      answer = try detached?.run(
        step, waitCancellation: cancellation, waitsForAnswer: true, onBegin: { hasBegun = true }
      ) { progress in
        guard progress == .committed else { return }
        engine.transactions.noticeExchange()
      }
      // If the process died after it had accepted the redirect, the code is spent, whether it was sent or not.
      if answer == nil, hasBegun, case .redirect(let url, _, _, _) = step,
        let lost = try engine.signIn.settleLostExchange(url)
      {
        return lost
      }
    } catch {
      engine.transactions.noticeReturn()
      if case .redirect(_, _, let isReported, _) = step, isReported { engine.notice(failure: error) }
      throw error
    }
    return try answer.flatMap { answer throws(EnrollError) in try settlement(detachedJSON: answer) }
  }

  private func settlement(detachedJSON answer: JSON) throws(EnrollError) -> Settlement? {
    var state = engine.state
    if case .known(let known) = try engine.registration.adoptStoredState() { state = known }
    return Settlement(detachedJSON: answer, state: state)
  }
}

extension Client {
  /// Runs a step in this process, for a client of the same account in another process.
  /// - Parameter onLine: gets each line for the other process, without a line end; it gets the last line as soon as the
  ///   step has ended.
  public func perform(_ step: DetachedStep, onLine: @escaping @Sendable (JSON) -> Void) {
    let onProgress: @Sendable (CallTimeout.Progress) -> Void = { onLine(DetachedLine.progress($0).json) }
    onLine(DetachedLine.begun.json)
    let result: Result<JSON, EnrollError>
    do throws(EnrollError) { result = .success(try execute(step, onProgress)) } catch {
      result = .failure(error)
    }
    onLine(DetachedLine.ended(result).json)
    guard engine.renewedTokens.hasUnsaved else { return }
    // No other process waits for this process any more, so this process may use all of its remaining time to save the
    // tokens.
    UnsavedTokens.shared.add(engine, at: location)
    let end = SystemClock.now().advanced(bySeconds: Self.storingSeconds)
    _ = UnsavedTokens.shared.wait(for: engine, until: end, phases.abandoned)
  }

  /// How long this process keeps trying to save the tokens. The process may run for 300 seconds in all
  /// (``DetachedProcess``).
  private static var storingSeconds: Int64 { 200 }

  private func execute(
    _ step: DetachedStep, _ onProgress: @escaping @Sendable (CallTimeout.Progress) -> Void
  ) throws(EnrollError) -> JSON {
    switch step {
    case .renewal(let epochs, let isForced, let audience):
      renewalWatcher.withLock { $0 = onProgress }
      let request = RenewalRequest(audience: audience, epochs: epochs, isForced: isForced)
      switch renewals.join(request, deadline: .distantFuture) {
      case .finished(let run): return try run.result.get().detachedJSON
      case .refused(let error): throw error
      case .deadlinePassed, .cancelled: throw EnrollError(.internal, "a renewal without an end has ended")
      }
    case .redirect(let url, let transactionID, let isReported, let mayContinueInBrowser):
      let settlement = try CallTimeout.until(cancellation: nil, onProgress: onProgress) {
        () throws(EnrollError) in
        try resumed(
          url, transactionID, isReported: isReported, mayContinueInBrowser: mayContinueInBrowser,
          phases.closing)
      }
      if settlement.nextURL == nil { _ = try? remember(settlement) }
      return settlement.detachedJSON
    case .poll(let transactionID):
      guard let settlement = try engine.device.pollDevice(transactionID) else { return .object([]) }
      _ = try? remember(settlement)
      return settlement.detachedJSON
    }
  }
}
