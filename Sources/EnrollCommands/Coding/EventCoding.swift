// Notifications of the engine as events: a name and an object (json-rpc.md, Events). One table, for the manifest.

public import EnrollCore
public import EnrollJSON

/// One kind of event that a client can raise.
public struct EventKind: Sendable {
  public var name: String
  public var summary: String
  /// The members beside `client`.
  public var parameters: Schema

  static let all: [EventKind] = [
    EventKind(
      name: "registration.changed", summary: "The registration is in another state.",
      parameters: .object([.required("state", .state)])),
    EventKind(
      name: "registration.settled",
      summary: "Raised once, when the first state is settled: the host may hide its splash screen.",
      parameters: .object([.required("state", .state)])),
    EventKind(
      name: "token.renewed", summary: "There are new tokens, and they are stored.",
      parameters: .object([.required("expiresAt", .date("When the access token ends."))])),
    EventKind(
      name: "token.renewalFailed", summary: "A renewal failed; nothing is lost by it.",
      parameters: .object([.required("error", .error)])),
    EventKind(
      name: "logout.finished", summary: "The logout callback came back.", parameters: .nothing),
    EventKind(
      name: "error.reported", summary: "A failure that the user may have to hear of.",
      parameters: .object([
        .required("error", .error),
        .required("messageKey", .text("For the host's own words: error. and the reason's name.")),
        .required(
          "helps",
          .words("Help", EnrollError.Help.allCases.map { $0.rawValue }, "What can be done about a failure.")),
      ])),
  ]
}

extension EnrollEvent {
  /// What the event carries beside the client.
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
