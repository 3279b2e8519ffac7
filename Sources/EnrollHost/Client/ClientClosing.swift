// Closing a client: the effect on its calls in progress.

public import EnrollCore
public import EnrollPosix

extension Client {
  /// Ties a call to the client: closing it cancels the call, and is what the call's end is told as.
  /// - Returns: what takes the place of `completion`.
  public func untilClosed<Value>(
    _ cancellation: CancellationFlag, _ completion: @escaping @Sendable (Result<Value, EnrollError>) -> Void
  ) -> @Sendable (Result<Value, EnrollError>) -> Void {
    // A call that comes too late fails and says so.
    guard !closing.isCancelled else { return completion }
    let ticket = closing.onCancel { cancellation.cancel() }
    return { [closing] result in
      closing.removeHook(ticket)
      completion(closing.isCancelled ? result.ofClosedClient : result)
    }
  }
}

extension Result where Failure == EnrollError {
  /// To whoever called before the client was closed, its handle was good: what ended the call is the closing.
  public var ofClosedClient: Self {
    guard case .failure(let error) = self, error.code == .handle else { return self }
    return .failure(EnrollError(.cancelled, "the client was closed during the call"))
  }
}
