// A failure as it is reported to the host and its back end (flows.md §7, Errors): code, message key and remedy, without
// secrets.

import EnrollJSON

extension EnrollError {
  /// The key of the host's own text for the error: `error.` and the code's name.
  public var messageKey: String { "error.\(code.name)" }

  /// What the user or the host can do about the error. For an error of the state E `renewalFailed`, this is the remedy
  /// of that state.
  public var helps: Help {
    guard !hasEndedAttempt else { return .registerAgain }
    switch remedy {
    case .retry: return .retry
    case .wait: return .wait
    case .registerAgain: return .registerAgain
    case nil: return code.row.helps
    }
  }

  /// Whether the error may concern the user. A caller's mistake and an unsolicited URL do not concern the user: a page
  /// that opens links must not be able to cause reports (R6).
  package var concernsUser: Bool {
    switch code {
    case .unsolicited, .redirectMalformed, .redirectMismatch, .alreadySettled, .codeRejected, .cancelled,
      .deadlineExceeded:
      false
    default: blame != .caller
    }
  }
}

public enum ErrorReport {
  /// The maximum number of queued reports. At this limit, a new report replaces the oldest report.
  package static let limit = 32

  /// The body of a report.
  /// - Returns: the JSON text to post.
  package static func body(_ error: EnrollError, at time: UnixTime, clientID: ClientID, platform: Platform)
    -> String
  {
    let report = JSON.object([
      ("code", .string(error.code.name)), ("messageKey", .string(error.messageKey)),
      ("helps", .string(error.helps.rawValue)), ("blame", .string(error.blame.rawValue)),
      ("message", .string(error.message)), ("httpStatus", error.httpStatus.map { .integer(Int64($0)) }),
      ("oauthError", error.oauthError.map { .string($0) }),
      ("oauthErrorDescription", error.oauthErrorDescription.map { .string($0) }),
      ("time", .integer(time.seconds)),
      ("clientId", .string(clientID.text)), ("platform", platform.type.map { .string($0) }),
      ("appVersion", platform.appVersion.map { .string($0) }),
    ])
    return String(decoding: report.serialized(), as: UTF8.self)
  }

  /// The client in a report from ``body(_:at:clientID:platform:)``.
  static func clientID(in body: String) -> ClientID? {
    (try? JSON.parse(Array(body.utf8)))?["clientId"]?.string.map { ClientID($0) }
  }

  package static func request(endpoint: String, body: String) -> HTTPRequest {
    HTTPRequest(
      .post, endpoint,
      headers: [HTTPHeader("Content-Type", "application/json"), HTTPHeader("Accept", "application/json")],
      body: Array(body.utf8))
  }

  /// Whether the report need not be sent again: the server accepted it, or refused it for good.
  package static func isFinal(status: Int) -> Bool {
    (200..<300).contains(status) || (400..<500).contains(status) && status != 408 && status != 429
  }
}
