// Secrets that the host stores (in a Keychain, a Keystore, or the app's own store). EnrollKit reads and writes them
// with requests to the host.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix

/// The host's secret store.
final class HostSecrets: SecretStore {
  /// The size of a secret, in bytes.
  static let secretBytes = 32
  /// How long a call without a deadline waits for the host, in seconds; the same as for the desktop's keyring.
  static let timeoutSeconds: Int64 = 30

  private static let title = "the host's secret store"

  private static let client = Schema.Property.optional(
    "client",
    .text(
      "The client whose store it is. Absent if a command about a store sends the request.", maximumBytes: 32)
  )
  private static let name = Schema.Property.required(
    "name", .text("The name: letters, digits, hyphens, underscores and dots.", maximumBytes: 64))
  /// Each secret has only one form as text, so the host must return exactly the text that it stored.
  private static let secret = Schema.text("43 characters; store them unchanged.", maximumBytes: 43)
  private static let errors: [EnrollError.Code] = [.storeIO, .storeLocked, .notFound]

  static let get = HostRequest(
    "host.store.get",
    "Returns a secret. A result without the member secret, or the error notFound, means that there is none.",
    takes: [client, name], gives: .object([.optional("secret", secret)]), errors: errors)
  static let set = HostRequest(
    "host.store.set", "Stores a secret under a name, durably before it answers.",
    takes: [client, name, .required("secret", secret)], gives: .nothing, errors: [.storeIO, .storeLocked])
  static let remove = HostRequest(
    "host.store.remove", "Removes a secret. A missing one is no error.", takes: [client, name],
    gives: .nothing, errors: errors)
  static let requests = [get, set, remove]

  private let requester: any HostRequester
  /// The client's handle; nil for a command about a store.
  private let client: String?

  init(_ requester: any HostRequester, for client: String?) {
    self.requester = requester
    self.client = client
  }

  func load(_ name: SecretName) throws(EnrollError) -> Secret? {
    guard let result = try ask(Self.get, name), let text = result["secret"]?.string else { return nil }
    guard let bytes = Base64URL.decode(text), bytes.count == Self.secretBytes else {
      throw Self.wrong(Self.get, "result.secret: expected the text that host.store.set stored")
    }
    return Secret(bytes)
  }

  func save(_ secret: Secret, as name: SecretName) throws(EnrollError) {
    guard secret.count == Self.secretBytes else {
      throw EnrollError(.internal, "the secret has \(secret.count) bytes; expected \(Self.secretBytes)")
    }
    _ = try ask(Self.set, name, ("secret", .string(Base64URL.encode(secret.revealBytes()))))
  }

  func remove(_ name: SecretName) throws(EnrollError) { _ = try ask(Self.remove, name) }

  /// Asks the host about one secret.
  /// - Returns: nil if the host has no such secret.
  private func ask(
    _ request: HostRequest, _ name: SecretName, _ more: (String, JSON?)...
  ) throws(EnrollError) -> JSON? {
    let parameters = [("client", client.map { .string($0) }), ("name", .string(name.text))] + more
    let answer = requester.ask(
      request, .object(parameters),
      nanoseconds: CallTimeout.nanoseconds(atMost: Self.timeoutSeconds * 1_000_000_000),
      cancellation: CallTimeout.cancellation)
    switch answer {
    case .result(let result):
      do throws(EnrollError) {
        try request.output.check(result, path: "result")
      } catch {
        throw Self.wrong(request, error.message)
      }
      return result
    case .refusal(let code, let status, _):
      let error = request.refused(code, status, Self.title, field: "keys")
      switch error.code {
      case .notFound: return nil
      case .storeLocked:
        throw EnrollError(.storeLocked, "\(Self.title) is locked: unlock it, and try again", field: "keys")
      default: throw error
      }
    case .malformed(let text): throw Self.wrong(request, text)
    case .silence:
      throw EnrollError(
        .storeLocked, "\(Self.title) did not answer \(request.name) in time",
        field: "keys")
    case .cancelled: throw EnrollError(.cancelled, "the call was cancelled")
    case .gone:
      throw EnrollError(
        .storeLocked, "\(Self.title) is gone: the host closed the connection", field: "keys")
    }
  }

  private static func wrong(_ request: HostRequest, _ text: String) -> EnrollError {
    EnrollError(.storeIO, "\(title) answered \(request.name) wrongly: \(text)", field: "keys")
  }
}
