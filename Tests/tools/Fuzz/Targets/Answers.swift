// Responses of servers in JSON. The first byte of an input selects the status; the rest is the body.

import EnrollCrypto
import EnrollJSON

@testable import EnrollRules
@testable import EnrollSteps

extension Target {
  static let answers = [
    Target("token-response") { input in
      let response = HTTPResponse(status: 200, body: input)
      let answer = RefreshAnswer(processing: response)
      if case .rotatedOnly(let token, _) = answer {
        require((1...65_536).contains(token.count), "a usable token")
      }
      guard let tokens = try? TokenResponse(processing: response) else { return }
      require(answer == .tokens(tokens), "what is taken strictly is taken on refresh, too (R30)")
      for token in [tokens.accessToken, tokens.idToken].compactMap({ $0 }) {
        require(isVisible(token), "nothing in a token ends a header (R31)")
      }
      require(
        tokens.lifetimeSeconds.map { (1...TokenResponse.maximumLifetimeSeconds).contains($0) } ?? true,
        "a lifetime is bounded (R32)")
      var record = AccountRecord()
      record.confirmed = tokens.tokenSet(requestedScopes: ["openid"], at: Sample.moment)
      let document = AccountDocument(account: .default, lineage: "l", record: record)
      require((try? AccountDocument(decoding: document.encoded())) == document, "what is taken can be kept")
    },
    Target("answers") { input in
      guard let response = response(input) else { return }
      let error = TokenEndpointError.read(response)
      require((error == nil) == (200..<300).contains(response.status), "only a 2xx is none")
      if let error {
        require(isSafe(error.message) && isSafe(error.oauthError ?? ""), "words of ours")
        require(error.oauthError != "invalid_grant" || error.code == .oauth, "of its class (R34)")
      }
      if case .refused(_, .ends) = RefreshAnswer(processing: response) {
        require([400, 401, 403].contains(response.status), "an outage ends no session (R33)")
      }
      if case .later = RevocationAnswer(processing: response) {
        require(response.status != 200 || !response.body.isEmpty, "told")
      }
      _ = DevicePollAnswer(processing: response)
      _ = PasswordlessAnswer(processing: response)
      _ = DPoPNonces.isDemanded(by: response)
      if let pushed = try? PushedAuthorizationResponse(processing: response) {
        require(isSafe(pushed.requestURI), "a name goes into a URL")
      }
      if let device = try? DeviceAuthorization(processing: response, allowsLoopbackHTTP: false) {
        require(device.shown.verificationURI.utf8.starts(with: "https:".utf8), "https only (R19)")
        require(device.intervalSeconds > 0 && device.lifetimeSeconds > 0, "times are positive (R32)")
      }
      _ = try? Introspection.accept(response)
      _ = try? App2AppExchange.Completion(response)
      if let settings = Sample.configuration.app2app,
        let session = try? App2AppExchange.Session(response, settings)
      {
        require(session.link.utf8.starts(with: "https://other.example/".utf8), "only an allowed link")
      }
      if case .known(let subject, let email) = RegistrationCheck.answer(response) {
        try? RegistrationCheck.requireSame(subject: subject, email: email, asSubject: nil, profile: nil)
      }
      var typed = response
      typed.headers = [HTTPHeader("Content-Type", "application/json")]
      if let claims = try? UserInfo.accept(typed, subject: "s") {
        require(claims["sub"] == .string("s"), "about nobody else (R28)")
      }
    },
    Target("discovery") { input in
      let response = HTTPResponse(status: 200, body: input)
      guard let metadata = try? ProviderMetadata(processing: response, configuration: Sample.configuration)
      else {
        return
      }
      require(metadata.issuer == Sample.configuration.issuer, "the configured issuer (R18)")
      for endpoint in [metadata.authorizationEndpoint, metadata.tokenEndpoint]
        + (metadata.jwksURI.map { [$0] } ?? [])
      {
        require((try? StrictURL(endpoint))?.kind == .https, "https only (R19)")
      }
    },
  ]

  private static func response(_ input: [UInt8]) -> HTTPResponse? {
    let statuses = [200, 201, 204, 302, 400, 401, 403, 404, 408, 418, 429, 500, 503, 304, 599, 226]
    return input.first.map { HTTPResponse(status: statuses[Int($0 & 15)], body: Array(input.dropFirst())) }
  }

  private static func isVisible(_ token: Secret) -> Bool {
    !token.isEmpty && token.withBytes { $0.allSatisfy { $0 > 0x20 && $0 < 0x7F } }
  }

  private static func isSafe(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
}
