import Expectations
import Synchronization
import Testing

@Suite("Equality in tests")
struct ExpectationTests {
  @Test("equal values record no issue")
  func equal() {
    expect(1 + 1, is: 2)
    expect("a" as String?, is: "a")
    expect(nil as String?, is: nil)
    expect([1], isNot: [2])
  }

  @Test("an issue says both values, the call and the comment, and where the call is")
  func different() {
    let line = #line + 2
    let issues = issues {
      expect("a".count, is: 2, "of one letter")
      expect(
        "a" as String?,
        isNot: "a")
    }
    let texts = issues.map { $0.comments.map(\.rawValue).joined() }
    #expect(
      texts == [
        "1 is not 2: expect(\"a\".count, is: 2, \"of one letter\")\nof one letter",
        "the value is \"a\": expect( \"a\" as String?, isNot: \"a\")",
      ])
    #expect(issues.map { $0.sourceLocation?.line } == [line, line + 1])
    #expect(issues.allSatisfy { $0.sourceLocation?.fileID == #fileID })
  }

  /// The issues that the work records.
  private func issues(_ work: () -> Void) -> [Issue] {
    let found = Mutex<[Issue]>([])
    withKnownIssue {
      work()
    } matching: { issue in
      found.withLock { $0.append(issue) }
      return true
    }
    return found.withLock { $0 }
  }
}
