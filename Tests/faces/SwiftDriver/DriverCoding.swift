// Converts between the types of the library and JSON with the manifest's names, for the commands that the tests use.

import EnrollKit
import Foundation

/// The only client of the process.
final class ClientBox: @unchecked Sendable {
  // Unchecked: `lock` is held around every access.
  private let lock = NSLock()
  private var opened: EnrollClient?

  func open(_ parameters: JSON) throws(EnrollError) {
    let configuration = try Configuration(json: parameters["configuration"] ?? .null)
    let path = parameters["store"]?.string ?? "memory"
    let client = try EnrollClient(
      configuration: configuration, store: path == "memory" ? .memory : .directory(path),
      account: try AccountName(parameters["account"]?.string ?? "default"),
      platform: Platform(json: parameters["platform"]),
      waitsForPlatform: parameters["waitForPlatform"]?.bool ?? false,
      renewsInBackground: parameters["renewInBackground"]?.bool ?? false)
    lock.withLock { opened = client }
  }

  func client() throws(EnrollError) -> EnrollClient {
    guard let client = lock.withLock({ opened }) else {
      throw EnrollError(.handle, "client.open comes first")
    }
    return client
  }
}

extension Platform {
  init(json: JSON?) {
    self.init(
      isNative: json?["native"]?.bool ?? true, type: json?["type"]?.string, width: json?["width"]?.integer,
      height: json?["height"]?.integer, appVersion: json?["appVersion"]?.string,
      deviceID: json?["deviceId"]?.string)
  }
}

extension AccountSnapshot {
  var json: JSON {
    .object([
      ("profile", profile.map { .object($0) }), ("idToken", idToken.map { .string($0.reveal()) }),
      ("accessToken", accessToken.map { .string($0.reveal()) }),
      ("expiresAt", expiresAt.map { .integer($0.seconds) }), ("renews", renews.map { .bool($0) }),
      ("renewableUntil", renewableUntil.map { .integer($0.seconds) }),
      ("registrationType", registrationType.map { .string($0) }),
      (
        "waiting",
        waiting.map {
          .object([
            ("transaction", .string($0.transactionID.text)), ("profile", .object($0.profile)),
            ("registrationType", $0.registrationType.map { .string($0) }),
          ])
        }
      ),
    ])
  }
}

extension SignInOptions {
  init(json: JSON) throws(EnrollError) {
    self.init(kind: json["kind"]?.string.flatMap { TransactionKind(rawValue: $0) } ?? .signIn)
    let options = json["options"]
    prompt = options?["prompt"]?.string
    loginHint = options?["loginHint"]?.string
    maxAgeSeconds = options?["maxAge"]?.integer
    opensLater = options?["opensLater"]?.bool ?? false
    acrValues = options?["acrValues"]?.array?.compactMap { $0.string } ?? []
    connection = options?["connection"]?.string
    recipient = try Recipient(
      email: options?["email"]?.string, phoneNumber: options?["phoneNumber"]?.string)
    message = options?["message"]?.string.flatMap { PasswordlessMessage(rawValue: $0) } ?? .code
    for member in json["parameters"]?.object?.members ?? [] {
      parameters.append((member.key, member.value.string ?? ""))
    }
  }
}

extension Transaction {
  var json: JSON {
    .object([
      ("transaction", .string(transactionID.text)),
      ("action", action.json), ("redirectUri", redirectURI.map { .string($0) }),
      ("expiresAt", .integer(expiresAt.seconds)),
      ("survivesProcess", .bool(survivesProcess)),
      ("urlExpiresAt", urlExpiresAt.map { .integer($0.seconds) }),
    ])
  }
}

extension HandledLink {
  var json: JSON {
    switch self {
    case .begun(let begun):
      var members = begun.json.object ?? JSONObject()
      members["kind"] = .string("begun")
      return .object(members)
    case .refused(let refusal):
      let kind =
        switch refusal.reason {
        case .unsolicited: "unsolicited"
        case .used: "linkUsed"
        case .expired: "linkExpired"
        }
      return .object([
        ("kind", .string(kind)), ("offers", .array(refusal.offers.map { .string($0.rawValue) })),
      ])
    }
  }
}

