import EnrollRules
import EnrollCrypto
import EnrollJSON
import Expectations
import TestVectors
import Testing

@Suite("PKCE (RFC 7636)")
struct PKCETests {
  @Test("the pairs of RFC 7636 Appendix B and of Python (R13)", arguments: Vectors.atHand)
  func pairs(vectors: Vectors) throws {
    var count = 0
    for example in try vectors.json("rfc-kat/rfc-kat.json").array ?? []
    where example["kind"]?.string == "pkce-s256" {
      let octets = example.elements("octets").compactMap { $0.integer.map { UInt8($0) } }
      let pkce = try PKCE.make(random: octets)
      expect(pkce.verifier.reveal(), is: example["code_verifier"]?.string)
      expect(pkce.challenge, is: example["code_challenge"]?.string)
      count += 1
    }
    expect(count, is: 1)
  }

  @Test("a verifier is 43 unreserved characters, and another one for other bytes (R14)")
  func verifier() throws {
    let pkce = try PKCE.make(random: [UInt8](repeating: 0xFF, count: 32))
    expect(pkce.verifier.count, is: 43)
    #expect(pkce.verifier.revealBytes().allSatisfy { PercentEncoding.isUnreserved($0) })
    try expect(PKCE.make(random: [UInt8](repeating: 0xFE, count: 32)).challenge, isNot: pkce.challenge)
  }

  @Test("other than 32 octets are refused (R14)", arguments: [0, 16, 31, 33, 64])
  func octets(count: Int) {
    expect(refusal { try PKCE.make(random: [UInt8](repeating: 7, count: count)) }?.code, is: .invalidArgument)
  }
}
