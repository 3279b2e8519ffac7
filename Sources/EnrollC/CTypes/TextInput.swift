// Text and JSON from a C caller: a pointer and a size, which are checked before use (R41).

import EnrollRules
import EnrollJSON
import EnrollPosix

/// The largest sizes of texts, in bytes.
enum TextLimit {
  /// Names of commands, transactions, constants.
  static let name = 256
  /// Facts about the platform.
  static let fact = 256
  static let path = 4096
  static let passphrase = 1024
  /// Parameters of an authorize request.
  static let parameter = 16 << 10
  static let url = 16 << 10
  static let parameters = 64 << 10
  /// Any JSON.
  static let json = 1 << 20
}

/// A text argument.
struct TextInput {
  var pointer: UnsafePointer<CChar>?
  /// The size in bytes, or ENROLL_NUL_TERMINATED.
  var size: Int
  /// The argument's name, for error messages.
  var name: String

  init(_ pointer: UnsafePointer<CChar>?, _ size: Int, _ name: String) {
    self.pointer = pointer
    self.size = size
    self.name = name
  }

  /// ENROLL_NUL_TERMINATED.
  static let nulTerminated = -1

  /// - Returns: nil if the argument is missing.
  /// - Throws: `.invalidArgument` for NULL with a size, more than `limit` bytes, a NUL inside, or text that is not
  ///   UTF-8.
  func text(limit: Int) throws(EnrollError) -> String? {
    guard let bytes = try bytes(limit: limit) else { return nil }
    guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
      throw EnrollError(.invalidArgument, "\(name) must be UTF-8 without NUL", field: name)
    }
    return text
  }

  /// Like ``text(limit:)``, but throws if the text is missing or empty.
  func requiredText(limit: Int) throws(EnrollError) -> String {
    guard let text = try text(limit: limit), !text.isEmpty else { throw missing }
    return text
  }

  /// The bytes without a check of their content. This is for JSON, because the JSON reader checks the content.
  func bytes(limit: Int) throws(EnrollError) -> UnsafeBufferPointer<UInt8>? {
    guard let pointer else {
      guard size == 0 || size == Self.nulTerminated else {
        throw EnrollError(.invalidArgument, "\(name) is NULL, but has a size", field: name)
      }
      return nil
    }
    let start = UnsafeRawPointer(pointer).assumingMemoryBound(to: UInt8.self)
    let count = size == Self.nulTerminated ? NulTerminated.count(of: pointer, limit: limit) : size
    guard count >= 0, count <= limit else {
      throw EnrollError(.invalidArgument, "\(name) must have at most \(limit) bytes", field: name)
    }
    return UnsafeBufferPointer(start: start, count: count)
  }

  func requiredBytes(limit: Int) throws(EnrollError) -> UnsafeBufferPointer<UInt8> {
    guard let bytes = try bytes(limit: limit), !bytes.isEmpty else { throw missing }
    return bytes
  }

  private var missing: EnrollError {
    let text =
      pointer == nil
      ? "is required"
      : size == 0 ? "has size 0; pass ENROLL_NUL_TERMINATED to have it measured" : "is empty"
    return EnrollError(.invalidArgument, "\(name) \(text)", field: name)
  }
}

/// A JSON argument.
enum JSONInput {
  /// - Throws: `.json` with the offset of the first error and the argument's name as field.
  static func parse(_ bytes: UnsafeBufferPointer<UInt8>, _ name: String) throws(EnrollError) -> JSON {
    do throws(JSONError) {
      return try JSON.parse(Array(bytes))
    } catch {
      guard !error.isOutOfMemory else { throw EnrollError(.outOfMemory, "\(name): ", error, field: name) }
      throw EnrollError(.json, "\(name): \(error.message) (byte \(error.offset))", field: name)
    }
  }
}
