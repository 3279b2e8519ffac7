// One call of a command: parameters that passed the schema, the client, and the caller's deadline.

import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollJSON

/// The input of a command. The accessors rely on the checks of the schema.
struct Invocation: Sendable {
  var parameters: JSONObject
  var client: Client?
  /// The open client of the call; nil if the interface manages its own handles.
  var opened: OpenClient?
  var session: Session?
  /// The caller's deadline, in addition to the parameter `timeout`.
  var deadline: Instant?
  var cancellation: (any Cancellation)?
  /// The store's key provider, if the interface can pass more than JSON.
  var keys: KeyPlan?
  /// The new key provider, for commands that change the provider.
  var newKeys: KeyPlan?

  func text(_ name: String) -> String? { parameters[name]?.string }
  func integer(_ name: String) -> Int64? { parameters[name]?.integer }
  func flag(_ name: String, default value: Bool = false) -> Bool { parameters[name]?.bool ?? value }
  func object(_ name: String) -> JSONObject? { parameters[name]?.object }

  /// The parameter `transaction`.
  var transactionID: TransactionID? { text("transaction").map { TransactionID($0) } }

  /// - Throws: `.invalidArgument`.
  func requiredTransactionID() throws(EnrollError) -> TransactionID {
    TransactionID(try requiredText("transaction"))
  }

  /// - Throws: `.invalidArgument`.
  func requiredText(_ name: String) throws(EnrollError) -> String {
    guard let text = text(name) else {
      throw EnrollError(.invalidArgument, "\(name) is missing", field: name)
    }
    return text
  }

  /// The client of the call.
  /// - Throws: `.handle` if there is no client.
  func openClient() throws(EnrollError) -> Client {
    guard let client else { throw EnrollError(.handle, "the command needs a client", field: "client") }
    return client
  }

  /// The session of the call.
  /// - Throws: `.unsupported` in an interface that manages its own handles.
  func openSession() throws(EnrollError) -> Session {
    guard let session else { throw Invocation.ownHandles }
    return session
  }

  /// The open client of the call, with its handle.
  /// - Throws: `.unsupported` in an interface that manages its own handles.
  func openHandle() throws(EnrollError) -> OpenClient {
    guard let opened else { throw Invocation.ownHandles }
    return opened
  }

  private static var ownHandles: EnrollError {
    EnrollError(.unsupported, "use the functions of this interface to open, close and observe clients")
  }

  /// The caller's deadline, or the end of the time in the parameter `timeout`, whichever is earlier.
  func until(_ client: Client) -> Instant {
    guard let seconds = integer("timeout") else {
      return deadline ?? client.deadline(afterSeconds: Invocation.defaultTimeoutSeconds)
    }
    let own = client.deadline(afterSeconds: seconds)
    return deadline.map { min($0, own) } ?? own
  }

  static let defaultTimeoutSeconds: Int64 = 30
}

extension Schema.Property {
  static let timeout = Schema.Property.optional(
    "timeout", .seconds(0...86_400, "How long the call may take."),
    default: .integer(Invocation.defaultTimeoutSeconds))
}

extension JSON {
  /// The strings of an array; nil for any other kind of value.
  var texts: [String]? { array?.compactMap { $0.string } }
}
