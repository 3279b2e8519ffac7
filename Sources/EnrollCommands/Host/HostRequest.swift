// The requests to a host that serves HTTP or secrets itself, each once, with its schemas: the counterpart of the
// commands. And the host as somebody who can be asked: a face that can send its host requests has a line to it.

public import EnrollCore
public import EnrollJSON

/// A request that goes to the host.
public struct HostRequest: Sendable {
  public let name: String
  /// One sentence.
  public let summary: String
  /// The version that brought it.
  public let since: String
  /// The parameters of the request. Later versions may add members.
  public let input: Schema
  /// The host's result: these members and no others.
  public let output: Schema
  /// The errors with a meaning of their own. Any other is taken for the first of them.
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

  /// In the order of the documentation.
  public static let all = [HostHTTP.request] + HostSecrets.requests

  /// Why a call ends whose host answered with an error.
  /// - Parameter title: how the texts call what the host does.
  func refused(_ code: Int64, _ status: EnrollError.Code?, _ title: String, field: String? = nil)
    -> EnrollError
  {
    let known = errors.first { $0 == status } ?? errors.first { $0.rpcCode == code }
    // The host's own words may hold anything (R40).
    return EnrollError(
      known ?? errors.first ?? .internal, "\(title) answered \(name) with the error \(code)", field: field)
  }
}

/// The outcome of a request to the host.
public enum HostAnswer: Sendable {
  /// As the host said it: not checked yet.
  case result(JSON)
  /// The host refused.
  /// - `code`: of JSON-RPC; `status`: the word in `data.status`, if it is one of ours; `isUnsent`: `data.notSent`.
  case refusal(code: Int64, status: EnrollError.Code?, isUnsent: Bool)
  /// It was no answer. The text says what was expected.
  case malformed(String)
  /// None came in time; one that comes later is dropped.
  case silence
  /// The caller stopped waiting.
  case cancelled
  /// The host cannot answer any more.
  case gone
}

/// A way to ask the host. Any method may be called from any thread but the one that takes the answers.
public protocol HostLine: AnyObject, Sendable {
  /// Asks and waits for the answer, so many nanoseconds.
  func ask(_ request: HostRequest, _ parameters: JSON, nanoseconds: Int64, cancellation: (any Cancellation)?)
    -> HostAnswer
}
