// The pages of people who come by e-mail.

import EnrollCore
import EnrollGatewayPages
import EnrollHTTP

extension Views {
  func form(
    _ form: EmailForm, targets: [PageLink], status: Int, headers: [HTTPHeader], for request: WebRequest
  ) -> WebResponse {
    var context = context(request)
    context.formTargets = targets
    return answer(pages.page(form, in: context), status: status, headers: headers)
  }

  func emailSent(
    _ purpose: EmailSentPage.Purpose, again path: String, for request: WebRequest
  ) -> WebResponse {
    answer(pages.page(EmailSentPage(purpose, again: link(path)), in: context(request)))
  }
}
