// The guarantees of a secret.

import EnrollCrypto
import Expectations
import Testing

@Suite struct SecretTests {
  @Test("a secret holds the bytes it was given")
  func holds() throws {
    expect(Secret("héllo").reveal(), is: "héllo")
    expect(Secret([0, 255]).revealBytes(), is: [0, 255])
    #expect(Secret("").isEmpty)
    expect(Secret("abc").count, is: 3)
    expect(Secret("abc"), is: Secret([0x61, 0x62, 0x63]))
    expect(Secret("abc"), isNot: Secret("abd"))
    expect(Secret("abc"), isNot: Secret("ab"))
    let filled = try Secret(count: 3) { (bytes) throws(CryptoError) in bytes[1] = 5 }
    expect(filled.revealBytes(), is: [0, 5, 0])
  }

  @Test("a failing fill gives no secret")
  func failingFill() {
    #expect(throws: CryptoError(.library, "no")) {
      try Secret(count: 3) { (_) throws(CryptoError) in throw CryptoError(.library, "no") }
    }
  }

  @Test("interpolation and reflection do not show a secret (R40)")
  func unprintable() {
    let secret = Secret("hunter2")
    var dumped = ""
    dump(secret, to: &dumped)
    for text in ["\(secret)", String(reflecting: secret), String(describing: [secret]), dumped] {
      #expect(!text.contains("hunter2"))
    }
    let bytes = Mirror(reflecting: secret).children.map { String(reflecting: $0.value) }.joined()
    #expect(!bytes.contains("hunter2"))
  }
}
