// The cancellation of a call.

import EnrollRules

/// The cancellation of a call. Steps check it between requests, and the transport checks it during requests.
public protocol Cancellation: AnyObject, Sendable {
  /// Whether the call was cancelled.
  var isCancelled: Bool { get }
  /// Runs `hook` once after the cancellation, on the thread that cancels; if the call is cancelled already, runs it at
  /// once. Hooks are short and never block: they wake a waiting thread.
  /// - Returns: a ticket for ``removeHook(_:)``.
  func onCancel(_ hook: @escaping @Sendable () -> Void) -> Int
  /// Removes a hook. The hook may still be running on another thread when this returns, so it must keep references to
  /// what it uses.
  func removeHook(_ ticket: Int)
}
