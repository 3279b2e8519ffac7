// `POST /v1/auth/{provider}/callback`: the provider's page sent the browser back with a form (OAuth 2.0 Form Post
// Response Mode §2), as Apple does. The POST comes from another site, so it has no `SameSite=Lax` cookie. The gateway
// answers the first POST with a page of its own origin that sends the same fields again, now with the cookie. Refused:
// a query in the URL in addition to the form, fields that are malformed or too long, and a repeated form without the
// cookie of its sign-in.

import EnrollRules
import EnrollCrypto
import EnrollGatewayPages
import EnrollHTTP

/// The fields of the provider's form that the gateway reads.
struct FormPostAnswer: Equatable {
  var state: String
  var code: String?
  var error: String?
  /// The user's name, which only Apple sends, and only in the first answer for each user.
  var user: String?
  /// True if a page of this origin sent the form. The browser sends the cookie with such a form, unless the browser has
  /// no cookie.
  var isRepeated: Bool

  static let again = "again"
  private static let codeLimit = 2_048

  /// Reads the fields of a form; nil if the form is not a provider's answer.
  init?(_ form: Parameters) {
    guard let state = form["state"], Self.isPlain(state, atMost: 512),
      form["code"].map({ Self.isPlain($0, atMost: Self.codeLimit) }) ?? true,
      form["error"].map({ PrintableText.errorCode($0) != nil }) ?? true,
      (form["code"] == nil) != (form["error"] == nil)
    else { return nil }
    self.state = state
    code = form["code"]
    error = form["error"]
    user = form["user"].flatMap { $0.utf8.count <= AppleUser.byteLimit ? $0 : nil }
    isRepeated = form[Self.again] != nil
  }

  /// Whether the text has only visible ASCII (RFC 6749 Appendix A.5, A.11), and at most `limit` characters.
  private static func isPlain(_ text: String, atMost limit: Int) -> Bool {
    (1...limit).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
  }

  /// The answer as the query of a redirect.
  var query: String {
    var query = FormEncoding(.query)
    for (name, value) in protocolFields { query.add(name, value) }
    return query.text
  }

  private var protocolFields: [(String, String)] {
    [("code", code), ("error", error), ("state", state)].compactMap { name, value in
      value.map { (name, $0) }
    }
  }

  /// The fields that the page sends again.
  var fields: [(name: String, value: String)] {
    (protocolFields + (user.map { [("user", $0)] } ?? []) + [(Self.again, "1")]).map {
      (name: $0.0, value: $0.1)
    }
  }
}

extension SignInCallback {
  /// Answers a form with which a provider sent the browser back.
  /// - Parameter name: the name of the provider. The callback of a provider that does not answer by form accepts no
  ///   POST.
  func handleFormCallback(_ request: WebRequest, _ name: String) throws(Interruption) -> WebResponse {
    let provider = try services.provider(name)
    guard provider.answersByForm else { throw .failure(.methodNotAllowed) }
    try limits.count(.callback, .client(request.client))
    guard request.query == nil, let form = request.form, let answer = FormPostAnswer(form),
      let cookie = try? Attempt.cookieName(forState: Secret(answer.state))
    else { throw .failure(.invalidRequest) }
    if request.cookie(cookie) == .absent {
      guard !answer.isRepeated, let page = views.sendAgain(answer, to: provider, for: request) else {
        throw .failure(.attemptMissing)
      }
      return page
    }
    return try handleCallback(
      request, provider, query: answer.query, answer.state, unsignedName: AppleUser.name(in: answer.user))
  }
}

extension Views {
  /// The page that sends the answer again; nil for a path that a page must not link to.
  func sendAgain(_ answer: FormPostAnswer, to provider: SignInProvider, for request: WebRequest)
    -> WebResponse?
  {
    guard let action = link(request.path) else { return nil }
    return self.answer(
      SendAgainPage(provider: provider.label, action: action, fields: answer.fields), for: request)
  }
}
