// The beginning of a sign-in as JSON: the options from the host, and the action for the host.

import EnrollRules
import EnrollCrypto
package import EnrollJSON

extension SignInOptions {
  static let schema: [Schema.Property] = [
    .optional(
      "kind",
      .words(
        "TransactionKind", TransactionKind.allCases.map { $0.rawValue }, "The kind of transaction to begin."
      ),
      default: .string("signIn")),
    .optional(
      "scopes",
      Schema(
        .anyOf([
          .text("Separated by spaces.", maximumBytes: 16_384),
          Schema(.list(.text("A scope."), maximumCount: Scopes.maximumCount)),
        ]), "The scopes to request instead of the configured ones.")),
    .optional("options", options),
    .optional(
      "parameters",
      Schema(
        .texts(maximumCount: 32),
        "Additional parameters of the authorization request; names that the protocol uses are rejected.")
    ),
  ]

  private static let options = Schema.object(
    [
      .optional("prompt", .text("none, login, consent, select_account or create.")),
      .optional(
        "loginHint",
        .text(
          "The user name or e-mail address to suggest at sign-in.",
          maximumBytes: TextLimits.loginHint
        ).sensitive),
      .optional(
        "maxAge", .seconds(0 ... .max, "The maximum time since the user signed in.")),
      .optional(
        "acrValues",
        Schema(
          .list(.text("An authentication context class."), maximumCount: 16),
          "Authentication context classes, the best first.")),
      .optional(
        "uiLocales",
        Schema(
          .list(.text("A BCP 47 tag."), maximumCount: 16),
          "The languages for the provider's pages, the preferred one first.")),
      .optional(
        "idTokenHint",
        .text("An id_token of the user whose session prompt=none checks.", maximumBytes: 65_536).sensitive),
      .optional(
        "connection",
        .text(
          "The provider's name for the connection that the user chose. Required for bff: the back end's name for the provider.",
          maximumBytes: TextLimits.connection)),
      .optional(
        "email",
        .text("passwordless: the e-mail address to which the code or link is sent.", maximumBytes: 320)
          .sensitive),
      .optional(
        "phoneNumber",
        .text("passwordless: the phone number to which the code is sent (E.164).", maximumBytes: 32).sensitive
      ),
      .optional(
        "message",
        .words(
          "PasswordlessMessage", PasswordlessMessage.allCases.map { $0.rawValue },
          "The message that a passwordless sign-in sends to the user."),
        default: .string("code")),
      .optional(
        "opensLater",
        Schema(
          .boolean,
          "The URL is not opened at once, for example because it is shown: the request is pushed only if that is required."
        ), default: .bool(false)),
    ], "How to begin a transaction."
  ).named("BeginOptions")

  /// Reads the options from the parameters of a command.
  /// - Throws: `.invalidArgument` if both an e-mail address and a phone number are given.
  init(_ call: Invocation) throws(EnrollError) {
    let kind = call.text("kind").flatMap { TransactionKind(rawValue: $0) } ?? .signIn
    let scopes = call.parameters["scopes"]
    self.init(kind: kind, scopes: scopes?.texts ?? scopes?.string.map { Scopes.split($0) })
    let options = call.object("options")
    prompt = options?["prompt"]?.string
    loginHint = options?["loginHint"]?.string
    maxAgeSeconds = options?["maxAge"]?.integer
    acrValues = options?["acrValues"]?.texts ?? []
    uiLocales = options?["uiLocales"]?.texts ?? []
    idTokenHint = options?["idTokenHint"]?.string.map { Secret($0) }
    connection = options?["connection"]?.string
    recipient = try Recipient(email: options?["email"]?.string, phoneNumber: options?["phoneNumber"]?.string)
    message = options?["message"]?.string.flatMap { PasswordlessMessage(rawValue: $0) } ?? .code
    opensLater = options?["opensLater"]?.bool ?? false
    for member in call.object("parameters")?.members ?? [] {
      parameters.append((member.key, member.value.string ?? ""))
    }
  }
}

extension Transaction {
  static let schema = Schema.object(members, "A transaction that has begun.").named("Transaction")

  static let members: [Schema.Property] = [
    .required("transaction", .transaction),
    .required("action", .hostAction),
    .optional(
      "redirectUri",
      .text(
        "The redirect URI that was sent; for a loopback redirect, with its port. Absent if there is no redirect.",
        maximumBytes: 8192)),
    .required("expiresAt", .date("When the transaction expires.")),
    .required(
      "survivesProcess",
      Schema(.boolean, "False for a loopback redirect: its listener ends with the process.")),
    .optional(
      "urlExpiresAt",
      .date(
        "Until when the URL can be opened, because the provider keeps the pushed request only until then (RFC 9126 §2.2)."
      )),
  ]

  package var json: JSON { .object(object) }

  var object: JSONObject {
    JSONObject([
      ("transaction", .string(transactionID.text)), ("action", action.json),
      ("redirectUri", redirectURI.map { .string($0) }),
      ("expiresAt", .integer(expiresAt.seconds)), ("survivesProcess", .bool(survivesProcess)),
      ("urlExpiresAt", urlExpiresAt.map { .integer($0.seconds) }),
    ])
  }
}

extension Schema {
  static let hostAction = Schema(
    .anyOf([
      .object(
        [
          .required("type", .word("openURL")),
          .required("url", .uri("The URL. It contains the state of the transaction.").sensitive),
        ], "Open the URL in the external browser, then pass the redirect to registration.resume."),
      .object(
        [
          .required("type", .word("enterCode")),
          .required(
            "recipient",
            .text("The e-mail address or phone number to which the code was sent.", maximumBytes: 320)
              .sensitive),
        ], "Ask the user for the code, then pass it to registration.submitCode."),
      .object(
        [
          .required("type", .word("awaitLink")),
          .required(
            "recipient", .text("The e-mail address to which the link was sent.", maximumBytes: 320).sensitive),
        ], "Tell the user to open the link in the e-mail, then pass the redirect to registration.resume."),
      .object(
        [
          .required("type", .word("openOtherApp")),
          .required("url", .uri("The link to the other app.").sensitive),
        ], "Open the link. The other app returns through a link: pass that link to registration.resume."),
      .object(
        [
          .required("type", .word("showDeviceCode")),
          .required("userCode", .text("The code that the user types.", maximumBytes: 256).sensitive),
          .required(
            "verificationUri", .text("The URL of the page where the user types the code.", maximumBytes: 8192)
          ),
          .optional(
            "verificationUriComplete",
            .text("The URL that includes the code, for a QR code.", maximumBytes: 8192).sensitive),
        ], "Show the URL and the code, then wait with registration.awaitOutcome (RFC 8628 §3.3)."),
    ]), "The action that the host must take for a transaction to continue."
  ).named("Action")
}

extension HostAction {
  var json: JSON {
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
