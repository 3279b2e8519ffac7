import EnrollRules
import EnrollCrypto
import EnrollJSON
import Expectations
import TestVectors
import Testing

@Suite("Verified redirects (R5-R8, R12, R17)")
struct VerifiedRedirectTests {
  private func verify(
    _ url: String, _ transactions: [TransactionRecord], announced: Bool = false,
    at moment: Moment = Fixture.moment()
  ) throws -> VerifiedRedirect {
    try VerifiedRedirect(
      verifying: Redirect(parsing: url), among: transactions, issuerAnnounced: announced, at: moment)
  }

  private func code(
    _ url: String, _ transactions: [TransactionRecord], announced: Bool = false,
    at moment: Moment = Fixture.moment()
  ) -> EnrollError.Code? {
    refusal { try verify(url, transactions, announced: announced, at: moment) }?.code
  }

  @Test("a redirect with our state brings its code, for the transaction that has this state (R7)")
  func success() throws {
    let transactions = [Fixture.transaction(state: "s1"), Fixture.transaction(state: "s2")]
    let verified = try verify("com.example.app:/cb?code=c%2F1&state=s2", transactions)
    expect(verified.transaction, is: transactions[1])
    expect(verified.answer, is: .code(Secret("c/1")))
  }

  @Test(
    "a redirect with another state, or none, is refused (R6)",
    arguments: [
      "code=c&state=s2", "code=c", "code=c&state=", "code=c&state=s", "code=c&state=s11", "code=c&state=S1",
      "error=access_denied", "error=access_denied&state=x", "state=",
    ])
  func unsolicited(query: String) {
    expect(code("com.example.app:/cb?\(query)", [Fixture.transaction(state: "s1")]), is: .unsolicited)
  }

  @Test("with nothing pending every redirect is unsolicited, even beside a transaction without a state (R6)")
  func nothingPending() {
    expect(code("com.example.app:/cb?code=c&state=s1", []), is: .unsolicited)
    expect(code("com.example.app:/cb?code=c&state=", [Fixture.transaction(state: "")]), is: .unsolicited)
  }

  @Test("canonically equal text is another state (R7)")
  func canonicalEquivalence() {
    let url = "com.example.app:/cb?code=c&state=e%CC%81"
    expect(code(url, [Fixture.transaction(state: "\u{E9}")]), is: .unsolicited)
  }

  static let redirects: [(String, String, EnrollError.Code?)] = [
    ("com.example.app:/cb", "com.example.app:/cb", nil),
    ("com.example.app:/cb", "com.example.app:/cb/", .redirectMismatch),
    ("com.example.app:/cb", "com.example.app:/c", .redirectMismatch),
    ("com.example.app:/cb", "com.example.app:/cb2", .redirectMismatch),
    ("com.example.app:/cb", "com.example.app:/CB", .redirectMismatch),
    ("com.example.app:/cb", "com.example.app:/%63b", .redirectMismatch),
    ("com.example.app:/cb", "com.example.app://cb", .redirectMismatch),
    ("com.example.app:/cb", "com.example.app2:/cb", .redirectMismatch),
    ("com.example.app:/cb", "https://app.example/cb", .redirectMismatch),
    ("https://app.example/cb", "https://app.example/cb", nil),
    ("https://app.example/cb", "https://App.example/cb", .redirectMismatch),
    ("https://app.example/cb", "https://app.example:8443/cb", .redirectMismatch),
    ("https://app.example/cb", "https://app.example.evil.example/cb", .redirectMismatch),
    ("https://app.example/cb?tenant=1", "https://app.example/cb", nil),
    ("http://127.0.0.1:5000/cb", "http://127.0.0.1:5000/cb", nil),
    ("http://127.0.0.1:5000/cb", "http://127.0.0.1:6000/cb", nil),
    ("http://127.0.0.1:5000/cb", "http://127.0.0.1/cb", nil),
    ("http://127.0.0.1:5000/cb", "http://[::1]:5000/cb", .redirectMismatch),
    ("http://127.0.0.1:5000/cb", "http://localhost:5000/cb", .redirectMismatch),
    ("http://127.0.0.1:5000/cb", "http://127.0.0.1:5000/other", .redirectMismatch),
    ("http://127.0.0.1:5000/cb", "https://127.0.0.1:5000/cb", .redirectMismatch),
  ]

  @Test(
    "the redirect URI is the one that was sent, byte for byte apart from query and loopback port (R5)",
    arguments: redirects)
  func redirectURI(sent: String, received: String, refusal: EnrollError.Code?) {
    let transactions = [Fixture.transaction(state: "s", redirectURI: sent)]
    expect(code("\(received)?code=c&state=s", transactions), is: refusal)
  }

  @Test(
    "a settled transaction is told apart from an unknown one (R12)",
    arguments: [
      (TransactionRecord.Status.pending, EnrollError.Code?.none), (.cancelled, nil),
      (.exchanging, .alreadySettled),
      (.succeeded, .alreadySettled), (.failed, .alreadySettled),
    ])
  func statuses(status: TransactionRecord.Status, refusal: EnrollError.Code?) {
    let transactions = [Fixture.transaction(state: "s", status: status)]
    expect(code("com.example.app:/cb?code=c&state=s", transactions), is: refusal)
    expect(code("com.example.app:/cb?error=access_denied&state=s", transactions), is: refusal)
  }

