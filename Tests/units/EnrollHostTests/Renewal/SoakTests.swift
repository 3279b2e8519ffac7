// Weeks of renewals (reliability.md, How it is shown). A separate process, `store-probe`, does the work, because no
// other code uses the memory and descriptors of that process.

import EnrollTesting
import Expectations
import Foundation
import StoreSupport
import Testing

@Suite("A month of renewals by a clock that is advanced", .timeLimit(.minutes(60)))
struct SoakTests {
  private let folder = TestFolder()

  /// The test has 10 accounts with tokens that live for 300 s, and a fault in one of a hundred requests. The date is
  /// moved by hours and years, and past 2038; the device sleeps and restarts.
  @Test("nobody is signed out, no clock costs more than one renewal, nothing is left open, no memory is lost")
  func month() async throws {
    try await aside {
      let days = isTorture ? "30" : "0.25"
      let lines = try Probe("soak", folder.store, days).rest()
      print("soak, \(days) days: \(lines.first ?? "nothing")")
      expect(lines.count, is: 1, "\(lines.dropFirst())")
      var figures: [Substring: Int] = [:]
      for pair in (lines.first ?? "").split(separator: " ") {
        let parts = pair.split(separator: "=")
        if parts.count == 2 { figures[parts[0]] = Int(parts[1]) }
      }
      expect(figures["lost"], is: 0)
      // One descriptor may be open: the thread of the timers has it while a timer is set.
      #expect((0...1).contains(figures["opened"] ?? -1))
      expect(figures["jumps"], is: 9)
      #expect((figures["faults"] ?? 0) > 0)
      // In a shorter run, memory is still growing to its usual size.
      guard isTorture else { return }
      #expect((figures["heapDrift"] ?? .max) <= 1024)
      #expect((figures["pagesDrift"] ?? .max) <= 1024)
    }
  }
}
