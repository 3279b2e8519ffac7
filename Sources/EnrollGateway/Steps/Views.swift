// Turns values of the gateway into pages, in the language of the browser.

import EnrollRules
import EnrollSteps
import EnrollGatewayPages
import EnrollHTTP

/// Makes the answers that are pages.
struct Views: Sendable {
  let pages: Pages

  /// The context of a page: its language is the one that the URL names (`ui_locales`, OpenID Connect Core §3.1.2.1), or
  /// else the browser's language.
  private func context(_ request: WebRequest) -> PageContext {
    let accepted = request.values(of: "Accept-Language")
    let named = Parameters(encoded: request.query)?[Self.languageParameter]
    return PageContext(
      pages.languages.choose(
        explicit: named, acceptLanguage: accepted.isEmpty ? nil : accepted.joined(separator: ", ")))
  }

  static let languageParameter = "ui_locales"

  /// The page for this request.
  /// - Parameter change: changes the context of the page.
  func answer(
    _ page: some Page, for request: WebRequest, status: Int = 200, headers: [HTTPHeader] = [],
    _ change: (inout PageContext) -> Void = { _ in }
  ) -> WebResponse {
    var context = context(request)
    change(&context)
    let content = pages.page(page, in: context)
    return WebResponse(
      status, headers: content.headers.map { HTTPHeader($0.name, $0.value) } + headers, body: content.bytes)
  }

  /// A link to a path of the gateway, with text parameters.
  func link(_ path: String, _ parameters: [(String, String)] = []) -> PageLink? {
    var query = FormEncoding(.query)
    for (name, value) in parameters { query.add(name, value) }
    return try? PageLink(path: parameters.isEmpty ? path : path + "?" + query.text)
  }

  func failure(
    _ failure: EnrollGatewayPages.Failure, for request: WebRequest, provider: SignInProvider? = nil,
    retryAt path: String? = nil, headers: [HTTPHeader] = []
  ) -> WebResponse {
    let retry = path ?? provider.map { "/v1/auth/" + $0.name }
    let page = FailurePage(
      failure, provider: provider?.label, retry: retry.flatMap { link($0) },
      otherWay: link("/login"), start: link("/"), reference: RequestID.current ?? failure.rawValue)
    return answer(page, for: request, status: failure.status, headers: headers)
  }

  static let formField = "token"

  /// The language of the pages for this request.
  func language(_ request: WebRequest) -> Language { context(request).language }

  /// A file that a page loads. The page is either the gateway's own or Okta's.
  func asset(_ request: WebRequest) -> WebResponse {
    let asset = (pages.assets + [.oktaSignIn]).first { ASCII.equals($0.path, request.path) }
    guard let asset else { return failure(.notFound, for: request) }
    return WebResponse(200, headers: asset.headers.map { HTTPHeader($0.name, $0.value) }, body: asset.bytes)
  }
}
