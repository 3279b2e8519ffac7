// One message of the host, taken for what it is (JSON-RPC 2.0 §4).

import EnrollCore
import EnrollJSON

enum Incoming {
  /// Without an id it is a notification: nothing is answered, whatever happens.
  case request(id: RequestID?, method: String, params: JSON?)
  /// The answer to a request of the daemon's.
  case response
  case invalid(id: RequestID?, String)

  init(_ json: JSON) {
    guard case .object(let object) = json else {
      self = .invalid(id: nil, "an object was expected, \(json.kind) came")
      return
    }
    let id = object["id"].flatMap { RequestID($0) }
    if object["id"] != nil && id == nil {
      self = .invalid(id: nil, "id: a string or an integer was expected")
    } else if !(object["jsonrpc"]?.string.map { ASCII.equals($0, "2.0") } ?? false) {
      self = .invalid(id: id, "jsonrpc: \"2.0\" was expected")
    } else if object["method"] == nil && (object["result"] != nil || object["error"] != nil) {
      self = .response
    } else if let method = object["method"]?.string {
      switch object["params"] {
      case nil, .array, .object: self = .request(id: id, method: method, params: object["params"])
      case .null, .bool, .integer, .number, .string:
        self = .invalid(id: id, "params: an object or an array was expected")
      }
    } else {
      self = .invalid(id: id, "method: a string was expected")
    }
  }
}
