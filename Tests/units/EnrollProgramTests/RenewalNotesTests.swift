// The program's notes about tokens that it printed.

import Dispatch
import Foundation
import Testing

@testable import enroll

@Suite("Notes about tokens")
struct RenewalNotesTests {
  private let folder = NSTemporaryDirectory() + "/enroll-notes-" + UUID().uuidString

  private var path: String { folder + "/tokens.json" }

  @Test("a note counts for its token and its time")
  func times() {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let notes = RenewalNotes(path: path)
    notes.add(printed: "a", at: 1000)
    notes.add(replacement: "b", at: 1000)
    #expect(notes.hasPrinted("a", within: 30, of: 1030))
    #expect(!notes.hasPrinted("a", within: 30, of: 1031))
    #expect(!notes.hasPrinted("a", within: 30, of: 999))
    #expect(!notes.hasPrinted("b", within: 30, of: 1000))
    #expect(notes.isReplacement("b", within: 60, of: 1060))
    #expect(!notes.isReplacement("a", within: 60, of: 1060))
  }

  @Test("a token that has just replaced another one is not replaced again")
  func sameTime() {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let notes = RenewalNotes(path: path)
    notes.add(replacement: "a", at: 1000)
    notes.add(printed: "a", at: 1000)
    #expect(!notes.isAskedAgain("a", within: 30, of: 1002))
    #expect(notes.isAskedAgain("a", within: 30, of: 1003))
    #expect(!notes.isAskedAgain("a", within: 30, of: 1031))
  }

  @Test("notes of several processes at once are all kept")
  func atOnce() {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let notes = RenewalNotes(path: path)
    DispatchQueue.concurrentPerform(iterations: 8) { notes.add(printed: "token \($0)", at: 1000) }
    #expect((0..<8).allSatisfy { notes.hasPrinted("token \($0)", within: 1, of: 1000) })
  }
}
