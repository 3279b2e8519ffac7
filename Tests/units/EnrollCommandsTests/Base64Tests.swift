import Expectations
import Testing

@testable import EnrollCommands

@Suite("Base64 with padding")
struct Base64Tests {
  @Test(
    "the examples of RFC 4648 §10 come out as they are there, and back",
    arguments: [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
      ("foobar", "Zm9vYmFy"),
    ])
  func examples(text: String, encoded: String) {
    expect(Base64.encode(Array(text.utf8)), is: encoded)
    expect(Base64.decode(encoded), is: Array(text.utf8))
  }

  @Test("the characters that the other alphabet has not are + and /")
  func alphabet() {
    expect(Base64.encode([0xFB, 0xEF, 0xFF]), is: "++//")
    expect(Base64.decode("++//"), is: [0xFB, 0xEF, 0xFF])
  }

  @Test(
    "what is written another way is refused",
    arguments: [
      "Zg", "Zg=", "Zg===", "Zh==", "Z===", "=", "====", "Zm 8=", "--__", "Zm8=\n", "Zg==Zg==", "Zm9vé",
    ])
  func strict(text: String) {
    expect(Base64.decode(text), is: nil)
  }
}
