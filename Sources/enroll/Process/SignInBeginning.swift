// The beginning of a sign-in. An account keeps a number of transactions that wait for their answers, and commands that were killed
// may have left that many.

import EnrollCore
import EnrollJSON

extension CommandSession {
  /// Begins a sign-in. Where too many wait, they are cancelled: the user is at this one now, and one of them still gets its answer
  /// if that comes first.
  func beginSignIn(_ client: JSON, _ parameters: [(String, JSON?)]) throws(Failure) -> JSON {
    do throws(Failure) {
      return try begin(client, parameters)
    } catch {
      guard let cause = error.error, cause.code == .busy, cause.field == EnrollError.transactionField else {
        throw error
      }
      _ = try call("registration.cancel", [("client", client)])
      return try begin(client, parameters)
    }
  }

  private func begin(_ client: JSON, _ parameters: [(String, JSON?)]) throws(Failure) -> JSON {
    let begun = try call(
      "registration.begin", [("client", client)] + parameters, saying: "Asking the provider")
    // From now on: what fails before is told by the call that fails.
    _ = try call("events.subscribe", [("client", client)])
    return begun
  }
}
