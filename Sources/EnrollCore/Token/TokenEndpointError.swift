// The refusal of a token endpoint, or of one that follows its rules (RFC 6749 §5.2), by classes of status. The
// `error_description` is ignored: some servers repeat the token in it (R40).

import EnrollJSON

enum TokenEndpointError {
  /// nil when the status says success.
  static func read(_ response: HTTPResponse, expecting expected: String = "tokens") -> EnrollError? {
    let status = response.status
    switch status {
    case 200..<300: return nil
    case 408, 429, 500...:
      return EnrollError(
        .server, "expected \(expected), got status \(status)", httpStatus: status,
        retryAfterSeconds: RetryAfter.seconds(of: response))
    case 400..<500: return clientError(response, expected)
    default:
      return EnrollError(
        .responseInvalid, "expected \(expected), got status \(status); redirects are not followed",
        httpStatus: status)
    }
  }

  /// As ``read(_:expecting:)``, and for a success that says `error` and brings no token of any kind: some providers refuse that
  /// way (GitHub).
  static func refusal(in response: HTTPResponse) -> EnrollError? {
    if let error = read(response) { return error }
    guard !response.bringsTokens, oauthError(in: response) != nil,
      (try? JSON.parse(response.body))?["refresh_token"] == nil
    else { return nil }
    return clientError(response, "tokens")
  }

  private static func clientError(_ response: HTTPResponse, _ expected: String) -> EnrollError {
    let status = response.status
    guard let code = oauthError(in: response) else {
      // Glewlwyd answers some refusals with an empty body.
      let isRefusal = status == 400 || status == 401 || status == 403
      return EnrollError(
        isRefusal ? .oauth : .responseInvalid,
        "expected \(expected), got status \(status) without a usable OAuth error",
        httpStatus: status)
    }
    // RFC 6749 §4.1.2.1 has these for redirects; some servers send them from here.
    let isTrouble = ASCII.equals(code, "temporarily_unavailable") || ASCII.equals(code, "server_error")
    let isClient =
      ["invalid_client", "incorrect_client_credentials"].contains { ASCII.equals($0, code) }
      || response.asksForSecret
    let hint = isClient ? EnrollError.secretHint : ""
    return EnrollError(
      isTrouble ? .server : .oauth, "expected \(expected), got the error \(code)\(hint)", httpStatus: status,
      oauthError: code, retryAfterSeconds: RetryAfter.seconds(of: response))
  }

  /// The member `error`, when it is a proper code, as it may be told on; nil for everything else, also for the description of an
  /// error that the server's framework or a proxy writes (RFC 9457 §3.1, Spring Boot).
  static func oauthError(in response: HTTPResponse) -> String? {
    guard let json = try? JSON.parse(response.body),
      let code = json["error"]?.string.flatMap({ PrintableText.errorCode($0) }),
      !isReasonPhrase(code),
      json["status"] == nil || ["path", "timestamp", "type", "title"].allSatisfy({ json[$0] == nil })
    else { return nil }
    return response.sent.shown(errorCode: code)
  }

  /// Stands for a code that is built as no registered one is: it may repeat a part of a secret, or all of it in another coding
  /// (R40).
  static let otherError = "other_error"
}

extension TokenEndpointError {
  /// RFC 9110 §15. Phrases of several words are no codes.
  private static func isReasonPhrase(_ code: String) -> Bool {
    ["Unauthorized", "Forbidden", "Conflict", "Gone", "Unavailable"].contains { ASCII.equals($0, code) }
  }
}

extension HTTPResponse {
  /// Whether the refusal is about a client secret (Google).
  fileprivate var asksForSecret: Bool {
    (try? JSON.parse(body))?["error_description"]?.string.map {
      ASCII.contains(Array($0.utf8), "client_secret")
    } ?? false
  }
}

extension EnrollError {
  fileprivate static let secretHint =
    "; check clientId, and clientSecret and tokenEndpointAuthMethod if the provider gave this client a secret"

  /// Whether its text already says that a client secret may be missing.
  var namesSecret: Bool {
    message.utf8.suffix(Self.secretHint.utf8.count).elementsEqual(Self.secretHint.utf8)
  }

  /// The same without the hint at a client secret.
  var withoutSecretHint: EnrollError {
    guard namesSecret else { return self }
    return saying(
      String(decoding: message.utf8.dropLast(Self.secretHint.utf8.count), as: UTF8.self))
  }

  /// The provider does not know the client, or does not let it do this.
  var refusesClient: Bool {
    guard let oauthError else { return false }
    return ["invalid_client", "unauthorized_client"].contains { ASCII.equals($0, oauthError) }
  }

  /// The server wants another nonce although it got the one that it had asked for (RFC 9449 §8): says nothing about
  /// any token.
  var demandsNonce: Bool { oauthError.map { ASCII.equals($0, DPoPNonces.errorCode) } ?? false }

  /// The provider refuses the client rather than the token: our configuration or its, and no session's end.
  var isOurConfiguration: Bool {
    guard let oauthError else { return false }
    let codes = [
      "invalid_client", "incorrect_client_credentials", "unauthorized_client", "unsupported_grant_type",
      "invalid_scope",
    ]
    return codes.contains { ASCII.equals($0, oauthError) }
  }
}
