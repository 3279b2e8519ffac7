// The JSON form of a step that sends a value that works only once, and of the step's result. One process passes the
// step to another process and gets the result back; JSON is needed because the two processes share no memory. Both run
// the same program, so this format need not stay compatible.

public import EnrollRules
import EnrollSteps
public import EnrollJSON
import EnrollPosix

/// A step that must be completed even if the process that asked for it is killed.
public enum DetachedStep: Sendable {
  /// A renewal of tokens that have these epochs.
  case renewal(epochs: [UInt64], isForced: Bool, audience: TokenAudience?)
  /// The redirect of a transaction.
  case redirect(url: String, transactionID: TransactionID?, isReported: Bool, mayContinueInBrowser: Bool)
  /// A poll of a device transaction.
  case poll(TransactionID)

  var json: JSON {
    switch self {
    case .renewal(let epochs, let isForced, let audience):
      .object([
        ("step", .string("renewal")), ("epochs", .array(epochs.map { .integer(Int64(bitPattern: $0)) })),
        ("forced", .bool(isForced)), ("audience", audience?.detachedJSON),
      ])
    case .redirect(let url, let transactionID, let isReported, let mayContinueInBrowser):
      .object([
        ("step", .string("redirect")), ("url", .string(url)), ("reported", .bool(isReported)),
        ("mayContinueInBrowser", .bool(mayContinueInBrowser)),
        ("transaction", transactionID.map { .string($0.text) }),
      ])
    case .poll(let transactionID):
      .object([("step", .string("poll")), ("transaction", .string(transactionID.text))])
    }
  }

  /// Reads a step from JSON.
  /// - Returns: nil for JSON that no process of this program wrote.
  public init?(_ json: JSON) {
    let transactionID = json["transaction"]?.string.map { TransactionID($0) }
    switch (json["step"]?.string, json["url"]?.string, transactionID) {
    case ("renewal"?, _, _):
      let epochs = json["epochs"]?.array ?? []
      self = .renewal(
        epochs: epochs.compactMap { $0.integer }.map { UInt64(bitPattern: $0) },
        isForced: json["forced"]?.bool ?? false,
        audience: json["audience"].map { TokenAudience(detachedJSON: $0) })
    case ("redirect"?, let url?, _):
      self = .redirect(
        url: url, transactionID: transactionID, isReported: json["reported"]?.bool ?? false,
        mayContinueInBrowser: json["mayContinueInBrowser"]?.bool ?? false)
    case ("poll"?, _, let transactionID?): self = .poll(transactionID)
    default: return nil
    }
  }
}

/// A line of output of a process that runs a step.
enum DetachedLine {
  /// The store is open, and the step begins.
  case begun
  case progress(CallTimeout.Progress)
  /// The last line, with the result of the step.
  case ended(Result<JSON, EnrollError>)

  var json: JSON {
    switch self {
    case .begun: .object([("line", .string("begun"))])
    case .progress(.waiting): .object([("line", .string("waiting"))])
    case .progress(.proceeding): .object([("line", .string("proceeding"))])
    case .progress(.committed): .object([("line", .string("committed"))])
    case .ended(.success(let value)): .object([("line", .string("ended")), ("value", value)])
    case .ended(.failure(let error)): .object([("line", .string("ended")), ("error", error.detachedJSON)])
    }
  }

  init?(_ json: JSON) {
    switch json["line"]?.string {
    case "begun": self = .begun
    case "waiting": self = .progress(.waiting)
    case "proceeding": self = .progress(.proceeding)
    case "committed": self = .progress(.committed)
    case "ended":
      if let value = json["value"] {
        self = .ended(.success(value))
      } else {
        self = .ended(.failure(EnrollError(detachedJSON: json["error"] ?? .null)))
      }
    default: return nil
    }
  }
}

extension RenewalResult {
  var detachedJSON: JSON {
    switch self {
    case .renewed: .object([("result", .string("renewed"))])
    case .unavailable(let error):
      .object([("result", .string("unavailable")), ("error", error.detachedJSON)])
    case .rejected(let error): .object([("result", .string("rejected")), ("error", error.detachedJSON)])
    case .reauthenticate(let reason, let words):
      .object([
        ("result", .string("reauthenticate")), ("reason", .string(reason)),
        ("oauthErrorDescription", words.map { .string($0) }),
      ])
    }
  }

  init(detachedJSON json: JSON) {
    let error = EnrollError(detachedJSON: json["error"] ?? .null)
    switch json["result"]?.string {
    case "renewed": self = .renewed
    case "rejected": self = .rejected(error)
    case "reauthenticate":
      self = .reauthenticate(json["reason"]?.string ?? "", json["oauthErrorDescription"]?.string)
    default: self = .unavailable(error)
    }
  }
}

extension EnrollError {
  fileprivate var detachedJSON: JSON {
    .object([
      ("code", .integer(Int64(code.rawValue))), ("message", .string(message)),
      ("field", field.map { .string($0) }), ("httpStatus", httpStatus.map { .integer(Int64($0)) }),
      ("oauthError", oauthError.map { .string($0) }),
      ("oauthErrorDescription", oauthErrorDescription.map { .string($0) }),
      ("retryAfter", retryAfterSeconds.map { .integer($0) }),
      ("endedAttempt", .bool(hasEndedAttempt)), ("remedy", remedy.map { .string($0.rawValue) }),
    ])
  }

  fileprivate init(detachedJSON json: JSON) {
    let error = EnrollError(
      json["code"]?.integer.flatMap { Code(rawValue: Int32(truncatingIfNeeded: $0)) } ?? .internal,
      json["message"]?.string ?? "", field: json["field"]?.string,
      httpStatus: json["httpStatus"]?.integer.map { Int($0) }, oauthError: json["oauthError"]?.string,
      oauthErrorDescription: json["oauthErrorDescription"]?.string,
      retryAfterSeconds: json["retryAfter"]?.integer)
    self = error.knowing(
      hasEndedAttempt: json["endedAttempt"]?.bool ?? false,
      remedy: json["remedy"]?.string.flatMap { RegistrationState.RenewalFailure.Remedy(rawValue: $0) })
  }
}

extension TokenAudience {
  fileprivate var detachedJSON: JSON {
    .object([
      ("resource", resource.map { .string($0) }), ("scopes", .array(scopes.map { .string($0) })),
    ])
  }

  fileprivate init(detachedJSON json: JSON) {
    self.init(
      resource: json["resource"]?.string, scopes: (json["scopes"]?.array ?? []).compactMap { $0.string })
  }
}

extension Settlement {
  /// The settlement as JSON, without the state: the reader gets the state from the store.
  var detachedJSON: JSON {
    var failure: EnrollError?
    if case .failed(let error) = ending { failure = error }
    return .object([
      ("transaction", .string(transactionID.text)), ("failure", failure?.detachedJSON),
      ("next", nextURL.map { .string($0) }),
    ])
  }

  /// Reads a settlement from JSON.
  /// - Parameter state: the account's present state.
  /// - Returns: nil if the step settled no transaction.
  init?(detachedJSON json: JSON, state: RegistrationState) {
    guard let text = json["transaction"]?.string else { return nil }
    let failure = json["failure"].map { EnrollError(detachedJSON: $0) }
    if let url = json["next"]?.string {
      self.init(
        TransactionID(text), continuingAt: url,
        after: failure ?? EnrollError(.oauth, "the scopes were refused"))
      return
    }
    self.init(
      transactionID: TransactionID(text), ending: failure.map { .failed($0) } ?? .succeeded(state))
  }
}
