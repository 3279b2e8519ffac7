// Parameters and results in PostgreSQL's binary form: numbers in network order, texts and bytes as they are, a UUID as its 16
// bytes, a boolean as one byte.

import CPostgreSQL

/// The parameters of one statement in one block of memory.
struct PostgreSQLParameters {
  private var memory: [UInt8] = []
  /// The offset of each parameter; negative for null.
  private var offsets: [Int] = []
  private var sizes: [Int32] = []

  init(_ values: [SQLValue]) {
    memory.reserveCapacity(512)
    for value in values {
      let offset = memory.count
      switch value {
      case .null: break
      case .integer(let number): withUnsafeBytes(of: number.bigEndian) { memory.append(contentsOf: $0) }
      case .boolean(let flag): memory.append(flag ? 1 : 0)
      case .text(let text): memory.append(contentsOf: text.utf8)
      case .bytes(let bytes): memory.append(contentsOf: bytes)
      }
      offsets.append(value == .null ? -1 : offset)
      sizes.append(Int32(memory.count - offset))
    }
    // The memory is never empty, so that an empty text has an address.
    memory.append(0)
  }

  func withPointers<Result>(
    _ body: (Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) ->
      Result
  ) -> Result {
    memory.withUnsafeBytes { bytes in
      let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      let values = offsets.map { offset in offset < 0 ? nil : start.map { $0 + offset } }
      let formats = [Int32](repeating: 1, count: values.count)
      return body(Int32(values.count), values, sizes, formats)
    }
  }
}

/// The result of one statement.
final class PostgreSQLResult {
  fileprivate let functions: PostgreSQLLibrary.Functions
  fileprivate let handle: OpaquePointer

  init(_ functions: PostgreSQLLibrary.Functions, _ handle: OpaquePointer) {
    self.functions = functions
    self.handle = handle
  }

  deinit { functions.pointee.PQclear(handle) }

  var isGood: Bool {
    let status = functions.pointee.PQresultStatus(handle)
    return status == enroll_postgresql_command_ok || status == enroll_postgresql_rows_ok
  }

  var count: Int32 { functions.pointee.PQntuples(handle) }
  func row(_ number: Int32) -> PostgreSQLRow { PostgreSQLRow(result: self, number: number) }

  /// Calls `read` for each row.
  /// - Returns: how many rows the statement changed.
  func read(_ read: (any SQLRow) -> Void) -> Int {
    for number in 0..<count { read(row(number)) }
    return changed
  }

  /// How many rows the statement changed.
  var changed: Int {
    functions.pointee.PQcmdTuples(handle).flatMap { Int(String(cString: $0)) } ?? 0
  }

  /// A field of the server's error message.
  func field(_ name: Int32) -> String? {
    functions.pointee.PQresultErrorField(handle, name).map { String(cString: $0) }
  }
}

struct PostgreSQLRow: SQLRow {
  /// The result, which owns the memory of its rows.
  fileprivate let result: PostgreSQLResult
  fileprivate let number: Int32

  func isNull(_ column: Int32) -> Bool {
    result.functions.pointee.PQgetisnull(result.handle, number, column) != 0
  }

  func integer(_ column: Int32) -> Int64 {
    var value: Int64 = 0
    for byte in raw(column) { value = value << 8 | Int64(byte) }
    return value
  }

  func boolean(_ column: Int32) -> Bool { raw(column).first == 1 }
  func text(_ column: Int32) -> String { String(decoding: raw(column), as: UTF8.self) }
  func bytes(_ column: Int32) -> [UInt8] { [UInt8](raw(column)) }

  private func raw(_ column: Int32) -> UnsafeRawBufferPointer {
    let start = result.functions.pointee.PQgetvalue(result.handle, number, column)
    return UnsafeRawBufferPointer(
      start: start, count: Int(result.functions.pointee.PQgetlength(result.handle, number, column)))
  }
}
