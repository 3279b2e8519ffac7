// URLs from outside: redirects, links, callbacks.

import EnrollCrypto

@testable import EnrollRules
@testable import EnrollSteps

extension Target {
  static let links = [
    Target("url") { input in
      guard let given = text(input), let url = try? StrictURL(given) else { return }
      require(input.starts(with: url.bytes), "refused or taken, never repaired")
      require(
        url.bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x5C }, "visible ASCII without a backslash")
      require(url.path.upperBound <= url.bytes.count, "the path is inside")
      require(url.query.map { $0.upperBound == url.bytes.count } ?? true, "the query ends the text")
      require(!(url.hostText ?? "").contains { "@%/?#".contains($0) }, "the host is a host")
      let again = try? StrictURL(url.text)
      require(
        again?.bytes == url.bytes && again?.host == url.host && again?.query == url.query,
        "read twice, the same")
    },
    Target("redirect") { input in
      guard let given = text(input), let redirect = try? Redirect(parsing: given) else { return }
      if let state = redirect.state { require(redirect.hasState(state), "its state is its state") }
      if let issuer = redirect.issuer {
        require(redirect.hasIssuer(issuer) == true, "its issuer is its issuer")
      }
      if let code = try? redirect.code() {
        require(code.withBytes { $0.allSatisfy { $0 >= 0x20 && $0 < 0x7F } }, "a code is printable")
      }
      _ = try? redirect.sessionToken()
      _ = try? redirect.artefactID(named: "artefactId")
      require(redirect.sessionLifetimeSeconds > 0, "a lifetime is positive (R32)")
      require(
        (redirect.errorDescription ?? "").utf8.count <= 512 + 3,
        "words are bounded, and end in ... when they were cut")
      for accepts in [false, true] {
        let verified = try? VerifiedRedirect(
          verifying: redirect, among: Sample.transactions, issuerAnnounced: true, acceptsTokens: accepts,
          at: Sample.moment)
        guard let verified else { continue }
        require(accepts || redirect.state == verified.transaction.redirect?.state, "only with its state (R6)")
        require(redirect.url.hasBase(verified.transaction.redirectURI ?? ""), "only at its redirect URI (R5)")
        if !accepts, case .code = verified.answer {
          require(redirect.issuer == verified.transaction.issuer, "only from its issuer (R17)")
        }
      }
      _ = (try? LogoutCallback(parsing: given))?.index(in: Sample.logouts)
    },
    Target("link") { input in
      guard let given = text(input) else { return }
      if case .activation(let token, let template) = try? ReceivedLink.read(
        given, configuration: Sample.configuration)
      {
        require(
          given.utf8.starts(with: template.filled(with: token).utf8),
          "a link is its template and its token (R10)")
      }
      _ = try? Sample.configuration.ownership(of: given)
      guard let template = try? LinkTemplate(given) else { return }
      require(
        template.prefix + Array(LinkTemplate.placeholder.utf8) + template.suffix == input,
        "a template is its parts")
    },
  ]
}
