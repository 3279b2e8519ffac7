// The engine's events as JSON: a name and an object (json-rpc.md, Events). The manifest uses the same table.

public import EnrollRules
public import EnrollJSON

/// One kind of event that a client can send.
public struct EventKind: Sendable {
  public var name: String
  public var summary: String
  /// The members of the event's parameters in addition to `client`.
  public var parameters: Schema

  static let all: [EventKind] = [
    EventKind(
      name: "registration.changed", summary: "The state of the registration changed.",
      parameters: .object([.required("state", .state)])),
    EventKind(
      name: "registration.settled",
      summary: "Sent once, when the first state is known: the host may hide its splash screen.",
      parameters: .object([.required("state", .state)])),
    EventKind(
      name: "token.renewed", summary: "The tokens were renewed and stored.",
      parameters: .object([.required("expiresAt", .date("When the access token expires."))])),
    EventKind(
      name: "token.renewalFailed", summary: "A renewal failed; the session is unchanged.",
      parameters: .object([.required("error", .error)])),
    EventKind(
      name: "logout.finished", summary: "The browser returned from the logout.", parameters: .nothing),
    EventKind(
      name: "error.reported", summary: "A failure that the host may show to the user.",
      parameters: .object([
        .required("error", .error),
        .required(
          "messageKey", .text("A key for the host's own texts: error. followed by the name of the status.")),
        .required(
          "helps",
          .words("Help", EnrollError.Help.allCases.map { $0.rawValue }, "What can be done about a failure.")),
      ])),
  ]
}

extension EnrollEvent {
  /// The event's parameters, without the client.
  public func parameters(choices: [RegistrationChoice]) -> JSONObject {
    switch self {
    case .registrationChanged(let state), .registrationSettled(let state):
      JSONObject([("state", state.json(choices: choices))])
    case .tokenRenewed(let expiresAt): JSONObject([("expiresAt", .integer(expiresAt.seconds))])
    case .tokenRenewalFailed(let error): JSONObject([("error", error.json)])
    case .errorReported(let error):
      JSONObject([
        ("error", error.json), ("messageKey", .string(error.messageKey)),
        ("helps", .string(error.helps.rawValue)),
      ])
    case .logoutFinished: JSONObject()
    }
  }
}
