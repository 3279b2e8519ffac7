// The members of a JSON-RPC message that a bridge needs. If a name occurs twice, the last member counts, as in most
// JSON parsers. So a header that the bridge makes from a member has the same value that the server reads in the body.

import EnrollRules

/// The parts of one JSON-RPC message that a bridge reads.
package struct Message: Equatable, Sendable {
  /// `method`; nil for an answer.
  package var method: String?
  /// `id`; nil for a notification, and for a value that is neither a string nor a number.
  package var id: MessageID?
  /// Whether two programs may read different methods or tools in this message: `method`, `params` or `params.name`
  /// occurs twice, or in other letters, such as `Name`. Some parsers ignore the case of names.
  package private(set) var isAmbiguous = false
  /// Whether `jsonrpc` is `"2.0"`.
  private var isVersion2 = false
  private var (result, failure) = (Member.absent, Member.absent)
  /// `params.name`, or `params.uri` of `resources/read`.
  package var name: String?
  private var uri: String?
  /// The protocol version in `params._meta` (2026-07-28).
  package var metaVersion: String?
  /// `params.protocolVersion` of `initialize`.
  package var offeredVersion: String?
  /// `result.protocolVersion`: the server's answer to `initialize`.
  package var agreedVersion: String?
  /// `params.requestId`: the id of the request that a cancellation cancels.
  package var cancelledID: MessageID?
  /// The bytes of `error`; nil if it is not an error of JSON-RPC, because it has no code. Many servers answer
  /// `{"error": "not found"}`.
  package var error: [UInt8]?

  /// The bytes of the message in the text from which it was read.
  package private(set) var place = 0..<0

  /// What is known about a member.
  private enum Member { case absent, null, value }

  package static let versionKey = "io.modelcontextprotocol/protocolVersion"

  package var isRequest: Bool { method != nil && id != nil }
  /// Whether the message has `result` or `error`. A null beside a method does not count.
  package var isAnswer: Bool {
    result == .value || failure == .value || method == nil && (result == .null || failure == .null)
  }
  package var isCancellation: Bool { method == "notifications/cancelled" }
  package var isToolList: Bool { method == "tools/list" && id != nil }
  package var isToolCall: Bool { method == "tools/call" && id != nil }
  /// Whether a second execution of this message changes nothing, so that the bridge may send the message again after a
  /// lost connection.
  package var isRepeatable: Bool {
    guard let method else { return false }
    return ["ping", "initialize", "server/discover", "resources/read", "prompts/get", "completion/complete"]
      .contains(method) || method.utf8.suffix(5).elementsEqual("/list".utf8)
  }

  /// The content of a line.
  package enum Content: Equatable, Sendable {
    case single(Message)
    /// Several messages in an array (2025-03-26).
    case batch([Message])
  }

  /// Reads one message or an array of messages.
  /// - Returns: nil if the bytes are not a JSON object or an array of objects.
  package static func content(of bytes: [UInt8]) -> Content? {
    var cursor = JSONCursor(bytes)
    cursor.skipSpace()
    let content: Content
    if cursor.next == UInt8(ascii: "[") {
      var all: [Message] = []
      let isArray = cursor.array { cursor in
        guard let message = Message(&cursor, in: bytes) else { return false }
        all.append(message)
        return true
      }
      guard isArray else { return nil }
      content = .batch(all)
    } else {
      guard let message = Message(&cursor, in: bytes) else { return nil }
      content = .single(message)
    }
    cursor.skipSpace()
    return cursor.next == nil ? content : nil
  }

  package init() {}

  /// Reads one object.
  private init?(_ cursor: inout JSONCursor, in bytes: [UInt8]) {
    self.init()
    cursor.skipSpace()
    let start = cursor.index
    var (hasMethod, hasParams) = (false, false)
    let isObject = cursor.object { name, cursor in
      note(name, "method", &hasMethod)
      note(name, "params", &hasParams)
      switch name {
      case "params": return readParams(&cursor, bytes)
      case "result":
        agreedVersion = nil
        cursor.skipSpace()
        result = cursor.next == UInt8(ascii: "n") ? .null : .value
        return readResult(&cursor, bytes)
      default: break
      }
      guard let range = cursor.value() else { return false }
      switch name {
      case "method": method = JSONCursor.decoded(bytes[range])
      case "id": id = Self.id(bytes[range])
      case "jsonrpc": isVersion2 = JSONCursor.decoded(bytes[range]) == "2.0"
      case "error":
        failure = bytes[range].first == UInt8(ascii: "n") ? .null : .value
        error = Array(bytes[range])
      default: break
      }
      return true
    }
    guard isObject else { return nil }
    place = start..<cursor.index
    if errorCode == nil { error = nil }
    if method == "resources/read" { name = uri }
  }

  /// Notes whether the member `wanted` occurs twice, or in other letters.
  private mutating func note(_ name: String, _ wanted: String, _ isThere: inout Bool) {
    guard ASCII.equalsIgnoringCase(name, wanted) else { return }
    if isThere || name != wanted { isAmbiguous = true }
    isThere = true
  }

  /// - Returns: nil for a value that is neither a string nor a number.
  private static func id(_ value: ArraySlice<UInt8>) -> MessageID? {
    guard let first = value.first,
      first == UInt8(ascii: "\"") || first == UInt8(ascii: "-") || ASCII.isDigit(first)
    else { return nil }
    return MessageID(Array(value))
  }

  private mutating func readParams(_ cursor: inout JSONCursor, _ bytes: [UInt8]) -> Bool {
    (name, uri, metaVersion, offeredVersion, cancelledID) = (nil, nil, nil, nil, nil)
    var hasName = false
    return cursor.members { key, cursor in
      note(key, "name", &hasName)
      if key == "_meta" { return readMeta(&cursor, bytes) }
      guard let range = cursor.value() else { return false }
      switch key {
      case "name": name = JSONCursor.decoded(bytes[range])
      case "uri": uri = JSONCursor.decoded(bytes[range])
      case "protocolVersion": offeredVersion = JSONCursor.decoded(bytes[range])
      case "requestId": cancelledID = Self.id(bytes[range])
      default: break
      }
      return true
    }
  }

  private mutating func readMeta(_ cursor: inout JSONCursor, _ bytes: [UInt8]) -> Bool {
    metaVersion = nil
    return cursor.members { key, cursor in
      guard let range = cursor.value() else { return false }
      if key == Self.versionKey { metaVersion = JSONCursor.decoded(bytes[range]) }
      return true
    }
  }

  private mutating func readResult(_ cursor: inout JSONCursor, _ bytes: [UInt8]) -> Bool {
    cursor.members { key, cursor in
      guard let range = cursor.value() else { return false }
      if key == "protocolVersion" { agreedVersion = JSONCursor.decoded(bytes[range]) }
      return true
    }
  }

  // MARK: Answers

  /// Why hosts cannot read this message as an answer, in words for "the server sent …"; nil for an answer of JSON-RPC.
  /// Hosts wait on if an answer has no `"jsonrpc": "2.0"`. A null beside the other member is accepted: several hosts
  /// read such an answer, and it has one meaning.
  package var answerFault: String? {
    guard method == nil else { return "an answer that has a method" }
    guard isVersion2 else { return #"an answer without "jsonrpc": "2.0""# }
    switch (result, failure) {
    case (.absent, .absent), (.absent, .null): return "an answer with neither a result nor an error"
    case (.value, .value): return "an answer with both a result and an error"
    case (.absent, .value), (.null, .value): return error == nil ? "an error without a code" : nil
    case (.null, .absent), (.null, .null), (.value, .absent), (.value, .null): return nil
    }
  }

  // MARK: Errors

  /// The error code for a header whose value differs from the value in the body (2026-07-28).
  package static let headerMismatch = -32020

  /// `error.code`.
  package var errorCode: Int? { errorMember("code").flatMap { Int(String(decoding: $0, as: UTF8.self)) } }

  private func errorMember(_ wanted: String) -> ArraySlice<UInt8>? {
    guard let error else { return nil }
    var found: ArraySlice<UInt8>?
    var cursor = JSONCursor(error)
    _ = cursor.members { name, cursor in
      let range = cursor.value()
      if name == wanted { found = range.map { error[$0] } }
      return range != nil
    }
    return found
  }

  /// Whether an error with status 404 means that the server does not know the session, and so has not processed the
  /// request. Servers use several error codes for this. The error usually has no `id`, or an `id` that the server
  /// chose.
  /// - Parameter ids: the ids of the requests.
  package func tellsOfLostSession(to ids: [MessageID]) -> Bool {
    guard error != nil, let code = errorCode else { return true }
    switch code {
    case -32001: return true
    case -32000, -32600:
      guard let id, ids.contains(id) else { return true }
      let words = errorMember("message").flatMap { JSONCursor.decoded($0) } ?? ""
      return ASCII.contains(words, "session") || ASCII.contains(words, "Session")
    default: return false
    }
  }
}
