// A step that sends what works once, and what came of it, as one process hands them to another: JSON, because the two share
// no memory. Both are the same program, so nothing here is a format that lasts.

public import EnrollCore
public import EnrollJSON
import EnrollPosix

/// A step that is to be finished even if the process that wants it is killed.
public enum DetachedStep: Sendable {
  /// A renewal of the tokens with these epochs.
  case renewal(epochs: [UInt64], isForced: Bool, audience: TokenAudience?)
  /// The redirect that the browser came back with.
  case redirect(url: String, transactionID: TransactionID?, isReported: Bool, goesOn: Bool)
  /// A question whether the user is done on another device.
  case poll(TransactionID)

  var json: JSON {
    switch self {
    case .renewal(let epochs, let isForced, let audience):
      .object([
        ("step", .string("renewal")), ("epochs", .array(epochs.map { .integer(Int64(bitPattern: $0)) })),
        ("forced", .bool(isForced)), ("audience", audience?.handed),
      ])
    case .redirect(let url, let transactionID, let isReported, let goesOn):
      .object([
        ("step", .string("redirect")), ("url", .string(url)), ("reported", .bool(isReported)),
        ("goesOn", .bool(goesOn)),
        ("transaction", transactionID.map { .string($0.text) }),
      ])
    case .poll(let transactionID):
      .object([("step", .string("poll")), ("transaction", .string(transactionID.text))])
    }
  }

  /// - Returns: nil for what no process of this program wrote.
  public init?(_ json: JSON) {
    let transactionID = json["transaction"]?.string.map { TransactionID($0) }
    switch (json["step"]?.string, json["url"]?.string, transactionID) {
    case ("renewal"?, _, _):
      let epochs = json["epochs"]?.array ?? []
      self = .renewal(
        epochs: epochs.compactMap { $0.integer }.map { UInt64(bitPattern: $0) },
        isForced: json["forced"]?.bool ?? false, audience: json["audience"].map { TokenAudience(handed: $0) })
    case ("redirect"?, let url?, _):
      self = .redirect(
        url: url, transactionID: transactionID, isReported: json["reported"]?.bool ?? false,
        goesOn: json["goesOn"]?.bool ?? false)
    case ("poll"?, _, let transactionID?): self = .poll(transactionID)
    default: return nil
    }
  }
}

/// A line of a process that runs a step.
enum DetachedLine {
  /// The store is open, and the step begins.
  case begun
  case progress(CallTimeout.Progress)
  /// The last line.
  case ended(Result<JSON, EnrollError>)

  var json: JSON {
    switch self {
    case .begun: .object([("line", .string("begun"))])
    case .progress(.waiting): .object([("line", .string("waiting"))])
    case .progress(.proceeding): .object([("line", .string("proceeding"))])
    case .progress(.committed): .object([("line", .string("committed"))])
    case .ended(.success(let value)): .object([("line", .string("ended")), ("value", value)])
    case .ended(.failure(let error)): .object([("line", .string("ended")), ("error", error.handed)])
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
        self = .ended(.failure(EnrollError(handed: json["error"] ?? .null)))
      }
    default: return nil
    }
  }
}

extension RenewalResult {
  var handed: JSON {
    switch self {
    case .renewed: .object([("result", .string("renewed"))])
    case .unavailable(let error): .object([("result", .string("unavailable")), ("error", error.handed)])
    case .rejected(let error): .object([("result", .string("rejected")), ("error", error.handed)])
    case .reauthenticate(let reason):
      .object([("result", .string("reauthenticate")), ("reason", .string(reason))])
    }
  }

  init(handed json: JSON) {
    let error = EnrollError(handed: json["error"] ?? .null)
    switch json["result"]?.string {
    case "renewed": self = .renewed
    case "rejected": self = .rejected(error)
    case "reauthenticate": self = .reauthenticate(json["reason"]?.string ?? "")
    default: self = .unavailable(error)
    }
  }
}

extension EnrollError {
  fileprivate var handed: JSON {
    .object([
      ("code", .integer(Int64(code.rawValue))), ("message", .string(message)),
      ("field", field.map { .string($0) }), ("httpStatus", httpStatus.map { .integer(Int64($0)) }),
      ("oauthError", oauthError.map { .string($0) }), ("retryAfter", retryAfterSeconds.map { .integer($0) }),
      ("endedAttempt", .bool(hasEndedAttempt)), ("remedy", remedy.map { .string($0.rawValue) }),
    ])
  }

  fileprivate init(handed json: JSON) {
    let error = EnrollError(
      json["code"]?.integer.flatMap { Code(rawValue: Int32(truncatingIfNeeded: $0)) } ?? .internal,
      json["message"]?.string ?? "", field: json["field"]?.string,
      httpStatus: json["httpStatus"]?.integer.map { Int($0) }, oauthError: json["oauthError"]?.string,
      retryAfterSeconds: json["retryAfter"]?.integer)
    self = error.knowing(
      hasEndedAttempt: json["endedAttempt"]?.bool ?? false,
      remedy: json["remedy"]?.string.flatMap { RegistrationState.RenewalFailure.Remedy(rawValue: $0) })
  }
}

extension TokenAudience {
  fileprivate var handed: JSON {
    .object([
      ("resource", resource.map { .string($0) }), ("scopes", .array(scopes.map { .string($0) })),
    ])
  }

  fileprivate init(handed json: JSON) {
    self.init(
      resource: json["resource"]?.string, scopes: (json["scopes"]?.array ?? []).compactMap { $0.string })
  }
}

extension Engine.Settlement {
  /// Without the state, which the store tells.
  var handed: JSON {
    var failure: EnrollError?
    if case .failed(let error) = ending { failure = error }
    return .object([
      ("transaction", .string(transactionID.text)), ("failure", failure?.handed),
      ("next", nextURL.map { .string($0) }),
    ])
  }

  /// - Parameter state: how the account stands now.
  /// - Returns: nil where nothing was settled.
  init?(handed json: JSON, state: RegistrationState) {
    guard let text = json["transaction"]?.string else { return nil }
    let failure = json["failure"].map { EnrollError(handed: $0) }
    if let url = json["next"]?.string {
      self.init(
        TransactionID(text), goesOnAt: url, after: failure ?? EnrollError(.oauth, "the scopes were refused"))
      return
    }
    self.init(
      transactionID: TransactionID(text), ending: failure.map { .failed($0) } ?? .succeeded(state))
  }
}
