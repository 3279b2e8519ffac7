// The interface to which the engine sends its events.

public import EnrollRules

/// Receives events, on the thread that caused them, with no lock held.
public protocol EngineObserver: AnyObject, Sendable {
  func observe(_ notification: EnrollEvent)
  /// Reports an error after which the flow continues. The error is for logs, not for the user.
  func warn(_ error: EnrollError)
}

extension EngineObserver {
  public func warn(_ error: EnrollError) {}
}
