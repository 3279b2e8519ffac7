// One run: opens the session, runs the command, finishes running work, and returns the exit status.

import EnrollPosix

enum Run {
  /// Performs one run of the program.
  /// - Returns: the exit status, one of ``CommandStatus``.
  static func perform(
    _ request: CommandRequest, _ body: (CommandSession) throws(Failure) -> CommandStatus
  ) -> Int32 {
    // The descriptors that options name are checked first: a descriptor that the program opens later could get the same
    // number.
    let unreadable = request.place.unreadableDescriptor
    Interrupts.prepare()
    if let unreadable { return tell(unreadable, request) }
    request.place.keepDescriptors()
    // This call forbids core dumps and debuggers. A browser that this program starts inherits only the first setting:
    // it writes no core dump.
    try? ProcessMemory.hide()
    let session: CommandSession
    do throws(Failure) {
      session = try CommandSession(request)
    } catch {
      return tell(error, request)
    }
    // At the end of the run, the result of a renewal whose request was sent is still stored.
    defer { session.finish() }
    do throws(Failure) {
      let ending = try body(session)
      return (Output.failure ?? ending).rawValue
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
