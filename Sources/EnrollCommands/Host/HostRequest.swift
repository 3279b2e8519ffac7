// The requests to a host that serves HTTP or secrets itself, each once, with its schemas: the counterpart of the
// commands.

public import EnrollCore

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
