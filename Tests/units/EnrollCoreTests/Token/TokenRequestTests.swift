import EnrollRules
import EnrollCrypto
import Expectations
import Testing

@Suite("Requests to the token endpoint (RFC 6749 §4.1.3, §6)")
struct TokenRequestTests {
  @Test("a code goes with its verifier and redirect, on a connection never used before (R15)")
  func exchange() throws {
    let request = TokenRequest.exchange(
      code: Secret("c/1+2"), redirectURI: "com.example.app:/cb", codeVerifier: Secret("verifier"),
      configuration: try Fixture.configuration(),
      metadata: try Fixture.metadata())
    expect(request.method, is: .post)
    expect(request.url, is: "https://id.example.com/token")
    #expect(request.freshConnection)
    #expect(request.headers.contains(HTTPHeader("Content-Type", "application/x-www-form-urlencoded")))
    expect(
      String(decoding: request.body, as: UTF8.self),
      is:
        "grant_type=authorization_code&code=c%2F1%2B2&redirect_uri=com.example.app%3A%2Fcb&code_verifier=verifier"
    )
  }

  @Test("a refresh token goes into the body, with the client's id")
  func refresh() throws {
    let request = TokenRequest.refresh(
      refreshToken: Secret("r&1"), configuration: try Fixture.configuration(),
      metadata: try Fixture.metadata())
    #expect(request.freshConnection && request.mustAwaitResponse)
    #expect(!request.url.contains("?"))
    #expect(!request.headers.contains { $0.name == "Authorization" })
    expect(
      String(decoding: request.body, as: UTF8.self),
      is: "grant_type=refresh_token&refresh_token=r%261")
    let named = ClientAuthentication(naming: "client one").adding(to: request)
    expect(
      String(decoding: named.body, as: UTF8.self),
      is: "grant_type=refresh_token&refresh_token=r%261&client_id=client+one")
    #expect(named.freshConnection && named.mustAwaitResponse)
  }
}
