import EnrollCore
import Foundation
import Testing

@Suite("Errors")
struct EnrollErrorTests {
  @Test("what is documented of a code is its summary", arguments: EnrollError.Code.allCases)
  func documentation(_ code: EnrollError.Code) throws {
    let source = URL(fileURLWithPath: #filePath)
      .appendingPathComponent("../../../../Sources/EnrollCore/Errors/EnrollError.swift").standardized
    let text = try String(contentsOf: source, encoding: .utf8)
      .replacingOccurrences(of: "\n    /// ", with: " ")
      .replacingOccurrences(of: "`internal`", with: "internal")
    let summary = code.summary.prefix(1).uppercased() + code.summary.dropFirst()
    let isDocumented = text.contains(" \(summary).\n    case \(code.name) = \(code.rawValue)")
    #expect(isDocumented, "expected /// \(summary).")
  }
}
