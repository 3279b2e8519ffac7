import Expectations
import Foundation
import Testing

@Suite("Messages are for people who have not read the rules")
struct MessageTests {
  @Test("no text of a program names a rule by its number or an error by errno's")
  func numbers() throws {
    let files = FileManager.default.enumerator(
      at: Repository.top.appendingPathComponent("Sources"), includingPropertiesForKeys: nil)
    let sources = (files?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "swift" }
    #expect(!sources.isEmpty)
    let text = /"(?:\\.|[^"\\])*?(?:\bR[0-9]{1,2}\b|\(errno |errno \\\().*"/
    for source in sources {
      for line in try String(contentsOf: source, encoding: .utf8).split(separator: "\n")
      where !line.drop(while: { $0 == " " }).hasPrefix("//") {
        #expect(line.firstMatch(of: text) == nil, "\(source.lastPathComponent): \(line)")
      }
    }
  }
}
