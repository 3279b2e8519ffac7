// One run of a command: parameters that its schema has accepted, the client it is about, and how long the caller waits.

import EnrollCore
import EnrollHost
import EnrollJSON

/// The input of a command's run. The accessors rely on the checks of the schema.
struct Invocation: Sendable {
  var parameters: JSONObject
  var client: Client?
  /// The client's place in a session; nil where the face keeps its own handles.
  var opened: OpenClient?
  var session: Session?
  /// The caller's own end of waiting, beside the parameter `timeout`.
  var deadline: Instant?
  var cancellation: (any Cancellation)?
  /// The key provider of the store, from a face that can pass what JSON cannot.
  var keys: KeyPlan?
  /// The same for where the key goes.
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

  /// - Throws: `.handle` without one.
  func openClient() throws(EnrollError) -> Client {
    guard let client else { throw EnrollError(.handle, "the command needs a client", field: "client") }
    return client
  }

  /// - Throws: `.unsupported` in a face that keeps its own handles.
  func openSession() throws(EnrollError) -> Session {
    guard let session else { throw Invocation.ownHandles }
    return session
  }

  /// - Throws: `.unsupported` in a face that keeps its own handles.
  func openHandle() throws(EnrollError) -> OpenClient {
    guard let opened else { throw Invocation.ownHandles }
    return opened
  }

  private static var ownHandles: EnrollError {
    EnrollError(.unsupported, "use the functions of this interface to open, close and observe clients")
  }

  /// The earlier of the caller's own end and the parameter `timeout`.
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
