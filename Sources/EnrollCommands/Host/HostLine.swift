// The host as somebody who can be asked: a face that can send its host requests has a line to it.

public import EnrollCore
public import EnrollJSON

/// The outcome of a request to the host.
public enum HostAnswer: Sendable {
  /// As the host said it: not checked yet.
  case result(JSON)
  /// The host refused.
  /// - `code`: of JSON-RPC; `status`: the word in `data.status`, if it is one of ours.
  case refusal(code: Int64, status: EnrollError.Code?)
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
