// What the response to a refresh token means for the session (R27, R30, R33, R34). Only the two tables in this file
// decide that: one for refusals, by status and content, and one for the id_token of a success. Pure.
// docs/reliability.md shows the same tables.

/// The meaning of a refusal of a refresh token.
public enum RenewalVerdict: String, Sendable, CaseIterable {
  /// The provider ends the session: it refuses this refresh token for good (R34).
  case ends
  /// The session ends if the provider refuses in the same way again, 60 s or more later.
  case endsIfRepeated
  /// The provider refuses for a reason other than the grant. The session continues, and no renewal is sent for 60 s.
  case refused
  /// The state of the refresh token is unknown. The session continues, and the same token is sent again after a backoff
  /// (R33).
  case unclear
}

/// The two tables that judge a renewal.
public enum RenewalJudgement {
  /// The verdicts for one kind of content: one verdict for each status with which a token endpoint refuses.
  public struct Row: Sendable {
    public let content: RefusalContent
    public let at400: RenewalVerdict
    public let at401: RenewalVerdict
    public let at403: RenewalVerdict
  }

  /// For every other status the verdict is `unclear`: 404, 405, 413, 421 and similar statuses come from a proxy or a
  /// gateway; 408, 429 and 5xx come from a server with a problem; 3xx comes from a captive portal.
  public static let refusals: [Row] = [
    // A proxy does not send `invalid_grant`, so the session ends even if the status is 403.
    Row(content: .invalidGrant, at400: .ends, at401: .ends, at403: .ends),
    Row(content: .aboutGrant, at400: .endsIfRepeated, at401: .endsIfRepeated, at403: .refused),
    Row(content: .invalidToken, at400: .endsIfRepeated, at401: .refused, at403: .refused),
    Row(content: .aboutClient, at400: .refused, at401: .refused, at403: .refused),
    Row(content: .trouble, at400: .unclear, at401: .unclear, at403: .unclear),
    Row(content: .otherCode, at400: .refused, at401: .refused, at403: .refused),
    // Glewlwyd refuses a refresh token with status 400 and an empty body; Spring Authorization Server refuses a client
    // with status 401 and an empty body. An empty body with status 403 comes from a proxy.
    Row(content: .empty, at400: .endsIfRepeated, at401: .refused, at403: .unclear),
    Row(content: .withoutCode, at400: .unclear, at401: .unclear, at403: .unclear),
  ]

  /// The meaning of a refusal. A success is judged by its content, and a request without a response is `unclear`.
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

/// What a renewal's id_token means for the session.
public enum RenewedIDTokenShows: Sendable, CaseIterable {
  /// The response continues this session: it has the same issuer and user, is for this client, and breaks no
  /// rule.
  case sameSession
  /// The response continues this session, but breaks a rule, for example a rule about a time, a hash or the
  /// authentication class.
  case defect
  /// Another session: `iss` or `sub` is different, this client is not in `aud`, or `azp` is another client.
  case anotherSession
  /// The token cannot be parsed, or lacks a claim that every id_token must have.
  case unreadable
}

/// The verdict on a renewal with an id_token (R27).
public enum RenewedIDTokenVerdict: String, Sendable, CaseIterable {
  /// The tokens are used, and the new id_token and profile replace the old ones.
  case adopted
  /// The tokens are used. The old id_token and profile stay, and the new id_token is stored as unproven.
  case keptApart
  /// The rotated refresh token is stored, but the access token is not used; the next renewal decides.
  case withheld
  /// The session is over.
  case ends
}

extension RenewalJudgement {
  /// - Parameter isProven: whether the signature was verified with a key of the issuer.
  public static func verdict(shows: RenewedIDTokenShows, isProven: Bool) -> RenewedIDTokenVerdict {
    switch (shows, isProven) {
    case (.sameSession, true): .adopted
    case (.sameSession, false), (.defect, _), (.unreadable, _): .keptApart
    case (.anotherSession, false): .withheld
    case (.anotherSession, true): .ends
    }
  }
}
