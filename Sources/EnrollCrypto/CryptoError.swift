// The only error of this module. OpenSSL's own reason is a constant text without data.

import COpenSSL

/// Why a cryptographic operation failed.
public struct CryptoError: Error, Equatable, Sendable {
  /// The closed set of reasons.
  public enum Reason: Sendable {
    /// The text was sealed with another key, nonce or associated data, or was changed.
    case authentication
    /// The key is malformed, too weak, or of another kind than the operation needs.
    case key
    /// An argument has a length or value that the operation does not accept.
    case argument
    /// OpenSSL failed, for example because there is no entropy or an algorithm is disabled.
    case library
    /// OpenSSL did not have enough memory.
    case memory
    /// OpenSSL is missing or too old.
    case missing
  }

  /// The reason.
  public var reason: Reason
  /// What happened and what was expected; never key material.
  public var message: String

  public init(_ reason: Reason, _ message: String) {
    self.reason = reason
    self.message = message
  }

  /// The error for a failed OpenSSL call, with its latest reason. Empties the thread's error queue.
  static func library(_ operation: String) -> CryptoError {
    let libcrypto: UnsafePointer<enroll_openssl>
    do throws(CryptoError) { libcrypto = try OpenSSL.functions() } catch { return error }
    let (reason, isMemory) = takeReasons(libcrypto)
    // If OpenSSL gives no reason, it had too little memory to record a reason.
    guard reason != 0, !isMemory else {
      return CryptoError(.memory, operation + " failed because memory ran out")
    }
    guard let text = libcrypto.pointee.ERR_reason_error_string(reason) else {
      return CryptoError(.library, operation + " failed")
    }
    return CryptoError(.library, operation + " failed: " + String(cString: text))
  }

  /// Empties the thread's error queue.
  /// - Returns: the latest reason, which is 0 if there is none; and whether any of the reasons is a lack of memory.
  static func takeReasons(_ libcrypto: UnsafePointer<enroll_openssl>) -> (latest: UInt, isMemory: Bool) {
    var latest: UInt = 0
    var isMemory = false
    while true {
      let reason = libcrypto.pointee.ERR_get_error()
      if reason == 0 { return (latest, isMemory) }
      latest = reason
      isMemory = isMemory || enroll_openssl_is_memory(reason) == 1
    }
  }
}

/// Returns a result of OpenSSL, or throws if it is nil.
func require<Value>(_ value: Value?, _ operation: String) throws(CryptoError) -> Value {
  guard let value else { throw .library(operation) }
  return value
}

/// Throws unless the status is 1, OpenSSL's value for success.
func require(_ status: Int32, _ operation: String) throws(CryptoError) {
  guard status == 1 else { throw .library(operation) }
}

/// Runs `body`, and runs it once more if it fails. OpenSSL sometimes reports a lack of memory as if the input were
/// wrong, and then the caller might discard good data. So only the second failure is thrown.
func confirmed<Value>(_ body: () throws(CryptoError) -> Value) throws(CryptoError) -> Value {
  do throws(CryptoError) {
    return try body()
  } catch {
    guard error.reason == .key || error.reason == .library else { throw error }
  }
  return try body()
}
