// One run: open the session, run the command, finish what was begun, say how it ended by the exit status.

import EnrollPosix

enum Run {
  /// - Returns: the exit status, out of ``CommandStatus``.
  static func perform(
    _ request: CommandRequest, _ body: (CommandSession) throws(Failure) -> CommandStatus
  ) -> Int32 {
    // Before the program opens any: one of its own would be taken for it.
    let unreadable = request.place.unreadableDescriptor
    Interrupts.prepare()
    if let unreadable { return tell(unreadable, request) }
    // A browser that is started from here inherits no more of it than that it writes no core dump.
    try? ProcessMemory.hide()
    let session: CommandSession
    do throws(Failure) {
      session = try CommandSession(request)
    } catch {
      return tell(error, request)
    }
    // A renewal that was sent is stored, whatever happened meanwhile.
    defer { session.finish() }
    do throws(Failure) {
      let ending = try body(session)
      return Output.isWhole ? ending.rawValue : CommandStatus.failed.rawValue
    } catch {
      return tell(error, request)
    }
  }

  private static func tell(_ failure: Failure, _ request: CommandRequest) -> Int32 {
    let said = Said(request)
    let failure = failure.guessing(request.place)
    if request.place.json { Output.json(failure.json(said)) } else { Terminal.errors.tell(failure, said) }
    return failure.ending.rawValue
  }
}
