// Test vectors. Each set exists twice: a small one in `own/`, which make.py writes, and the published one,
// which is not in the repository. A test runs over both; without the published vectors it runs over the small
// set, and the test run reports what is missing (Tests/units/TestVectors/README.md).

public import EnrollJSON
import Expectations
import Foundation
public import Testing

public enum Vectors: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case own
  case published

  public var testDescription: String { "\(rawValue) vectors" }

  /// The number of cases that a test must have run at least, so that a test with an empty file fails.
  public func least(own: Int, published: Int) -> Int { self == .own ? own : published }

  /// A file by its path below the folder of the vectors.
  public func bytes(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: folder.appending(path: path)))
  }

  public func json(_ path: String) throws -> JSON {
    try JSON.parse(bytes(path))
  }

  /// The objects of a file that our own JSON reader refuses (R37), because the file has NUL and lone surrogates. The
  /// surrogates become U+FFFD.
  public func objects(_ path: String) throws -> [[String: Any]] {
    let text = String(decoding: try bytes(path), as: UTF8.self)
    let halves =
      #"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"#
    let whole = text.replacingOccurrences(of: halves, with: #"\\ufffd"#, options: .regularExpression)
    let elements = try JSONSerialization.jsonObject(with: Data(whole.utf8)) as? [Any] ?? []
    return elements.compactMap { $0 as? [String: Any] }
  }

  /// File names in a folder, sorted.
  public func names(_ path: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: path).path).sorted()
  }

  public static func bytes(hex: String) -> [UInt8] {
    let digits = hex.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
  }

  /// The available sets: the small one, and the published one if it exists.
  public static let atHand = arePublished ? allCases : [.own]

  /// A trait for one test of each module, so that a run without the published vectors reports it.
  public static let needPublished = ConditionTrait.enabled(
    if: arePublished,
    """
    the published test vectors are not in \(publishedFolder.path), so tests ran over our own vectors only; \
    ENROLL_VECTORS=FOLDER names another folder (Tests/units/TestVectors/README.md)
    """)

  private static let here = URL(filePath: #filePath).deletingLastPathComponent()
  private static let given = ProcessInfo.processInfo.environment["ENROLL_VECTORS"]
  /// The folder of the published vectors: beside the checkout, unless ENROLL_VECTORS names another one.
  private static let publishedFolder =
    given.map { URL(filePath: $0) }
    ?? Repository.top.deletingLastPathComponent().appending(path: "shared/vectors")
  /// Whether the published vectors are present. If ENROLL_VECTORS names a folder, they count as present, so that a
  /// missing file fails its test.
  private static let arePublished =
    given != nil || FileManager.default.fileExists(atPath: publishedFolder.path)

  private var folder: URL { self == .published ? Self.publishedFolder : Self.here.appending(path: "own") }
}

extension JSON {
  /// The bytes of a hexadecimal member; empty if there is no such member.
  public func hex(_ key: String) -> [UInt8] { Vectors.bytes(hex: self[key]?.string ?? "") }

  /// The elements of an array member; empty if there is no such member.
  public func elements(_ key: String) -> [JSON] { self[key]?.array ?? [] }
}
