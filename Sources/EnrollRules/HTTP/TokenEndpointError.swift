// The error for a refusal by a token endpoint, or by an endpoint with the same rules (RFC 6749 §5.2). Its kind depends
// on the status, and it contains the server's own description. A description that repeats the token is dropped (R40).

import EnrollJSON

package enum TokenEndpointError {
  /// The error of a refusal; nil if the status says success.
  package static func read(_ response: HTTPResponse, expecting expected: String = "tokens") -> EnrollError? {
    let status = response.status
    switch status {
    case 200..<300: return nil
    case 408, 429, 500...: return trouble(response, expected)
    case 400..<500: return clientError(response, expected)
    default:
      return EnrollError(
        .responseInvalid,
        "expected \(expected), got status \(status)\(response.place); redirects are not followed",
        httpStatus: status)
    }
  }

  private static func trouble(_ response: HTTPResponse, _ expected: String) -> EnrollError {
    let words = ServerWords(in: response)
    return EnrollError(
      .server,
      "expected \(expected), got status \(response.status)\(response.place)\(words.text)"
        + RetryAfter.words(of: response),
      httpStatus: response.status, oauthError: words.isTrouble ? words.code : nil,
      oauthErrorDescription: words.description, retryAfterSeconds: RetryAfter.seconds(of: response))
  }

  /// The error of a refusal, with the code that the server gives.
  static func clientError(_ response: HTTPResponse, _ expected: String) -> EnrollError {
    let status = response.status
    let words = ServerWords(in: response)
    guard let code = words.code else {
      // These statuses are refusals even with an empty body, because Glewlwyd sends some refusals like that.
      let isRefusal = status == 400 || status == 401 || status == 403
      return EnrollError(
        isRefusal ? .oauth : .responseInvalid,
        "expected \(expected), got status \(status)\(response.place) without a usable OAuth error\(words.text)",
        httpStatus: status, oauthErrorDescription: words.description)
    }
    let isClient =
      ["invalid_client", "incorrect_client_credentials"].contains { ASCII.equals($0, code) }
      || response.asksForSecret
    let hint = isClient ? EnrollError.secretHint : words.advice
    return EnrollError(
      words.isTrouble ? .server : .oauth,
      "expected \(expected), but the provider answered \(words.said)\(hint)\(RetryAfter.words(of: response))",
      httpStatus: status, oauthError: code, oauthErrorDescription: words.description,
      retryAfterSeconds: RetryAfter.seconds(of: response))
  }

  /// The member `error` if it is a valid code, without secrets; nil otherwise, also for an error that the server's
  /// framework or a proxy writes (RFC 9457 §3.1, Spring Boot).
  package static func oauthError(in response: HTTPResponse) -> String? {
    (try? JSON.parse(response.body)).flatMap { oauthError(in: $0, of: response) }
  }

  /// Like ``oauthError(in:)``, for a body that has been parsed.
  static func oauthError(in json: JSON, of response: HTTPResponse) -> String? {
    guard let code = json["error"]?.string.flatMap({ PrintableText.errorCode($0) }),
      !isReasonPhrase(code),
      json["status"] == nil || ["path", "timestamp", "type", "title"].allSatisfy({ json[$0] == nil })
    else { return nil }
    return response.sent.shown(errorCode: code)
  }

  /// The code that replaces a code which does not look like a registered code. Such a code may contain a part of a
  /// secret, or a whole secret in another encoding (R40).
  static let otherError = "other_error"

  /// The code with which a server requests a DPoP proof that contains the nonce that the server sends (RFC 9449 §8).
  static let useDPoPNonce = "use_dpop_nonce"
}

/// The members `error` and `error_description` of a refusal, without secrets.
struct ServerWords {
  let code: String?
  let description: String?

  init(in response: HTTPResponse) {
    let members = (try? JSON.parse(response.body))?.object
    self.init(
      code: TokenEndpointError.oauthError(in: response),
      description: response.sent.shown(description: members?["error_description"]?.string))
  }

  /// Reads the error of a resource server from `WWW-Authenticate` (RFC 6750 §3), or else from the body.
  init(ofChallengeIn response: HTTPResponse) {
    let challenges = (try? AuthenticationChallenge.all(in: response)) ?? []
    guard let challenge = challenges.first(where: { $0.parameter("error") != nil }),
      let error = challenge.parameter("error").flatMap({ PrintableText.errorCode($0) })
    else {
      self.init(in: response)
      return
    }
    self.init(
      code: response.sent.shown(errorCode: error),
      description: response.sent.shown(description: challenge.parameter("error_description")))
  }