extension HostAction {
  fileprivate var json: JSON {
    switch self {
    case .openURL(let url): .object([("type", .string("openURL")), ("url", .string(url))])
    case .enterCode(let recipient):
      .object([("type", .string("enterCode")), ("recipient", .string(recipient))])
    case .awaitLink(let recipient):
      .object([("type", .string("awaitLink")), ("recipient", .string(recipient))])
    case .openOtherApp(let url): .object([("type", .string("openOtherApp")), ("url", .string(url))])
    case .showDeviceCode(let code):
      .object([
        ("type", .string("showDeviceCode")), ("userCode", .string(code.userCode)),
        ("verificationUri", .string(code.verificationURI)),
        ("verificationUriComplete", code.verificationURIComplete.map { .string($0) }),
      ])
    }
  }
}

extension PINAnswer {
  var json: JSON {
    .object([
      ("outcome", .string(outcome.rawValue)), ("triesLeft", .integer(triesLeft)),
      ("retryAfter", .integer(retryAfterSeconds)),
    ])
  }
}

extension RegistrationState {
  var json: JSON {
    var members = JSONObject()
    switch self {
    case .starting: members["state"] = .string("starting")
    case .unregistered: members["state"] = .string("unregistered")
    case .authenticating(let id, let step):
      members["state"] = .string("authenticating")
      members["transaction"] = .string(id.text)
      members["step"] = .string(step.rawValue)
    case .awaitingConfirmation(let id, let profile):
      members["state"] = .string("awaitingConfirmation")
      members["transaction"] = .string(id.text)
      members["profile"] = .object(profile)
    case .active(let activation):
      members["state"] = .string("active")
      members["reason"] = .string(activation.rawValue)
    case .renewalFailed(let failure):
      members["state"] = .string("failed")
      members["reason"] = .string("renewal")
      members["error"] = failure.error.json
      members["remedy"] = .string(failure.remedy.rawValue)
      members["tokenUsable"] = .bool(failure.isTokenUsable)
    case .registrationFailed(let error):
      members["state"] = .string("failed")
      members["reason"] = .string("registration")
      members["error"] = error.json
    }
    return .object(members)
  }
}

extension AccessOutcome {
  var json: JSON {
    switch self {
    case .valid(let token): token.json(outcome: "valid")
    case .stale(let token, let reason): token.json(outcome: "stale", reason: reason.json)
    case .expired(let since, let wait, let reason):
      .object([
        ("outcome", .string("expired")), ("offlineSince", since.map { .integer($0.seconds) }),
        ("retryAfter", wait.map { .integer($0) }), ("reason", reason.json),
      ])
    case .rejected(let reason): .object([("outcome", .string("rejected")), ("reason", reason.json)])
    case .reauthenticate(let reason, let words):
      .object([
        ("outcome", .string("reauthenticate")), ("reason", .string(reason)),
        ("oauthErrorDescription", words.map { .string($0) }),
      ])
    case .storeLocked: .object([("outcome", .string("storeLocked"))])
    case .busy: .object([("outcome", .string("busy"))])
    }
  }
}

extension AccessToken {
  fileprivate func json(outcome: String, reason: JSON? = nil) -> JSON {
    .object([
      ("outcome", .string(outcome)), ("accessToken", .string(value.reveal())),
      ("tokenType", .string(tokenType)),
      ("expiresAt", .integer(expiresAt.seconds)), ("reason", reason),
      ("scope", scopes.map { .string(Scopes.joined($0)) }),
    ])
  }
}

extension KeptToken {
  var json: JSON {
    .object([
      ("resource", audience?.resource.map { .string($0) }),
      ("scope", audience.flatMap { $0.scopes.isEmpty ? nil : .string(Scopes.joined($0.scopes)) }),
      ("granted", .string(Scopes.joined(scopes))), ("tokenType", .string(tokenType)),
      ("expiresAt", .integer(expiresAt.seconds)),
    ])
  }
}

extension JSON {
  /// The parameter `scope`: a list, or a text with spaces.
  var scope: [String]? {
    self["scope"]?.array?.compactMap { $0.string } ?? self["scope"]?.string.map { Scopes.split($0) }
  }
}

extension EnrollError {
  var json: JSON {
    .object([
      ("status", .string(code.name)), ("message", .string(message)), ("blame", .string(blame.rawValue)),
      ("retryable", .bool(isRetryable)), ("field", field.map { .string($0) }),
      ("httpStatus", httpStatus.map { .integer(Int64($0)) }), ("oauthError", oauthError.map { .string($0) }),
      ("oauthErrorDescription", oauthErrorDescription.map { .string($0) }),
    ])
  }
}

extension SignOut {
  var json: JSON {
    .object([
      ("url", url.map { .string($0) }), ("providerTold", providerTold.map { .string($0.name) }),
      ("reason", providerTold?.reason.map { .string($0) }),
    ])
  }
}
