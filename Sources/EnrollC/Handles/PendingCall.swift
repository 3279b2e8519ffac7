// Handles of started calls, with which C can cancel them.

public import CEnroll
import EnrollRules
import EnrollHost
import EnrollPosix

/// One started call.
final class PendingCall: Sendable {
  let cancellation = CancellationFlag()
  private let origin = ForkGuard()

  static let table = HandleTable<PendingCall>(kind: 2)

  func requireUsable() throws(EnrollError) { try origin.check() }
}

/// A C callback together with its `user_data`.
struct HostCallback<Function>: @unchecked Sendable {
  // Unchecked: the host promises that its pointer may be used on another thread.
  let function: Function
  let userData: UnsafeMutableRawPointer?

  /// Keeps the callback and its `user_data`.
  /// - Throws: `.invalidArgument` if the function is NULL.
  init(_ function: Function?, _ userData: UnsafeMutableRawPointer?) throws(EnrollError) {
    guard let function else {
      throw EnrollError(.invalidArgument, "callback is required, got NULL", field: "callback")
    }
    self.function = function
    self.userData = userData
  }
}

@_cdecl("enroll_pending_cancel") @implementation
public func enroll_pending_cancel(_ pending: Handle?) -> enroll_status {
  reporting(to: nil) { () throws(EnrollError) in
    guard let call = PendingCall.table.object(UInt(bitPattern: pending)) else { throw unknownPending }
    try call.requireUsable()
    call.cancellation.cancel()
  }
}

@_cdecl("enroll_pending_free") @implementation
public func enroll_pending_free(_ pending: Handle?) -> enroll_status {
  guard let pending else { return ENROLL_OK }
  return reporting(to: nil) { () throws(EnrollError) in
    guard PendingCall.table.remove(UInt(bitPattern: pending)) != nil else { throw unknownPending }
  }
}

private var unknownPending: EnrollError {
  EnrollError(.handle, "the pending call is NULL, was freed, or never was one", field: "pending")
}
