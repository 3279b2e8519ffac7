// `POST /v1/auth/{provider}/callback`: the provider's page sent the browser back with a form (OAuth 2.0 Form Post Response Mode §2), as
// Apple does. That POST comes from another site, so that no `SameSite=Lax` cookie is with it: the first one is answered by a page
// of this origin that sends the same fields again, now with the cookie. Refused: a query beside the form, fields that are malformed
// or too long, and a form that was sent again and still has no cookie of its sign-in.

import EnrollCore
import EnrollCrypto
import EnrollGatewayPages
import EnrollHTTP

/// The fields of the provider's form that mean something here.
struct FormPostAnswer: Equatable {
  var state: String
  var code: String?
  var error: String?
  /// Apple: the name, in the first answer of each person alone.
  var user: String?
  /// This origin sent the form: the cookie would be here if there were one.
  var isRepeated: Bool

  static let again = "again"
  private static let codeLimit = 2_048

  /// nil for a form that is no answer.
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

  /// Visible ASCII (RFC 6749 Appendix A.5, A.11).
  private static func isPlain(_ text: String, atMost limit: Int) -> Bool {
    (1...limit).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
  }

  /// As a redirect would have brought it.
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

  /// What the page sends again.
  var fields: [(name: String, value: String)] {
    (protocolFields + (user.map { [("user", $0)] } ?? []) + [(Self.again, "1")]).map {
      (name: $0.0, value: $0.1)
    }
  }
}

extension Gateway {
  /// Whether this is a POST that may be a provider's answer.
  func isAnswerByForm(_ request: WebRequest, _ route: Route) -> Bool {
    guard case .callback(let name) = route, request.method == .post else { return false }
    return providers.first { ASCII.equals($0.name, name) }?.answersByForm ?? false
  }

  func finishByForm(_ request: WebRequest, _ provider: SignInProvider) throws(Interruption) -> WebResponse {
    guard request.query == nil, let form = request.form, let answer = FormPostAnswer(form),
      let cookie = try? Attempt.cookieName(forState: Secret(answer.state))
    else { throw .failure(.invalidRequest) }
    if request.cookie(cookie) == .absent {
      guard !answer.isRepeated, let page = views.sendAgain(answer, to: provider, for: request) else {
        throw .failure(.attemptMissing)
      }
      return page
    }
    return try finish(
      request, provider, query: answer.query, answer.state, toldName: AppleUser.name(in: answer.user))
  }
}
