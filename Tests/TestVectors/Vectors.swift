// Published test vectors, beside the checkout (../shared/vectors). Tests that need them are skipped where they are not:
// `.enabled(if: Vectors.arePresent)`.

public import EnrollJSON
import Foundation

public enum Vectors {
  private static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "shared/vectors")

  public static let arePresent = FileManager.default.fileExists(atPath: folder.path)

  /// A file by its path below the folder of vectors.
  public static func bytes(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: folder.appending(path: path)))
  }

  public static func json(_ path: String) throws -> JSON {
    try JSON.parse(bytes(path))
  }

  /// File names in a folder, sorted.
  public static func names(_ path: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: path).path).sorted()
  }

  public static func bytes(hex: String) -> [UInt8] {
    let digits = hex.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
  }
}

extension JSON {
  /// The bytes that a member spells in hexadecimal; none where there is no such member.
  public func hex(_ key: String) -> [UInt8] { Vectors.bytes(hex: self[key]?.string ?? "") }

  /// The elements of an array member; none where there is no such member.
  public func elements(_ key: String) -> [JSON] { self[key]?.array ?? [] }
}
