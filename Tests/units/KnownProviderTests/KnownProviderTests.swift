import EnrollTesting
import Expectations
import Foundation
import Testing

@Suite("The library at each known provider")
struct KnownProviderTests {
  @Test(
    "does what the table says, on each face", arguments: try KnownProviders.all().map(\.id), FaceName.allCases
  )
  func cells(id: String, face: FaceName) throws {
    let row = Play(entry: try KnownProviders.named(id), face: face).row()
    let expected = try Table.read()[id]
    if Table.isWritten {
      if face == .swift { Table.keep(id, row) }
      return
    }
    for column in Column.allCases {
      expect(row.cells[column], is: expected?.cells[column], "\(id), \(column.rawValue)")
    }
    expect(row.advice, is: expected?.advice, "\(id), advice")
  }
}

/// The cells that the table is expected to have. They are in `cells.txt`, which ENROLL_WRITE_DOCS=1 writes.
enum Table {
  static let isWritten = ProcessInfo.processInfo.environment["ENROLL_WRITE_DOCS"] == "1"
  private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("cells.txt")
  private static let lock = NSLock()

  static func read() throws -> [String: Row] {
    var rows: [String: Row] = [:]
    for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") where line.first != "#" {
      let parts = line.components(separatedBy: " | ")
      guard parts.count == 3 else { throw CocoaError(.fileReadCorruptFile) }
      if parts[1] == "advice" {
        rows[parts[0], default: Row()].advice = parts[2]
      } else if let column = Column(rawValue: parts[1]) {
        rows[parts[0], default: Row()].cells[column] = parts[2]
      }
    }
    return rows
  }

  /// Writes the cells of one provider into `cells.txt`. The lock is needed, because several tests may run at once.
  static func keep(_ id: String, _ row: Row) {
    lock.withLock {
      var rows = (try? read()) ?? [:]
      rows[id] = row
      var text = "# provider | column | cell: what the tests expect at each known provider.\n"
      for id in (try? KnownProviders.all().map(\.id)) ?? [] {
        guard let row = rows[id] else { continue }
        for column in Column.allCases {
          if let cell = row.cells[column] { text += "\(id) | \(column.rawValue) | \(cell)\n" }
        }
        if let advice = row.advice { text += "\(id) | advice | \(advice)\n" }
      }
      try? text.write(to: file, atomically: true, encoding: .utf8)
      try? ProvidersPage().write()
    }
  }
}
