// The response of AWS's Security Token Service (AWS STS API Reference, AssumeRoleWithWebIdentity), and the document
// that AWS programs read from `credential_process`. Credentials that cannot work are refused: without a value, or expired.

import EnrollJSON
import EnrollRules

struct AWSResponse {
  private let response: HTTPResponse
  private let text: String
  /// The secrets of the request, which no message repeats (R40).
  private let sent: SentSecrets
  /// Whether the service is AWS's own, and not a service that the user named.
  private let isOfAWS: Bool

  init(_ response: HTTPResponse, to request: HTTPRequest, isOfAWS: Bool) {
    self.response = response
    text = String(decoding: response.body, as: UTF8.self)
    sent = SentSecrets(of: request)
    self.isOfAWS = isOfAWS
  }

  /// - Parameter now: seconds since 1970.
  /// - Throws: `.refused` if the service refuses, or if its credentials cannot work; `.unreachable` if a later request
  ///   may succeed.
  func document(now: Int64) throws(Failure) -> JSON {
    if let code = XMLText.element("Code", in: text) { throw refusal(code) }
    guard response.status == 200 else { throw noCredentials() }
    let key = try value("AccessKeyId")
    let secret = try value("SecretAccessKey")
    let token = try value("SessionToken")
    guard let end = InternetDate.seconds(try value("Expiration")) else {
      throw unusable("Expiration is not a date as in RFC 3339")
    }
    guard end > now else {
      throw Failure(
        .refused,
        "the credentials from the Security Token Service expired at \(InternetDate.text(end)), and this machine's clock shows \(InternetDate.text(now))",
        advice: "Check this machine's clock.")
    }
    return .object([
      ("Version", .integer(1)), ("AccessKeyId", .string(key)), ("SecretAccessKey", .string(secret)),
      ("SessionToken", .string(token)), ("Expiration", .string(InternetDate.text(end))),
    ])
  }

  /// A value of the credentials: visible ASCII characters, which every AWS program can send.
  private func value(_ name: String) throws(Failure) -> String {
    guard let value = XMLText.element(name, in: text) else { throw unusable("it has no readable \(name)") }
    guard !value.isEmpty, value.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw unusable("\(name) is empty, or has characters other than visible ASCII")
    }
    return value
  }

  // MARK: Failures

  /// The codes after which the same request may succeed later.
  private static let retriedCodes = [
    "IDPCommunicationError", "Throttling", "ThrottlingException", "RequestThrottled", "RequestLimitExceeded",
    "TooManyRequestsException",
  ]

  private func refusal(_ code: String) -> Failure {
    let message = XMLText.element("Message", in: text) ?? ""
    let shownCode = sent.shown(description: code)
    let shownMessage = sent.shown(description: message)
    var words = "AWS gave no credentials"
    if let shownCode { words += " (\(Shown.text(shownCode)))" }
    if let shownMessage { words += ": \(Shown.message(shownMessage))" }
    if shownCode == nil && !code.isEmpty || shownMessage == nil && !message.isEmpty {
      words += "; the reason repeats a secret that was sent, or may do so, and is not shown"
    }
    return isRetried || Self.retriedCodes.contains(code)
      ? later(words) : Failure(.refused, words, advice: Self.advice(code))
  }

  private static func advice(_ code: String) -> Advice {
    switch code {
    case "ExpiredTokenException": "Add --renew for a new id_token, and check this machine's clock."
    case "ValidationError": "Check --role: it is the ARN of a role."
    case "RegionDisabledException": "Choose another region by AWS_REGION, or have this region enabled."
    default: "Check the role's trust policy: it names the provider and the client id."
    }
  }

  private func noCredentials() -> Failure {
    let words = "the Security Token Service sent no credentials (status \(response.status))"
    return isRetried ? later(words) : Failure(.refused, words, advice: otherServer)
  }

  private func unusable(_ cause: String) -> Failure {
    Failure(
      .refused, "the Security Token Service sent no usable credentials: \(cause)", advice: otherServer)
  }

  /// The advice after an answer that is not from a Security Token Service.
  private var otherServer: Advice {
    isOfAWS
      ? "Check AWS_REGION and the proxy (https_proxy): the answer does not look like AWS's."
      : "Check the URL of --sts."
  }

  /// Whether the status says that a later request may succeed.
  private var isRetried: Bool { response.status >= 500 || response.status == 429 }

  private func later(_ words: String) -> Failure {
    Failure(.unreachable, words + RetryAfter.words(of: response), advice: "Try again later.")
  }
}
