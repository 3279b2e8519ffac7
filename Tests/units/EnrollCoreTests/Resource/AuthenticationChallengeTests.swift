@testable import EnrollRules
import Expectations
import Testing

@Suite("WWW-Authenticate (RFC 9110 §11.6.1)")
struct AuthenticationChallengeTests {
  private func challenges(_ values: String...) throws -> [String] {
    let response = HTTPResponse(status: 401, headers: values.map { HTTPHeader("www-authenticate", $0) })
    return try AuthenticationChallenge.all(in: response).map { challenge in
      challenge.scheme + challenge.parameters.map { " \($0.name)=<\($0.value)>" }.joined()
    }
  }

  @Test(
    "challenges, tokens, quoted texts and token68 are told apart",
    arguments: [
      ("Bearer", ["Bearer"]),
      (#"Bearer realm="a, b=c", error=invalid_token"#, ["Bearer realm=<a, b=c> error=<invalid_token>"]),
      (#"Bearer realm="say \"hi\" \\ there""#, [#"Bearer realm=<say "hi" \ there>"#]),
      (
        #"Basic realm="x", Bearer resource_metadata="https://a/b?c=d,e""#,
        ["Basic realm=<x>", "Bearer resource_metadata=<https://a/b?c=d,e>"]
      ),
      ("Negotiate, Bearer a=b", ["Negotiate", "Bearer a=<b>"]),
      ("Negotiate YII==, Bearer a = \"b\" ,c=d", ["Negotiate", "Bearer a=<b> c=<d>"]),
      (", ,Bearer a=b,, Digest c=d,", ["Bearer a=<b>", "Digest c=<d>"]),
      (#"Bearer a="""#, ["Bearer a=<>"]), ("", []),
    ])
  func grammar(header: String, expected: [String]) throws {
    try expect(challenges(header), is: expected)
  }

  @Test("several headers are one list")
  func headers() throws {
    try expect(challenges("Basic realm=x", "Bearer a=b"), is: ["Basic realm=<x>", "Bearer a=<b>"])
  }

  @Test(
    "what is not of the grammar is refused, never repaired",
    arguments: [
      "Bearer a=https://b/c", "Bearer a=\"b", "Bearer a=\"b\\", "Bearer a=b c=d", "Bearer a=b, A=c", "=b",
      "\"Bearer\"", "Bearer a=b;c", "Bearer a=\u{1}", "Bearer (a)",
    ])
  func refused(header: String) {
    expect(refusal { try challenges(header) }?.code, is: .responseInvalid)
  }
}
