// JSON that a C caller hands in.

import EnrollCore
import EnrollJSON

enum JSONInput {
  /// - Throws: `.json` with the offset of the first fault; `field` is the argument's name.
  static func parse(_ bytes: UnsafeBufferPointer<UInt8>, _ name: String) throws(EnrollError) -> JSON {
    do throws(JSONError) {
      return try JSON.parse(Array(bytes))
    } catch {
      guard !error.isOutOfMemory else { throw EnrollError(.outOfMemory, "\(name): ", error, field: name) }
      throw EnrollError(.json, "\(name): \(error.message) (byte \(error.offset))", field: name)
    }
  }
}
