// From EnrollError to the caller's enroll_error, and the frame that every fallible function runs in.

import CEnroll
import EnrollCore

extension enroll_error {
  /// - Parameter reason: what is behind it, where the status alone does not say.
  init(_ error: EnrollError, reason: enroll_status = ENROLL_OK) {
    self.init()
    struct_size = MemoryLayout<enroll_error>.size
    status = error.code.rawValue
    blame = error.blame.number
    is_retryable = error.isRetryable ? 1 : 0
    self.reason = reason
    http_status = error.httpStatus.flatMap { Int32(exactly: $0) } ?? 0
    retry_after_seconds = error.retryAfterSeconds ?? 0
    CharacterArray.write(error.oauthError ?? "", to: &oauth_error)
    CharacterArray.write(error.field ?? "", to: &field)
    CharacterArray.write(error.message, to: &message)
  }
}

/// Runs the body of a C function, and turns what it throws into a status and the caller's error.
@inline(never)
func reporting(to error: ErrorOut?, _ body: () throws(EnrollError) -> Void) -> enroll_status {
  explaining(to: error) { (_: inout enroll_status) throws(EnrollError) in try body() }
}

/// As ``reporting(to:_:)``, for a body that can say what is behind its failure.
@inline(never)
func explaining(
  to error: ErrorOut?, _ body: (inout enroll_status) throws(EnrollError) -> Void
) -> enroll_status {
  do throws(EnrollError) {
    try enroll_error.check(error)
  } catch {
    // There is no room to say why.
    return error.code.rawValue
  }
  var reason = ENROLL_OK
  do throws(EnrollError) {
    try body(&reason)
    return ENROLL_OK
  } catch let failure {
    enroll_error(failure, reason: reason).write(to: error)
    return failure.code.rawValue
  }
}

/// An output that a function cannot do without.
func require<Output>(
  _ output: UnsafeMutablePointer<Output>?, _ name: String
) throws(EnrollError) -> UnsafeMutablePointer<Output> {
  guard let output else {
    throw EnrollError(.invalidArgument, "\(name) is a required output, got NULL", field: name)
  }
  return output
}

@_cdecl("enroll_error_init") @implementation
public func enroll_error_init(_ error: ErrorOut?, _ struct_size: Int) {
  enroll_error.initialize(error, size: struct_size)
}
