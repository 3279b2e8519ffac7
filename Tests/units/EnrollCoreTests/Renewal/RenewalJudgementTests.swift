// Tests each cell of the tables that decide the meaning of an answer to a refresh token, and the page that shows these
// tables.

import EnrollRules
import Expectations
import Testing

@Suite("What the answer to a refresh token means (R27, R33, R34)")
struct RenewalJudgementTests {
  static let codes: [RefusalContent: [String]] = [
    .invalidGrant: ["invalid_grant", "bad_refresh_token"],
    .aboutGrant: [
      "access_denied", "expired_token", "login_required", "interaction_required", "consent_required",
      "account_selection_required",
    ],
    .invalidToken: ["invalid_token"],
    .aboutClient: [
      "invalid_request", "invalid_client", "incorrect_client_credentials", "unauthorized_client",
      "unsupported_grant_type", "invalid_scope",
      "invalid_target", "invalid_dpop_proof",
    ],
    .trouble: [
      "temporarily_unavailable", "server_error", "slow_down", "authorization_pending", "use_dpop_nonce",
    ],
    .otherCode: ["forbidden", "INVALID_GRANT", "invalid_code", "error"],
  ]

  /// All other cells are `unclear`.
  static let cells: [RefusalContent: [Int: RenewalVerdict]] = [
    .invalidGrant: [400: .ends, 401: .ends, 403: .ends],
    .aboutGrant: [400: .endsIfRepeated, 401: .endsIfRepeated, 403: .refused],
    .invalidToken: [400: .endsIfRepeated, 401: .refused, 403: .refused],
    .aboutClient: [400: .refused, 401: .refused, 403: .refused],
    .otherCode: [400: .refused, 401: .refused, 403: .refused],
    .empty: [400: .endsIfRepeated, 401: .refused],
  ]

  @Test("every status and every content has the verdict of the table", arguments: RefusalContent.allCases)
  func refusal(content: RefusalContent) {
    for status in 100...599 {
      let expected = Self.cells[content]?[status] ?? .unclear
      expect(RenewalJudgement.verdict(status: status, content: content), is: expected, "\(status)")
    }
  }

  @Test("every registered error code is of one content, and a body without a code is of none of them")
  func contents() {
    for (content, codes) in Self.codes {
      for code in codes { expect(RefusalContent(code: code, isEmpty: false), is: content, "\(code)") }
      if content != .otherCode { expect(content.codes, is: codes) }
    }
    expect(RefusalContent(code: nil, isEmpty: true), is: .empty)
    expect(RefusalContent(code: nil, isEmpty: false), is: .withoutCode)
  }

  @Test("only another iss, sub or client under a proven signature ends a session by its id_token (R27)")
  func idToken() {
    for isProven in [true, false] {
      for shows in RenewedIDTokenShows.allCases {
        let expected: RenewedIDTokenVerdict =
          switch shows {
          case .anotherSession: isProven ? .ends : .withheld
          case .sameSession: isProven ? .adopted : .keptApart
          case .defect, .unreadable: .keptApart
          }
        expect(RenewalJudgement.verdict(shows: shows, isProven: isProven), is: expected)
      }
    }
  }

  @Test("docs/reliability.md shows the tables as they are")
  func drawn() throws {
    try DrawnPage.checkPart("reliability.md", "renewal", drawing())
  }

  private func drawing() -> String {
    func cell(_ verdict: RenewalVerdict) -> String {
      switch verdict {
      case .ends: "**ends**"
      case .endsIfRepeated: "**ends when repeated**"
      case .refused: "refused"
      case .unclear: "unclear"
      }
    }
    let refusals = RenewalJudgement.refusals.map { row in
      "| \(describe(row.content)) | \(cell(row.at400)) | \(cell(row.at401)) | \(cell(row.at403)) | \(cell(.unclear)) |"
    }
    let shown = RenewedIDTokenShows.allCases.map { shows in
      let verdicts = [true, false].map { describe(RenewalJudgement.verdict(shows: shows, isProven: $0)) }
      return "| \(describe(shows)) | \(verdicts[0]) | \(verdicts[1]) |"
    }
    return """
      | the refusal says | status 400 | 401 | 403 | any other |
      | --- | --- | --- | --- | --- |
      \(refusals.joined(separator: "\n"))

      | the id_token of a renewal | signed by the issuer | signature not proven |
      | --- | --- | --- |
      \(shown.joined(separator: "\n"))
      """
  }

  private func describe(_ content: RefusalContent) -> String {
    let codes = content.codes.map { "`\($0)`" }.joined(separator: ", ")
    return switch content {
    case .otherCode: "another error code"
    case .empty: "nothing, and its head says so (`Content-Length: 0`, or chunks that end)"
    case .withoutCode: "JSON without an error code, or anything else"
    case .invalidGrant, .aboutGrant, .invalidToken, .aboutClient, .trouble: codes
    }
  }

  private func describe(_ shows: RenewedIDTokenShows) -> String {
    switch shows {
    case .sameSession: "has the same `iss` and `sub`, names this client, and breaks no rule"
    case .defect: "the same, but breaks a rule: `exp`, `iat`, `auth_time`, `at_hash`, `acr`"
    case .anotherSession: "has another `iss` or `sub`, or `aud` or `azp` do not name this client"
    case .unreadable: "cannot be read"
    }
  }

  private func describe(_ verdict: RenewedIDTokenVerdict) -> String {
    switch verdict {
    case .adopted: "tokens, id_token and profile are used"
    case .keptApart: "tokens are used; the old id_token and profile stay"
    case .withheld: "the access token is not used; the next renewal decides"
    case .ends: "**ends**"
    }
  }
}
