// Reads a value from text, with jansson and the limits of R37 (RFC 8259). Refused are: syntax errors, more than one
// value, a byte order mark, nesting over 64, duplicate keys, invalid UTF-8, lone surrogates, NUL in a string. jansson
// frees its copies of the text without wiping them.

import CJansson

/// Why a text is not acceptable JSON, and at which position.
public struct JSONError: Error, Equatable, Sendable {
  /// Says what was expected or refused. Never quotes the text.
  public var message: String
  /// The position of the error as a byte offset in the text; -1 if it is unknown.
  public var offset: Int

  /// Whether there was too little memory for the value. Then the error says nothing about the text.
  public var isOutOfMemory = false

  public init(_ message: String, offset: Int = -1) {
    self.message = message
    self.offset = offset
  }

  /// The error for a text that is JSON, but could not be read for lack of memory.
  static var outOfMemory: JSONError {
    var error = JSONError("there was no memory to read it")
    error.isOutOfMemory = true
    return error
  }
}

extension JSON {
  /// The maximum depth of nested arrays and objects; deeper texts are refused (R37).
  public static let depthLimit = 64

  /// Reads exactly one value from UTF-8 text (RFC 8259). A number that is too large does not make the document
  /// unreadable (R32): an integer beyond 64 bits becomes a ``number(_:)``, a number beyond Double's range becomes the
  /// greatest finite Double.
  /// - Throws: on any syntax error, nesting over ``depthLimit``, duplicate keys, invalid UTF-8, NUL in a string.
  public static func parse(_ text: [UInt8]) throws(JSONError) -> JSON {
    let scan = try JSONScan(text)
    if scan.isSimple, let value = simple(text, scan) { return value }
    // jansson collects a string or number in a growing buffer. If the buffer cannot grow, jansson silently leaves out a
    // character. So EnrollKit puts a string as long as the longest token before the value. The length of this string in
    // the result shows whether the buffer could grow far enough for it; if so, the buffer need not grow again for the
    // value.
    let opening = Array("[\"".utf8) + [UInt8](repeating: 0x78, count: scan.longestToken) + Array("\",".utf8)
    let wrapped = opening + scan.applied(to: text) + [UInt8(ascii: "]")]
    var error = json_error_t()
    let root = wrapped.withUnsafeBytes { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        json_loadb($0.baseAddress, $0.count, Int(JSON_REJECT_DUPLICATES), &error)
      }
    }
    let offset = scan.edits.isEmpty ? min(max(Int(error.position) - opening.count, 0), text.count) : -1
    guard let root else { throw refusal(of: scan.applied(to: text), error, offset) }
    defer { json_decref(root) }
    guard json_string_length(json_array_get(root, 0)) == scan.longestToken else { throw .outOfMemory }
    guard json_array_size(root) == 2, let value = json_array_get(root, 1) else {
      throw JSONError("more follows after the value")
    }
    return self.value(value)
  }

  /// The length of the longest number that fits into jansson's initial buffer, in characters.
  static let shortNumber = 14

  /// Reads a text without changes to it. The strings of the result must be as long, together, as the strings of the
  /// text, so that a missing character is detected.
  /// - Returns: nil if jansson returns no value, for any reason.
  private static func simple(_ text: [UInt8], _ scan: JSONScan) -> JSON? {
    let root = text.withUnsafeBytes { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        json_loadb($0.baseAddress, $0.count, Int(JSON_REJECT_DUPLICATES | JSON_DECODE_ANY), nil)
      }
    }
    guard let root else { return nil }
    defer { json_decref(root) }
    let value = value(root)
    return value.stringBytes == scan.stringBytes ? value : nil
  }

  /// The number of bytes of all strings and keys together.
  private var stringBytes: Int {
    switch self {
    case .string(let text): text.utf8.count
    case .array(let elements): elements.reduce(0) { $0 + $1.stringBytes }
    case .object(let object):
      object.members.reduce(0) { $0 + $1.key.utf8.count + $1.value.stringBytes }
    case .null, .bool, .integer, .number: 0
    }
  }

  /// The error in EnrollKit's own words, because the messages of jansson quote the text. If jansson reports a syntax
  /// error, the real cause may be a lack of memory.
  private static func refusal(of text: [UInt8], _ error: json_error_t, _ offset: Int) -> JSONError {
    var error = error
    let code = json_error_code(UInt32(bitPattern: enroll_json_error_code(&error)))
    let verdict = code == json_error_duplicate_key ? .wrong : JSONGrammar.verdict(on: text)
    switch verdict {
    case .accepted: return .outOfMemory
    case .more: return JSONError("more follows after the value", offset: offset)
    case .short: return JSONError("the text ends too early", offset: offset)
    case .wrong: return JSONError(reason(code), offset: offset)
    }
  }

  private static func reason(_ code: json_error_code) -> String {
    switch code {
    case json_error_invalid_utf8: return "not valid UTF-8"
    case json_error_null_character, json_error_null_byte_in_key: return "NUL in a string"
    case json_error_duplicate_key: return "duplicate object key"
    case json_error_numeric_overflow: return "a number is out of range"
    case json_error_stack_overflow: return "nested too deeply"
    default: return "not valid JSON"
    }
  }

  /// Converts a value that jansson has read. The recursion is limited, because the scan refuses texts deeper than
  /// ``depthLimit``.
  private static func value(_ json: UnsafeMutablePointer<json_t>) -> JSON {
    switch json.pointee.type {
    case JSON_OBJECT:
      var members: [JSONObject.Member] = []
      members.reserveCapacity(json_object_size(json))
      // jansson iterates in the order of the text.
      var iterator = json_object_iter(json)
      while let at = iterator {
        if let key = json_object_iter_key(at), let member = json_object_iter_value(at) {
          members.append(JSONObject.Member(key: String(cString: key), value: value(member)))
        }
        iterator = json_object_iter_next(json, at)
      }
      return .object(JSONObject(unique: members))
    case JSON_ARRAY:
      var elements: [JSON] = []
      elements.reserveCapacity(json_array_size(json))
      for index in 0..<json_array_size(json) {
        if let element = json_array_get(json, index) { elements.append(value(element)) }
      }
      return .array(elements)
    case JSON_STRING:
      guard let start = json_string_value(json) else { return .string("") }
      let text = UnsafeRawBufferPointer(start: start, count: json_string_length(json))
      return .string(String(decoding: text, as: UTF8.self))
    case JSON_INTEGER: return .integer(json_integer_value(json))
    case JSON_REAL: return .number(json_real_value(json))
    case JSON_TRUE: return .bool(true)
    case JSON_FALSE: return .bool(false)
    default: return .null
    }
  }
}
