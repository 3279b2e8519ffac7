// The date of responses.

@testable import EnrollHTTP
import Testing

@Suite struct HTTPDateTextTests {
  @Test(
    "a date is written as RFC 9110 writes it",
    arguments: [
      (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
      (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
      (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"),
      (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
      (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"),
      (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
      (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
      (-1, "Thu, 01 Jan 1970 00:00:00 GMT"),
      (Int64.max, "Fri, 31 Dec 9999 23:59:59 GMT"),
    ] as [(Int64, String)])
  func written(_ seconds: Int64, _ text: String) {
    #expect(HTTPDateText.write(seconds) == text)
  }
}
