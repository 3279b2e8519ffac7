// Telling the host's back end the profile that the user confirmed (flows.md §7): a POST with the access token in the
// header (R31). A failure never undoes H.

public import EnrollJSON

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

  /// Whether nothing more is to be done: taken, or refused in a way that the next try cannot change. After a 401 the
  /// next access token may be taken.
  public static func isFinal(status: Int) -> Bool {
    switch status {
    case 200..<300: true
    case 401, 408, 429: false
    case 400..<500: true
    default: false
    }
  }
}
