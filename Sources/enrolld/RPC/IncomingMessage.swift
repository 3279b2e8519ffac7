// One message of the host: a request, a response, or an invalid message (JSON-RPC 2.0 §4, §5).

import EnrollCommands
import EnrollRules
import EnrollJSON

enum IncomingMessage {
  /// Without an id the request is a notification, which gets no answer in any case.
  case request(id: MessageID?, method: String, params: JSON?)
  /// The host's answer to a request of the daemon. Without an id it belongs to no request. The daemon never answers it,
  /// even if it is malformed.
  case response(id: MessageID?, HostAnswer)
  case invalid(id: MessageID?, String)

  init(_ json: JSON) {
    guard case .object(let object) = json else {
      self = .invalid(id: nil, "expected an object, got \(json.kind)")
      return
    }
    let id = object["id"].flatMap { MessageID($0) }
    if object["method"] == nil && (object["result"] != nil || object["error"] != nil) {
      self = .response(id: id, HostAnswer(object))
    } else if object["id"] != nil && id == nil {
      self = .invalid(id: nil, "id: expected a string or an integer")
    } else if !Self.isVersioned(object) {
      self = .invalid(id: id, "jsonrpc: expected \"2.0\"")
    } else if let method = object["method"]?.string {
      switch object["params"] {
      case nil, .array, .object: self = .request(id: id, method: method, params: object["params"])
      case .null, .bool, .integer, .number, .string:
        self = .invalid(id: id, "params: expected an object or an array")
      }
    } else {
      self = .invalid(id: id, "method: expected a string")
    }
  }

  fileprivate static func isVersioned(_ object: JSONObject) -> Bool {
    object["jsonrpc"]?.string.map { ASCII.equals($0, "2.0") } ?? false
  }
}

extension HostAnswer {
  /// A member that is null counts as absent: some JSON-RPC libraries always send both `result` and `error`, with null
  /// for the member that does not apply.
  fileprivate init(_ object: JSONObject) {
    let error = object["error"].flatMap { $0.isNull ? nil : $0 }
    if !IncomingMessage.isVersioned(object) {
      self = .malformed("jsonrpc: expected \"2.0\"")
    } else if let error {
      if object["result"].map({ !$0.isNull }) ?? false {
        self = .malformed("expected one of result and error, got both")
      } else if let code = error["code"]?.integer {
        let word = error["data"]?["status"]?.string
        self = .refusal(
          code: code, status: word.flatMap { EnrollError.Code(named: $0) },
          isUnsent: error["data"]?["notSent"]?.bool ?? false)
      } else {
        self = .malformed("error.code: expected an integer")
      }
    } else {
      self = .result(object["result"] ?? .null)
    }
  }
}

extension EnrollError.Code {
  fileprivate init?(named name: String) {
    guard let code = Self.allCases.first(where: { ASCII.equals($0.name, name) }) else { return nil }
    self = code
  }
}
