import EnrollRules
import EnrollJSON
import Expectations
import TestVectors
import Testing

@Suite("Base64url (RFC 4648 §5)")
struct Base64URLTests {
  @Test("the examples of RFC 4648 and of Python, both ways", arguments: Vectors.atHand)
  func examples(vectors: Vectors) throws {
    var count = 0
    for example in try vectors.json("rfc-kat/rfc-kat.json").array ?? []
    where example["kind"]?.string == "base64url" {
      let text = try #require(example["text"]?.string)
      let encoded = try #require(example["encoded"]?.string)
      expect(Base64URL.encode(Array(text.utf8)), is: encoded)
      expect(Base64URL.decode(encoded), is: Array(text.utf8))
      count += 1
    }
    expect(count, is: 6)
  }

  @Test("every byte value in every position comes back")
  func roundTrip() {
    for length in 0...5 {
      for byte in UInt8.min...UInt8.max {
        let bytes = [UInt8](repeating: byte, count: length)
        expect(Base64URL.decode(Base64URL.encode(bytes)), is: bytes)
      }
    }
  }

  @Test("the alphabet is the one for URLs")
  func alphabet() {
    expect(Base64URL.encode([0xFB, 0xFF, 0xBF]), is: "-_-_")
    expect(Base64URL.decode("+/+/"), is: nil)
  }

  @Test(
    "what encoding never gives is refused",
    arguments: ["Zg==", "Zg=", "Z", "Zm9vY", "Zm 8", "Zm8\n", "Zh", "Zm9", "Zm9vYmF", "é", "Zg\u{0}"])
  func strict(text: String) {
    // Texts such as "Zm9" and "Zh" have bits at their end that belong to no byte.
    expect(Base64URL.decode(text), is: nil)
  }
}
