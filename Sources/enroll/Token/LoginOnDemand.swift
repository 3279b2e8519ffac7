// `--login`: a command that finds nobody signed in starts a sign-in, and waits for it. The sign-in runs in a process of its
// own, as for a bridge: the program that asked may be killed meanwhile, and every other command waits for the same
// sign-in. At a terminal without a browser the sign-in runs there.

import CPosix
import EnrollPosix
import EnrollRules
import EnrollSteps

struct LoginOnDemand {
  private static let seconds: Int64 = 180
  /// A sign-in that the user declined, or that failed, is not begun again by itself for this time.
  private static let restSeconds: Int64 = 30
  /// A process that was just started has not taken the lock yet.
  private static let startingSeconds: Int64 = 3

  let session: CommandSession
  let request: CommandRequest

  /// Runs `body`; if nobody is signed in, signs in and runs it again.
  static func around<Value>(
    _ session: CommandSession, _ request: CommandRequest, isWanted: Bool, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    guard isWanted else { return try body() }
    do throws(Failure) { return try body() } catch {
      guard error.ending == .signInNeeded else { throw error }
      // Without a profile it is not known where to sign in.
      guard try session.place.hasConfiguration(), let place = SignInPlace(session.place) else { throw error }
      try LoginOnDemand(session: session, request: request).perform(place, instead: error)
    }
    return try body()
  }

  private func perform(_ place: SignInPlace, instead failure: Failure) throws(Failure) {
    let before = place.record
    if let rested = before?.failure, !place.isBusy, (0..<Self.restSeconds).contains(session.now - rested.at) {
      throw Failure(
        .signInNeeded, "\(failure.message); the last sign-in failed: \(Shown.message(rested.message))")
    }
    if !place.isBusy, Browser().commands.isEmpty {
      guard Terminal.hasPerson else { throw failure }
      return try signInHere(place)
    }
    var start: Instant?
    if !place.isBusy {
      let isStarted = SignInHelper.start(
        place, login: words + ["--yes", "--json"], challenge: nil, after: before,
        passphrase: session.keys?.passphrase)
      guard isStarted else { throw failure }
      start = session.instant
    }
    Terminal.errors.say("enroll: nobody is signed in; sign in with the browser that opens.")
    let end = session.instant.advanced(bySeconds: Self.seconds)
    while session.instant < end {
      try session.pause(milliseconds: 100)
      if place.isBusy { continue }
      let record = place.record
      guard record != before else {
        guard let begun = start, session.instant < begun.advanced(bySeconds: Self.startingSeconds) else {
          return
        }
        continue
      }
      if let failed = record?.failure {
        throw Failure(.signInNeeded, "the sign-in failed: \(Shown.message(failed.message))")
      }
      return
    }
    throw Failure(.signInNeeded, "nobody signed in within \(Self.seconds) seconds")
  }

  /// The arguments of `enroll login` for the same account.
  private var words: [String] {
    request.place.words() + (request.resource.map { ArgumentWords.option("--resource", $0) } ?? [])
  }

  /// Runs `enroll login` at this terminal, one at a time.
  private func signInHere(_ place: SignInPlace) throws(Failure) {
    guard let lock = place.lock() else { throw Failure(.busy, "another command signs in at its terminal") }
    defer { lock.end() }
    guard ToolRun.run([OwnProgram.path, "login"] + words, atTerminal: true)?.status == 0 else {
      throw Failure(.signInNeeded, "nobody has signed in")
    }
  }
}
