import EnrollTesting
import Expectations
import Testing

@Suite("The answers of the known providers to requests by hand")
struct AnswerTests {
  @Test(
    "are those that Tests/system/RealTests expects of the real servers", .enabled(if: !Table.isWritten),
    arguments: Answers.providers)
  func answers(id: String) throws {
    let expected = try Answers.read()[id] ?? [:]
    let answers = try Interview(id).answers()
    expect(answers.count, is: expected.count)
    for (question, answer) in answers { expect(answer, is: expected[question], "\(id), \(question)") }
  }

  @Test("are written anew", .enabled(if: Table.isWritten))
  func written() throws {
    try Answers.write(Answers.providers.map { ($0, try Interview($0).answers()) })
  }
}
