import EnrollRules
import EnrollCrypto
import EnrollJSON
import Expectations
import TestVectors
import Testing

@Suite("Forms and queries (RFC 6749 Appendix B, RFC 3986)")
struct FormEncodingTests {
  @Test("the example of RFC 6749 Appendix B")
  func appendixB() throws {
    let value = " %&+£€"
    expect(FormEncoding.encode([("v", value)]), is: Array("v=+%25%26%2B%C2%A3%E2%82%AC".utf8))
    let fields = try FormEncoding.decode(Array("v=+%25%26%2B%C2%A3%E2%82%AC".utf8))
    expect(fields.map(\.1), is: [value])
  }

  @Test("queries are encoded as the SDKs expect them", arguments: Vectors.atHand)
  func sdkTable(vectors: Vectors) throws {
    var count = 0
    for example in try vectors.json("sdk-tables/sdk-tables.json").array ?? []
    where example["kind"]?.string == "query-encode" {
      let text = try #require(example["text"]?.string)
      expect(PercentEncoding.encode(text), is: example["enrollkit"]?.string)
      var form = FormEncoding(.query)
      form.add(text, text)
      try expect(FormEncoding.decode(form.bytes).first?.1, is: text)
      count += 1
    }
    expect(count, is: vectors.least(own: 3, published: 1))
  }

  @Test("a secret is written like a text")
  func secrets() {
    var form = FormEncoding(.body)
    form.add("a", "b c")
    form.add("t", Secret("x&y z"))
    expect(form.text, is: "a=b+c&t=x%26y+z")
    var query = FormEncoding(.query)
    query.add("t", Secret("x&y z"))
    expect(query.text, is: "t=x%26y%20z")
  }

  @Test("empty pieces, missing values and repeated names are read as they are")
  func shapes() throws {
    let fields = try FormEncoding.decode(Array("&a=1&&b&a=%3D=&=x&".utf8))
    expect(fields.map(\.0), is: ["a", "b", "a", ""])
    expect(fields.map(\.1), is: ["1", "", "==", "x"])
  }

  @Test(
    "malformed escapes, NUL and what is not UTF-8 are refused",
    arguments: ["a=%", "a=%1", "a=%zz", "%=b", "a=%00", "a=%FF", "a=%C3", "a=%ED%A0%80"])
  func malformed(text: String) {
    expect(refusal { try FormEncoding.decode(Array(text.utf8)) }?.code, is: .invalidArgument)
  }

  @Test("more fields or bytes than the cap are refused")
  func caps() throws {
    let three = Array("a=1&b=2&c=3".utf8)
    try expect(FormEncoding.decode(three, maximumFields: 3, maximumBytes: three.count).count, is: 3)
    expect(refusal { try FormEncoding.decode(three, maximumFields: 2) }?.code, is: .invalidArgument)
    expect(
      refusal { try FormEncoding.decode(three, maximumBytes: three.count - 1) }?.code, is: .invalidArgument)
  }
}
