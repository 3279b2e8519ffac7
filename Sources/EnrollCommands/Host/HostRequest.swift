// The requests that EnrollKit sends to a host that provides HTTP or secrets itself, with their schemas, and the
// interface for sending them. These requests are the counterpart of the commands.

public import EnrollRules
public import EnrollSteps
public import EnrollJSON

/// A request to the host.
public struct HostRequest: Sendable {
  public let name: String
  /// One sentence.
  public let summary: String
  /// The version in which the request first appeared.
  public let since: String
  /// The parameters of the request. Later versions may add members.
  public let input: Schema
  /// The host's result: these members and no others.
  public let output: Schema
  /// The errors that have a meaning for this request. Any other error is treated as the first of these.
  public let errors: [EnrollError.Code]

  init(
    _ name: String, _ summary: String, takes parameters: [Schema.Property], gives output: Schema,
    errors: [EnrollError.Code], since: String = "0.1.0"
  ) {
    self.name = name
    self.summary = summary
    self.since = since
    input = .object(parameters)
    self.output = output
    self.errors = errors
  }

  /// All requests to the host, in the order in which the documentation lists them.
  public static let all = [HostHTTP.request] + HostSecrets.requests

  /// The error that a call throws because the host answered with an error.
  /// - Parameter title: the name of the host's service in error texts.
  func refused(_ code: Int64, _ status: EnrollError.Code?, _ title: String, field: String? = nil)
    -> EnrollError
  {
    let known = errors.first { $0 == status } ?? errors.first { $0.rpcCode == code }
    // The host's own text may contain anything (R40), so it is not shown.
    return EnrollError(
      known ?? errors.first ?? .internal, "\(title) answered \(name) with the error \(code)", field: field)
  }
}

/// The outcome of a request to the host.
public enum HostAnswer: Sendable {
  /// The host's result, not checked yet.
  case result(JSON)
  /// The host answered with an error.
  /// - `code`: the code of JSON-RPC; `status`: the word in `data.status`, if it is a status of EnrollKit; `isUnsent`:
  ///   `data.notSent`.
  case refusal(code: Int64, status: EnrollError.Code?, isUnsent: Bool)
  /// The answer was malformed. The text says what was expected.
  case malformed(String)
  /// The host did not answer before the timeout; a late answer is dropped.
  case silence
  /// The caller stopped waiting.
  case cancelled
  /// The host cannot answer any more: the connection is closed.
  case gone
}

/// Sends requests to the host. Any method may be called from any thread except the one that receives the answers.
public protocol HostRequester: AnyObject, Sendable {
  /// Sends a request and waits for its answer, for at most this many nanoseconds.
  func ask(_ request: HostRequest, _ parameters: JSON, nanoseconds: Int64, cancellation: (any Cancellation)?)
    -> HostAnswer
}