  @Test("a redirect after the deadline is refused, one second before it is not (R12)")
  func deadline() {
    let transactions = [Fixture.transaction(state: "s", seconds: 600)]
    let url = "com.example.app:/cb?code=c&state=s"
    expect(code(url, transactions, at: Fixture.moment(599)), is: nil)
    expect(code(url, transactions, at: Fixture.moment(600)), is: .transactionExpired)
    expect(code(url, transactions, at: Fixture.moment(10_000)), is: .transactionExpired)
  }

  static let issuers: [(String, Bool, EnrollError.Code?)] = [
    ("code=c&state=s&iss=https%3A%2F%2Fid.example.com", false, nil),
    ("code=c&state=s&iss=https://id.example.com", true, nil),
    ("code=c&state=s", false, nil),
    ("code=c&state=s", true, .issuerMismatch),
    ("code=c&state=s&iss=https://id.example.com/", false, .issuerMismatch),
    ("code=c&state=s&iss=https://evil.example", false, .issuerMismatch),
    ("code=c&state=s&iss=https://ID.example.com", true, .issuerMismatch),
    ("error=access_denied&state=s&iss=https://evil.example", false, .issuerMismatch),
    ("error=access_denied&state=s&iss=https://evil.example", true, .issuerMismatch),
    ("error=access_denied&state=s", true, nil),
  ]

  @Test(
    "iss is compared as a plain string, and may be missing only where that yields no token (R17)",
    arguments: issuers)
  func issuer(query: String, announced: Bool, refusal: EnrollError.Code?) throws {
    let transactions = [Fixture.transaction(state: "s")]
    let verified = try verify("com.example.app:/cb?\(query)", transactions, announced: announced)
    if case .error(let error) = verified.answer, error.field == "iss" {
      expect(error.code, is: refusal)
    } else {
      expect(refusal, is: nil)
    }
  }

  @Test("neither code nor error, or a code with control characters, settles nothing (R8)")
  func noAnswer() {
    let transactions = [Fixture.transaction(state: "s")]
    expect(code("com.example.app:/cb?state=s", transactions), is: .redirectMalformed)
    expect(code("com.example.app:/cb?state=s&code=a%0Ab", transactions), is: .redirectMalformed)
    expect(code("com.example.app:/cb?state=s&code=%C3%A9", transactions), is: .redirectMalformed)
  }

  @Test(
    "a provider's error with live state settles the transaction with a typed code",
    arguments: [
      ("login_required", EnrollError.Code.loginRequired), ("interaction_required", .interactionRequired),
      ("account_selection_required", .interactionRequired), ("consent_required", .consentRequired),
      ("access_denied", .accessDenied), ("invalid_scope", .oauth), ("server_error", .server),
      ("temporarily_unavailable", .server),
      ("LOGIN_REQUIRED", .oauth),
    ])
  func errors(oauthError: String, expected: EnrollError.Code) throws {
    let url = "com.example.app:/cb?error=\(oauthError)&state=s&error_description=not%20now%0A%1B%5B31m"
    let verified = try verify(url, [Fixture.transaction(state: "s")])
    guard case .error(let error) = verified.answer else {
      Issue.record("an error was expected")
      return
    }
    expect(error.code, is: expected)
    expect(error.oauthError, is: oauthError)
    // The error must contain the provider's description, without characters that a terminal would interpret.
    #expect(error.message.hasSuffix(": not now??[31m"))
  }

  @Test("an error without a proper code still settles, without repeating it")
  func improperError() throws {
    let verified = try verify("com.example.app:/cb?error=%1B&state=s", [Fixture.transaction(state: "s")])
    guard case .error(let error) = verified.answer else {
      Issue.record("an error was expected")
      return
    }
    expect(error.code, is: .oauth)
    expect(error.oauthError, is: nil)
  }

  @Test("the SDKs' own tables, where stricter as this project decides", arguments: Vectors.atHand)
  func sdkTables(vectors: Vectors) throws {
    var count = 0
    for row in try vectors.json("sdk-tables/sdk-tables.json").array ?? [] {
      guard let kind = row["kind"]?.string, kind.hasPrefix("redirect"), let state = row["state"]?.string,
        let url = row["url"]?.string, let redirectURI = row["redirect_uri"]?.string
      else { continue }
      let transactions = [Fixture.transaction(state: state, redirectURI: redirectURI)]
      let id = row["id"]?.string ?? ""
      let expected = row["enrollkit"]?["code"]?.string ?? row["enrollkit"]?.string ?? ""
      let answer = try? verify(url, transactions).answer
      if expected.hasPrefix("reject") {
        expect(answer, is: nil, "\(id)")
      } else {
        let code = expected.hasPrefix("code:") ? String(expected.dropFirst(5)) : expected
        expect(answer, is: .code(Secret(code)), "\(id)")
      }
      count += 1
    }
    expect(count, is: vectors.least(own: 25, published: 12))
  }
}
