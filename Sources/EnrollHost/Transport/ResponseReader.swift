// Reads one response while it arrives, within limits (R20): a head of at most 64 KiB, a body up to the request's limit,
// no compressed body. A response that breaks a rule ends the transfer at once, and the error is kept here. If an answer
// is issued only once, a body that is declared compressed is still read, and a body that is cut off is kept (R30).

import EnrollRules

/// The reader of one response. libcurl's callbacks call its methods, on the thread that runs the transfer.
final class ResponseReader {
  private(set) var status = 0
  private(set) var headers: [HTTPHeader] = []
  private(set) var body: [UInt8] = []
  /// Why EnrollKit ended the transfer; nil if EnrollKit did not end it.
  private(set) var failure: EnrollError?
  /// Whether the head of the final response is complete. Later header lines are trailers, which are ignored.
  private(set) var isHeadComplete = false
  /// The number of bytes of all heads that arrived, including interim responses.
  private(set) var headLength = 0

  private let target: RequestTarget
  private let limit: Int
  private let keepsCut: Bool
  /// The error for a body that the response's head declares compressed.
  private var encoding: EnrollError?
  private var isInsideHead = false

  /// The maximum number of bytes of status lines and headers, including interim responses (RFC 9110 §15.2).
  static let longestHead = 64 * 1024

  /// - Parameter keepsCut: whether a body that is cut off, or declared compressed, is still useful.
  init(target: RequestTarget, limit: Int, keepsCut: Bool = false) {
    self.target = target
    self.limit = max(limit, 0)
    self.keepsCut = keepsCut
  }

  /// The whole response, after the transfer has succeeded.
  /// - Throws: `.responseInvalid` if no final response arrived.
  func finished() throws(EnrollError) -> HTTPResponse {
    guard isHeadComplete, (200...599).contains(status) else {
      throw EnrollError(.responseInvalid, "\(target.display) did not answer as HTTP does")
    }
    var response = HTTPResponse(status: status, headers: headers, body: body)
    response.cut = encoding
    return response
  }

  /// The part of a response that arrived before its transfer failed with `error`; nil if that part is not useful.
  func cut(by error: EnrollError) -> HTTPResponse? {
    guard keepsCut, failure == nil, isHeadComplete, !body.isEmpty, var response = try? finished() else {
      return nil
    }
    response.cut = error
    return response
  }

  /// Records that the transfer fails because the host name resolved to an address that is not loopback (R19).
  func refuseAddress() {
    failure = EnrollError(
      .network, "\(target.display) does not lead to a loopback address; http is used for no other")
  }

  /// Reads one line of the head, including its line end. Returns false to end the transfer.
  func readHeader(_ line: UnsafeRawBufferPointer) -> Bool {
    headLength += line.count
    guard headLength <= Self.longestHead else {
      return refuse("sent a head of more than \(Self.longestHead) bytes")
    }
    guard !isHeadComplete else { return true }
    let text = Self.trimmed(line[...])
    if !isInsideHead {
      status = Self.status(of: text)
      headers.removeAll()
      encoding = nil
      isInsideHead = true
      return true
    }
    if text.isEmpty {
      isInsideHead = false
      // The bytes after the head of a 101 are not HTTP.
      guard status != 101 else { return refuse("answered with status 101, which changes the protocol") }
      isHeadComplete = status >= 200
      return true
    }
    return readField(line, text)
  }

  private func readField(_ line: UnsafeRawBufferPointer, _ text: Slice<UnsafeRawBufferPointer>) -> Bool {
    if let first = line.first, first == 0x20 || first == 0x09, let last = headers.indices.last {
      // A folded line belongs to the line before it (RFC 9112 §5.2).
      headers[last].value += " " + String(decoding: text, as: UTF8.self)
    } else if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
      let value = Self.trimmed(text[(colon + 1)...])
      headers.append(
        HTTPHeader(String(decoding: text[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self)))
    }
    guard let header = headers.last else { return true }
    if ASCII.equalsIgnoringCase(header.name, "Content-Encoding"), !header.value.isEmpty,
      !ASCII.equalsIgnoringCase(header.value, "identity")
    {
      let problem = refusal("sent a compressed body, which was not asked for")
      guard keepsCut else {
        failure = problem
        return false
      }
      encoding = problem
    }
    if ASCII.equalsIgnoringCase(header.name, "Transfer-Encoding"),
      !ASCII.equalsIgnoringCase(header.value, "chunked"), !ASCII.equalsIgnoringCase(header.value, "identity")
    {
      return refuse("sent a transfer encoding other than chunked")
    }
    return true
  }

  /// Reads a piece of the body. Returns false to end the transfer.
  func readBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count <= limit - body.count else { return refuseLength() }
    body.append(contentsOf: bytes)
    return true
  }

  /// Refuses a body that is longer than the request allows, or is announced as longer.
  @discardableResult
  func refuseLength() -> Bool {
    refuse("sent more than \(limit) bytes")
  }

  private func refuse(_ what: String) -> Bool {
    failure = refusal(what)
    return false
  }

  private func refusal(_ what: String) -> EnrollError {
    EnrollError(.responseInvalid, "\(target.display) \(what)", httpStatus: status >= 200 ? status : nil)
  }

  /// The three digits after `HTTP/x.y `, followed by a space or the end of the line (RFC 9112 §4); otherwise 0.
  private static func status(of line: Slice<UnsafeRawBufferPointer>) -> Int {
    guard let space = line.firstIndex(of: 0x20) else { return 0 }
    let digits = line[(space + 1)...].prefix { $0 > 0x20 }
    guard digits.allSatisfy({ ASCII.isDigit($0) }) else { return 0 }
    return digits.count == 3 ? digits.reduce(0) { $0 * 10 + Int($1 - 0x30) } : 0
  }

  /// The text without surrounding spaces and line ends.
  private static func trimmed(_ line: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
    var line = line
    while let byte = line.first, byte == 0x20 || byte == 0x09 { line = line.dropFirst() }
    while let byte = line.last, byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A {
      line = line.dropLast()
    }
    return line
  }
}
