// Text to value, over jansson, with the limits of R37 (RFC 8259). Refuses: syntax errors, more than one value, a byte
// order mark, nesting over 64, duplicate keys, invalid UTF-8, lone surrogates, NUL in a string.
// Copies of the text stay behind in memory that jansson freed; they are not wiped.

import CJansson

/// Why a text is not acceptable JSON, and where.
public struct JSONError: Error, Equatable, Sendable {
  /// What was expected or refused; never a part of the text.
  public var message: String
  /// Byte offset in the text, -1 when unknown.
  public var offset: Int

  public init(_ message: String, offset: Int = -1) {
    self.message = message
    self.offset = offset
  }
}

extension JSON {
  /// Levels of arrays and objects that are read; deeper ones are refused (R37).
  public static let depthLimit = 64

  /// Reads exactly one value from UTF-8 text (RFC 8259). An absurd number never loses the document (R32): an
  /// integer beyond 64 bits becomes a ``number(_:)``, a number beyond Double's range the greatest finite one.
  /// - Throws: on any syntax error, nesting over ``depthLimit``, duplicate keys, invalid UTF-8, NUL in a string.
  public static func parse(_ text: [UInt8]) throws(JSONError) -> JSON {
    let scan = try JSONScan(text)
    var error = json_error_t()
    let flags = Int(JSON_REJECT_DUPLICATES) | Int(JSON_DECODE_ANY)
    let root = scan.applied(to: text).withUnsafeBytes { bytes in
      bytes.withMemoryRebound(to: CChar.self) { json_loadb($0.baseAddress, $0.count, flags, &error) }
    }
    guard let root else {
      throw JSONError(reason(error), offset: scan.edits.isEmpty ? Int(error.position) : -1)
    }
    defer { json_decref(root) }
    return value(root)
  }

  /// Our own words: jansson's quote the text.
  private static func reason(_ error: json_error_t) -> String {
    var error = error
    switch json_error_code(UInt32(bitPattern: enroll_json_error_code(&error))) {
    case json_error_out_of_memory: return "out of memory"
    case json_error_premature_end_of_input: return "the text ends too early"
    case json_error_end_of_input_expected: return "more follows after the value"
    case json_error_invalid_utf8: return "not valid UTF-8"
    case json_error_null_character, json_error_null_byte_in_key: return "NUL in a string"
    case json_error_duplicate_key: return "duplicate object key"
    case json_error_numeric_overflow: return "a number is out of range"
    case json_error_stack_overflow: return "nested too deeply"
    default: return "not valid JSON"
    }
  }

  /// Recursion is bounded: the scan refused what is deeper than ``depthLimit``.
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
