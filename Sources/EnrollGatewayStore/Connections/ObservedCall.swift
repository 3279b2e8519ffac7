// Reports to an observer how long the calls of a store take, and how they end.

import EnrollGateway
import EnrollPosix

extension Optional where Wrapped == any StoreObserver {
  /// Runs a call and reports its duration and failure.
  func measured<Result>(
    _ body: () throws(StoreFailure) -> Result
  ) throws(StoreFailure) -> Result {
    guard let self else { return try body() }
    let begin = SystemClock.monotonic()
    do throws(StoreFailure) {
      let result = try body()
      self.called(nanoseconds: SystemClock.monotonic() - begin, failure: nil)
      return result
    } catch {
      self.called(nanoseconds: SystemClock.monotonic() - begin, failure: error)
      throw error
    }
  }

  func ended(_ count: Int, _ reason: SessionEnd) {
    if count > 0 { self?.sessionsEnded(count, reason) }
  }

  /// Reports the sessions that ended because a provider asked for a deletion.
  func deletedData(_ result: DataDeletionResult) {
    switch result {
    case .account(_, let deleted): ended(deleted.endedSessions, .provider)
    case .identity(_, _, let count): ended(count, .provider)
    case .nobody, .repeated: return
    }
  }

  /// Reports a sign-in that began a session. A sign-in that made a code for an app is not reported.
  /// - Parameter surplus: the number of sessions that ended because the account had too many.
  func began(_ credential: CheckedCredential, ending surplus: Int) {
    guard case .session = credential else { return }
    self?.sessionBegan()
    ended(surplus, .surplus)
  }
}
