// A failure as the host and its back end hear of it (flows.md §7, Errors): code, message key, what helps; no secrets.

import EnrollJSON

extension EnrollError {
  /// The ways in which the user or the host can solve an error.
  public enum Help: String, Sendable, CaseIterable {
    /// Do the same again.
    case retry
    /// Wait, then do the same again.
    case wait
    /// Begin anew: sign in or register.
    case registerAgain
    /// Verify the e-mail address, then confirm again.
    case verifyEmail
    /// Have an account made, then confirm again.
    case createAccount
    /// Nothing that a user can do: a developer has to look.
    case support
  }

  /// Under which the host keeps its own words: `error.` and the code's name.
  public var messageKey: String { "error.\(code.name)" }

  /// The way in which the user, or the host for the user, can solve it; in the state E, that of the state's reason.
  public var helps: Help {
    guard !hasEndedAttempt else { return .registerAgain }
    switch remedy {
    case .retry: return .retry
    case .wait: return .wait
    case .registerAgain: return .registerAgain
    case nil: break
    }
    return switch code {
    case .cancelled, .deadlineExceeded, .busy, .accessDenied, .codeRejected, .storeIO, .outOfMemory: .retry
    case .network, .timeout, .server, .keysUnavailable, .rejected, .expired, .storeLocked, .storeFull: .wait
    case .redirectMalformed, .redirectMismatch, .unsolicited, .alreadySettled, .transactionExpired,
      .otherAppMissing, .activationFailed, .oauth,
      .loginRequired, .interactionRequired, .consentRequired, .idTokenInvalid, .profileMismatch,
      .reauthenticate, .storeCorrupt, .storeKey:
      .registerAgain
    case .emailNotVerified: .verifyEmail
    case .unknownAccount: .createAccount
    case .invalidArgument, .handle, .reentrant, .forked, .bufferTooSmall, .unsupported, .illegalState,
      .notFound, .configuration, .tls, .responseInvalid, .issuerMismatch, .storeRefused, .storeVersion, .json,
      .internal:
      .support
    }
  }

  /// Whether a user may have to hear of it. A caller's own mistake, and a URL that nobody here waits for, are none of
  /// their business: a page that opens links must not be able to cause reports (R6).
  var concernsUser: Bool {
    switch code {
    case .unsolicited, .redirectMalformed, .redirectMismatch, .alreadySettled, .codeRejected, .cancelled,
      .deadlineExceeded:
      false
    default: blame != .caller
    }
  }
}

public enum ErrorReport {
  /// Reports kept until they are sent; the oldest gives way.
  static let limit = 32

  /// - Returns: the JSON text to post.
  static func body(_ error: EnrollError, at time: UnixTime, clientID: ClientID, platform: Platform) -> String
  {
    let report = JSON.object([
      ("code", .string(error.code.name)), ("messageKey", .string(error.messageKey)),
      ("helps", .string(error.helps.rawValue)), ("blame", .string(error.blame.rawValue)),
      ("message", .string(error.message)), ("httpStatus", error.httpStatus.map { .integer(Int64($0)) }),
      ("oauthError", error.oauthError.map { .string($0) }), ("time", .integer(time.seconds)),
      ("clientId", .string(clientID.text)), ("platform", platform.type.map { .string($0) }),
      ("appVersion", platform.appVersion.map { .string($0) }),
    ])
    return String(decoding: report.serialized(), as: UTF8.self)
  }

  /// The client that a ``body(_:at:clientID:platform:)`` names.
  static func clientID(in body: String) -> ClientID? {
    (try? JSON.parse(Array(body.utf8)))?["clientId"]?.string.map { ClientID($0) }
  }

  static func request(endpoint: String, body: String) -> HTTPRequest {
    HTTPRequest(
      .post, endpoint,
      headers: [HTTPHeader("Content-Type", "application/json"), HTTPHeader("Accept", "application/json")],
      body: Array(body.utf8))
  }

  /// Whether nothing more is to be done: taken, or refused for good.
  static func isFinal(status: Int) -> Bool {
    (200..<300).contains(status) || (400..<500).contains(status) && status != 408 && status != 429
  }
}
