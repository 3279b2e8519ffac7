// Tests of the properties of QR codes that can be tested without a reader. Tests/faces/CommandTests tests QR codes with
// a reader.

import Testing

@testable import enroll

@Suite("The QR code of an address")
struct QRCodeTests {
  @Test("each version has the size of ISO/IEC 18004, and the smallest that fits is taken")
  func sizes() throws {
    let limits = [17, 32, 53, 78, 106, 134, 154, 192, 230]
    for (index, limit) in limits.enumerated() {
      let text = String(repeating: "a", count: limit)
      #expect(try #require(QRCode(text)).size == 21 + 4 * index)
    }
    #expect(try #require(QRCode(String(repeating: "a", count: 18))).size == 25)
    #expect(try #require(QRCode("")).size == 21)
  }

  @Test("a text that is too long has none; bytes count, not characters")
  func tooLong() {
    #expect(QRCode(String(repeating: "a", count: QRCode.limit + 1)) == nil)
    #expect(QRCode(String(repeating: "é", count: 116)) == nil)
  }
}
