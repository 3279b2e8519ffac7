import EnrollRules
import EnrollCrypto
import Expectations
import Testing

@Suite("Redirects as they arrive (R8, R9)")
struct RedirectTests {
  @Test(
    "what came twice, or beside what excludes it, is refused (R8)",
    arguments: [
      "code=a&code=a", "state=a&state=a", "error=a&error=a", "iss=a&iss=a", "code=a&error=b",
      "error=b&state=x&code=a",
      "code=a&c%6fde=b", "code=a&%63%6F%64%65=b", "stat%65=a&state=a", "code=a&code", "state=&state=a",
      "code=", "code", "error=", "iss=&code=a", "code=&state=a",
    ])
  func refused(query: String) {
    expect(refusal { try Redirect(parsing: "com.example.app:/cb?\(query)") }?.code, is: .redirectMalformed)
  }

  @Test(
    "unknown parameters are ignored, repeated or not (RFC 6749 §3.1)",
    arguments: [
      "state=s&code=a&x=1&x=2", "&&state=s&&code=a&&", "state=s&code=a&CODE=b&Code=c&code[]=d",
      "state=s&code=a&=b&==c",
      "state=s&code=a&error_description=a&error_description=b", "state=s&code=a&session_state=x.y&scope=a+b",
      "state=s&code=a&access_token=t&id_token=u",
      "state=s&code=a&co%2564e=b&code%00".replacing("%00", with: "%01"),
      "state=s&code=a&auth_code=b&codes=c&cod=d",
    ])
  func ignored(query: String) throws {
    let redirect = try Redirect(parsing: "com.example.app:/cb?\(query)")
    expect(redirect.state, is: Secret("s"))
    let transactions = [Fixture.transaction(state: "s")]
    let verified = try VerifiedRedirect(
      verifying: redirect, among: transactions, issuerAnnounced: false, at: Fixture.moment())
    expect(verified.answer, is: .code(Secret("a")))
  }

  @Test("a parameter in the fragment is not read (R8)")
  func fragment() throws {
    let redirect = try Redirect(parsing: "com.example.app:/cb?state=s#state=t&code=x&error=y")
    expect(redirect.state, is: Secret("s"))
    expect(redirect.errorCode, is: nil)
    try expect(Redirect(parsing: "com.example.app:/cb#state=s&code=x").state, is: nil)
  }

  @Test("values are decoded once, + is a space")
  func decoding() throws {
    let redirect = try Redirect(parsing: "com.example.app:/cb?state=a%2Bb+c%2525=d")
    expect(redirect.state, is: Secret("a+b c%25=d"))
  }

  @Test(
    "an error code is bounded and printable, or none",
    arguments: [
      ("access_denied", String?.some("access_denied")), ("a%20b", nil), ("a%0Ab", nil), ("%22", nil),
      ("%5C", nil),
      ("%C3%A9", nil), ("%FF", nil),
    ])
  func errorCodes(value: String, code: String?) throws {
    try expect(Redirect(parsing: "com.example.app:/cb?error=\(value)").errorCode, is: code)
    let long = String(repeating: "e", count: 65)
    try expect(Redirect(parsing: "com.example.app:/cb?error=\(long)").errorCode, is: nil)
  }

  @Test(
    "a description that came more than once is none",
    arguments: [
      "error_description=n&error_description=o", "error_description=no&error%5Fdescription=",
      "error_description=a&error_description=b&error_description=c",
    ])
  func repeatedDescription(query: String) throws {
    let redirect = try Redirect(parsing: "com.example.app:/cb?error=access_denied&state=s&\(query)")
    #expect(redirect.errorDescription == nil && redirect.errorCode == "access_denied")
    let once = try Redirect(parsing: "com.example.app:/cb?error=access_denied&error_description=not+now")
    expect(once.errorDescription, is: "not now")
  }

  @Test(
    "a URL that R9 refuses is malformed",
    arguments: ["foo", "", "https://u@a.b/cb?state=s", "com.example.app:/cb?a=%00"])
  func malformed(text: String) {
    expect(refusal { try Redirect(parsing: text) }?.code, is: .redirectMalformed)
  }
}