  private init(code: String?, description: String?) {
    (self.code, self.description) = (code, description)
  }

  /// The code and the description in the server's own words, without a full stop, such as `invalid_grant: Session not
  /// active`.
  var said: String {
    var end = description?.utf8[...]
    while let last = end?.last, last == 0x2E || last == 0x20,
      end?.suffix(3).elementsEqual("...".utf8) == false
    {
      end?.removeLast()
    }
    let words = end.map { String(decoding: $0, as: UTF8.self) }
    return [code, words].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ": ")
  }

  /// The server's text after a colon and a space; empty if there is no text.
  var text: String { said.isEmpty ? "" : ": " + said }

  /// Whether the code says that the server has a problem. RFC 6749 §4.1.2.1 defines the two codes for redirects; some
  /// servers also send them from other endpoints.
  var isTrouble: Bool {
    code.map { ASCII.equals($0, "temporarily_unavailable") || ASCII.equals($0, "server_error") } ?? false
  }

  /// Advice for codes whose names do not say what to do.
  var advice: String {
    let advice: [(String, String)] = [
      ("unauthorized_client", "allow this client the grant in its settings at the provider"),
      ("unsupported_grant_type", "the provider does not offer this way to sign in; choose another kind"),
      (
        "unsupported_token_type",
        "the provider cannot revoke tokens of this kind: the token works until it expires"
      ),
      ("insufficient_scope", "request the scope that is missing at the next sign-in, openid for userinfo"),
    ]
    return advice.first { row in code.map { ASCII.equals($0, row.0) } ?? false }.map { "; \($0.1)" } ?? ""
  }
}

extension TokenEndpointError {
  /// Whether the text is a reason phrase (RFC 9110 §15) of one word. A phrase of several words needs no check here,
  /// because it is never a valid code.
  private static func isReasonPhrase(_ code: String) -> Bool {
    ["Unauthorized", "Forbidden", "Conflict", "Gone", "Unavailable"].contains { ASCII.equals($0, code) }
  }
}

extension HTTPResponse {
  /// Whether the refusal's description is about the client secret, as Google's is.
  fileprivate var asksForSecret: Bool {
    (try? JSON.parse(body))?["error_description"]?.string.map {
      ASCII.contains(Array($0.utf8), "client_secret")
    } ?? false
  }
}

extension EnrollError {
  fileprivate static let secretHint =
    "; check clientId, and clientSecret if the provider gave this client a secret, which may have expired, or clientKeyFile if it has a key"

  /// Whether the message already says that a client secret may be missing.
  package var namesSecret: Bool {
    message.utf8.suffix(Self.secretHint.utf8.count).elementsEqual(Self.secretHint.utf8)
  }

  /// This error without the hint that a client secret may be missing.
  package var withoutSecretHint: EnrollError {
    guard namesSecret else { return self }
    return saying(
      String(decoding: message.utf8.dropLast(Self.secretHint.utf8.count), as: UTF8.self))
  }

  /// Whether the provider does not know the client, or does not allow the client to make this request.
  package var refusesClient: Bool { oauthError.map { Self.refusesClient($0) } ?? false }

  /// Whether an error code refuses the client.
  package static func refusesClient(_ code: String) -> Bool {
    ["invalid_client", "unauthorized_client"].contains { ASCII.equals($0, code) }
  }

  /// Whether the provider refuses the client, not the token. The cause is then a wrong configuration of the client,
  /// here or at the provider, and the session continues.
  package var isOurConfiguration: Bool {
    guard let oauthError else { return false }
    let codes = [
      "invalid_client", "incorrect_client_credentials", "unauthorized_client", "unsupported_grant_type",
      "invalid_scope",
    ]
    return codes.contains { ASCII.equals($0, oauthError) }
  }
}

extension EnrollError {
  /// Whether a scope is refused.
  package var isAboutScopes: Bool {
    oauthError.map { Scopes.contains($0, in: ["invalid_scope", "not_allowed"]) } ?? false
  }
}

extension HTTPResponse {
  /// Whether this cannot be a response of an endpoint of RFC 6749: it is neither a success nor an OAuth error.
  package var isOfNoEndpoint: Bool {
    isPage || !(200..<300).contains(status) && TokenEndpointError.oauthError(in: self) == nil
  }
}
