// Converts an EnrollError to the caller's enroll_error. The functions here run the body of every C function that can
// fail.

import CEnroll
import EnrollRules

extension enroll_error {
  /// Converts an error for the caller's struct.
  /// - Parameter reason: the cause, if the status alone does not say it.
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
    CharacterArray.write(error.oauthErrorDescription ?? "", to: &oauth_error_description)
    CharacterArray.write(error.field ?? "", to: &field)
    CharacterArray.write(error.message, to: &message)
  }
}

/// Runs the body of a C function, and turns an error that it throws into a status and the caller's error struct.
@inline(never)
func reporting(to error: ErrorOut?, _ body: () throws(EnrollError) -> Void) -> enroll_status {
  reportingReason(to: error) { (_: inout enroll_status) throws(EnrollError) in try body() }
}

/// Like ``reporting(to:_:)``, for a body that can also report the cause of its failure.
@inline(never)
func reportingReason(
  to error: ErrorOut?, _ body: (inout enroll_status) throws(EnrollError) -> Void
) -> enroll_status {
  do throws(EnrollError) {
    try enroll_error.check(error)
  } catch {
    // The caller's error struct is too short for a description, so only the status is returned.
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

/// Checks that a required output is not NULL.
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
