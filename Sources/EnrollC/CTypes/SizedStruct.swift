// Structs that begin with `struct_size`. New versions add members only at the end, so the struct of an older caller is
// shorter than the library's struct, and the struct of a newer caller is longer. A size below that of the first version
// is refused. A longer struct is refused if it sets a member that the library does not have.

import CEnroll
import EnrollRules

/// A struct of the header that begins with its size.
protocol SizedStruct {
  init()
  var struct_size: Int { get set }
  /// The struct's name in the header, for error messages.
  static var name: String { get }
  /// The struct's size in the first version of the header that had the struct. It never changes. Until a member is
  /// added, it is also the current size.
  static var firstSize: Int { get }
}

extension SizedStruct {
  static var firstSize: Int { MemoryLayout<Self>.size }

  /// Reads the struct that the caller filled.
  /// - Throws: `.invalidArgument` if the struct is NULL or too short, `.unsupported` if the struct is longer than the
  ///   library's and sets a member that the library does not have.
  init(reading pointer: UnsafePointer<Self>?) throws(EnrollError) {
    self.init()
    try withUnsafeMutableBytes(of: &self) { ours throws(EnrollError) in
      try SizedMemory.read(pointer, into: ours, firstSize: Self.firstSize, Self.name)
    }
  }

  /// Checks an output struct before the function does anything. nil is allowed.
  /// - Throws: `.invalidArgument` if the struct is too short.
  static func check(_ pointer: UnsafeMutablePointer<Self>?) throws(EnrollError) {
    if let pointer { _ = try SizedMemory.size(at: pointer, firstSize: firstSize, name) }
  }

  /// Writes the members that the caller's struct has, and keeps its `struct_size`. The pointer was checked before.
  func write(to pointer: UnsafeMutablePointer<Self>?) {
    guard let pointer else { return }
    withUnsafeBytes(of: self) { SizedMemory.write($0, to: pointer) }
  }

  /// Does what the INIT macro does, for languages without macros.
  static func initialize(_ pointer: UnsafeMutablePointer<Self>?, size: Int) {
    if let pointer { SizedMemory.initialize(pointer, size: size) }
  }
}

/// The operations of ``SizedStruct``, for memory of any type that begins with its size.
private enum SizedMemory {
  /// The largest size that any version of any struct will have. A larger number means that the memory was not
  /// initialized.
  static let sizeLimit = 65_536

  static func size(
    at pointer: UnsafeRawPointer, firstSize: Int, _ name: String
  ) throws(EnrollError) -> Int {
    let size = pointer.load(as: Int.self)
    guard size >= firstSize, size <= sizeLimit else {
      throw EnrollError(
        .invalidArgument,
        "struct_size of \(name) is \(size); expected \(firstSize) to \(sizeLimit): initialize the struct with its INIT macro",
        field: "struct_size")
    }
    return size
  }

  static func read(
    _ pointer: UnsafeRawPointer?, into ours: UnsafeMutableRawBufferPointer, firstSize: Int, _ name: String
  ) throws(EnrollError) {
    guard let pointer else { throw EnrollError(.invalidArgument, "\(name) is required, got NULL") }
    let given = try size(at: pointer, firstSize: firstSize, name)
    ours.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: min(given, ours.count)))
    guard given > ours.count else { return }
    for byte in UnsafeRawBufferPointer(start: pointer + ours.count, count: given - ours.count) where byte != 0
    {
      throw EnrollError(.unsupported, "\(name) has a member set that this version does not have")
    }
  }

  static func write(_ ours: UnsafeRawBufferPointer, to pointer: UnsafeMutableRawPointer) {
    let given = pointer.load(as: Int.self)
    UnsafeMutableRawBufferPointer(start: pointer, count: given).copyMemory(
      from: UnsafeRawBufferPointer(rebasing: ours.prefix(given)))
    pointer.storeBytes(of: given, as: Int.self)
  }

  static func initialize(_ pointer: UnsafeMutableRawPointer, size: Int) {
    guard size >= MemoryLayout<Int>.size, size <= sizeLimit else { return }
    pointer.initializeMemory(as: UInt8.self, repeating: 0, count: size)
    pointer.storeBytes(of: size, as: Int.self)
  }
}

extension enroll_error: SizedStruct { static var name: String { "enroll_error" } }
extension enroll_client_options: SizedStruct {
  static var name: String { "enroll_client_options" }
  /// The first version ended with `keys`; `clock`, `log` and `queue` were added later.
  static var firstSize: Int { MemoryLayout<Self>.size - 3 * MemoryLayout<UnsafeRawPointer?>.size }
}
extension enroll_state: SizedStruct { static var name: String { "enroll_state" } }
extension enroll_begin_options: SizedStruct { static var name: String { "enroll_begin_options" } }
extension enroll_transaction: SizedStruct { static var name: String { "enroll_transaction" } }
extension enroll_access: SizedStruct { static var name: String { "enroll_access" } }
extension enroll_audience: SizedStruct { static var name: String { "enroll_audience" } }
extension enroll_pkce: SizedStruct { static var name: String { "enroll_pkce" } }
extension enroll_keys: SizedStruct { static var name: String { "enroll_keys" } }
extension enroll_secret_store: SizedStruct { static var name: String { "enroll_secret_store" } }
extension enroll_clock: SizedStruct { static var name: String { "enroll_clock" } }
extension enroll_log: SizedStruct { static var name: String { "enroll_log" } }
extension enroll_transport: SizedStruct { static var name: String { "enroll_transport" } }
