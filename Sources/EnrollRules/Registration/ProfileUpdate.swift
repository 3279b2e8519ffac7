// The request that sends the confirmed profile to the host's back end (R31).

public import EnrollJSON

/// The request that sends the confirmed profile to the host's back end: a POST with the access token in the header
/// (R31). If it fails, the state stays H `confirmed`.
public enum ProfileUpdate {
  public static func request(endpoint: String, tokens: TokenSet, profile: JSONObject) -> HTTPRequest {
    HTTPRequest(
      .post, endpoint,
      headers: [
        HTTPHeader("Authorization", tokens.authorization), HTTPHeader("Content-Type", "application/json"),
        HTTPHeader("Accept", "application/json"),
      ],
      body: JSON.object([("profile", .object(profile))]).serialized())
  }

  /// Whether the message need not be sent again, because it was accepted, or because another attempt cannot change the
  /// refusal. After a 401 the next access token may be accepted.
  public static func isFinal(status: Int) -> Bool {
    switch status {
    case 200..<300: true
    case 401, 408, 429: false
    case 400..<500: true
    default: false
    }
  }
}
