// The meaning of the answer to a refresh token for the session (R27, R30, R33, R34). Only these two tables decide it: one
// for refusals, by status and content, and one for the id_token of a success. Pure. docs/reliability.md shows them as
// they stand here.

import EnrollJSON

/// The meaning of a refusal of a refresh token.
public enum RenewalVerdict: String, Sendable, CaseIterable {
  /// The provider ends the session: this refresh token is refused for good (R34).
  case ends
  /// The provider ends the session when it refuses with the same answer again, 60 s or more later.
  case endsIfRepeated
  /// The provider refuses for a reason that is not this grant. The session stays, and nobody asks for 60 s.
  case refused
  /// Nothing is known of the refresh token. The session stays, and the same token is sent again after a backoff (R33).
  case unclear
}

/// The content of a refusal by a token endpoint, or by a server that answers in its place.
public enum RefusalContent: Sendable, CaseIterable {
  /// `invalid_grant` (RFC 6749 §5.2).
  case invalidGrant
  /// Another registered code that is about the grant or its user.
  case aboutGrant
  /// `invalid_token`: of a token endpoint about the refresh token, of a gateway about a missing access token (RFC 6750 §3.1).
  case invalidToken
  /// A registered code that is about the client or its request.
  case aboutClient
  /// A code that says that the server is in trouble, or wants the request once more.
  case trouble
  /// A code that no registry knows.
  case otherCode
  /// No body at all, and the head says so.
  case empty
  /// JSON without an error code, anything that is not JSON, and a body that did not come.
  case withoutCode

  /// The codes that lead here (IANA, OAuth Extensions Error Registry); empty for content without a known code.
  public var codes: [String] {
    switch self {
    // The second one is GitHub's.
    case .invalidGrant: ["invalid_grant", "bad_refresh_token"]
    case .aboutGrant:
      [
        "access_denied", "expired_token", "login_required", "interaction_required", "consent_required",
        "account_selection_required",
      ]
    case .invalidToken: ["invalid_token"]
    case .aboutClient:
      [
        "invalid_request", "invalid_client", "incorrect_client_credentials", "unauthorized_client",
        "unsupported_grant_type", "invalid_scope", "invalid_target", "invalid_dpop_proof",
      ]
    case .trouble:
      ["temporarily_unavailable", "server_error", "slow_down", "authorization_pending", DPoPNonces.errorCode]
    case .otherCode, .empty, .withoutCode: []
    }
  }

  /// - Parameters:
  ///   - code: the member `error`, where the body is JSON and has a proper one.
  ///   - isEmpty: whether the head says that there is no body.
  public init(code: String?, isEmpty: Bool) {
    guard let code else {
      self = isEmpty ? .empty : .withoutCode
      return
    }
    self =
      RefusalContent.allCases.first { content in content.codes.contains { ASCII.equals($0, code) } }
      ?? .otherCode
  }
}

/// The tables.
public enum RenewalJudgement {
  /// One kind of content, at the statuses with which a token endpoint refuses.
  public struct Row: Sendable {
    public let content: RefusalContent
    public let at400: RenewalVerdict
    public let at401: RenewalVerdict
    public let at403: RenewalVerdict
  }

  /// At every other status the verdict is `unclear`: 404, 405, 413, 421 and their like come from a proxy or a gateway, 408,
  /// 429 and 5xx from a server in trouble, 3xx from a portal.
  public static let refusals: [Row] = [
    // No proxy says it by chance, so 403 counts, too.
    Row(content: .invalidGrant, at400: .ends, at401: .ends, at403: .ends),
    Row(content: .aboutGrant, at400: .endsIfRepeated, at401: .endsIfRepeated, at403: .refused),
    Row(content: .invalidToken, at400: .endsIfRepeated, at401: .refused, at403: .refused),
    Row(content: .aboutClient, at400: .refused, at401: .refused, at403: .refused),
    Row(content: .trouble, at400: .unclear, at401: .unclear, at403: .unclear),
    Row(content: .otherCode, at400: .refused, at401: .refused, at403: .refused),
    // Glewlwyd refuses a refresh token with an empty 400, Spring Authorization Server a client with an empty 401. An empty 403 is
    // a proxy's.
    Row(content: .empty, at400: .endsIfRepeated, at401: .refused, at403: .unclear),
    Row(content: .withoutCode, at400: .unclear, at401: .unclear, at403: .unclear),
  ]

  /// The meaning of a refusal. A success is judged by its content, and a request without an answer is `unclear`.
  public static func verdict(status: Int, content: RefusalContent) -> RenewalVerdict {
    guard let row = refusals.first(where: { $0.content == content }) else { return .unclear }
    switch status {
    case 400: return row.at400
    case 401: return row.at401
    case 403: return row.at403
    default: return .unclear
    }
  }
}

/// The findings about the id_token of a renewal.
public enum RenewedIDTokenShows: Sendable, CaseIterable {
  /// The session goes on: same issuer, same user, for this client, and no rule is broken.
  case sameSession
  /// The session goes on, but a rule is broken: a time, a hash, a class of authentication.
  case defect
  /// Another `iss` or `sub`, or this client is not in `aud`, or not the `azp`.
  case anotherSession
  /// It cannot be taken apart, or lacks a claim that every id_token has.
  case unreadable
}

/// The verdict on a renewal that brought an id_token (R27).
public enum RenewedIDTokenVerdict: String, Sendable, CaseIterable {
  /// The tokens are used; id_token and profile are the new ones.
  case adopted
  /// The tokens are used; the old id_token and profile stay, and the new id_token counts as unproven.
  case keptApart
  /// The rotated refresh token is kept, the access token is not used; the next renewal decides.
  case withheld
  /// The session is over.
  case ends
}

extension RenewalJudgement {
  /// - Parameter isProven: whether a key of the issuer's made the signature.
  public static func verdict(shows: RenewedIDTokenShows, isProven: Bool) -> RenewedIDTokenVerdict {
    switch (shows, isProven) {
    case (.sameSession, true): .adopted
    case (.sameSession, false), (.defect, _), (.unreadable, _): .keptApart
    case (.anotherSession, false): .withheld
    case (.anotherSession, true): .ends
    }
  }
}
