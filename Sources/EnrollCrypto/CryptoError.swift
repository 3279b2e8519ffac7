// The one error of this module. OpenSSL's own reason is a constant text and holds no data.

import COpenSSL

/// Why a cryptographic operation failed.
public struct CryptoError: Error, Equatable, Sendable {
  /// The closed set of reasons.
  public enum Reason: Sendable {
    /// The text was sealed with another key, nonce or context, or was changed.
    case authentication
    /// The key is malformed, too weak, or of another kind than the operation wants.
    case key
    /// An argument has a length or value that the operation does not take.
    case argument
    /// OpenSSL could not do it: out of memory, no entropy, an algorithm switched off.
    case library
    /// There is no OpenSSL, or one that is too old.
    case missing
  }

  /// The reason.
  public var reason: Reason
  /// What was expected and what came; never key material.
  public var message: String

  public init(_ reason: Reason, _ message: String) {
    self.reason = reason
    self.message = message
  }

  /// A failed OpenSSL call, with its latest reason. Empties the thread's error queue.
  static func library(_ operation: String) -> CryptoError {
    let libcrypto: UnsafePointer<enroll_openssl>
    do throws(CryptoError) { libcrypto = try OpenSSL.functions() } catch { return error }
    let code = libcrypto.pointee.ERR_peek_last_error()
    libcrypto.pointee.ERR_clear_error()
    guard code != 0, let text = libcrypto.pointee.ERR_reason_error_string(code) else {
      return CryptoError(.library, operation + " failed")
    }
    return CryptoError(.library, operation + " failed: " + String(cString: text))
  }
}

/// Passes a result of OpenSSL on, or throws when it is nil.
func require<Value>(_ value: Value?, _ operation: String) throws(CryptoError) -> Value {
  guard let value else { throw .library(operation) }
  return value
}

/// OpenSSL says 1 for success.
func require(_ status: Int32, _ operation: String) throws(CryptoError) {
  guard status == 1 else { throw .library(operation) }
}
