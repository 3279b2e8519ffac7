// How long the calls of a store take, and how they end.

import EnrollGateway
import EnrollPosix

extension Optional where Wrapped == any StoreObserver {
  /// Runs a call and tells of it.
  func calling<Result>(
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

  /// Sessions ended with what a provider asked to delete.
  func forgot(_ forgetting: Forgetting) {
    switch forgetting {
    case .account(_, let deleted): ended(deleted.endedSessions, .provider)
    case .identity(_, _, let count): ended(count, .provider)
    case .nobody, .repeated: return
    }
  }

  /// A sign-in ended, whose session or code begins.
  /// - Parameter surplus: sessions that gave way to it.
  func began(_ beginning: CheckedBeginning, ending surplus: Int) {
    guard case .session = beginning else { return }
    self?.sessionBegan()
    ended(surplus, .surplus)
  }
}
