// One response while it arrives, line by line and piece by piece, within limits (R20): a head of 64 KiB, the request's
// limit for the body, no compressed body. A response that breaks a rule ends the transfer at once; the fault is kept
// here. Where an answer comes once, a body that is only said to be compressed is read, and one that is cut is kept as
// it is (R30).

import EnrollCore

/// Fed by libcurl's callbacks, on the thread that runs the transfer.
final class ResponseReader {
  private(set) var status = 0
  private(set) var headers: [HTTPHeader] = []
  private(set) var body: [UInt8] = []
  /// Why the transfer was ended from our side.
  private(set) var failure: EnrollError?
  /// The head of the final response is complete; header lines after that are trailers, which nobody reads.
  private(set) var isHeadComplete = false
  /// Bytes of head that came, interim responses included.
  private(set) var headLength = 0

  private let target: RequestTarget
  private let limit: Int
  private let keepsCut: Bool
  /// The head says that the body is compressed.
  private var encoding: EnrollError?
  private var isInsideHead = false

  /// Status lines and headers, interim responses (RFC 9110 §15.2) included.
  static let longestHead = 64 * 1024

  /// - Parameter keepsCut: whether a body that is cut, or said to be compressed, is of use.
  init(target: RequestTarget, limit: Int, keepsCut: Bool = false) {
    self.target = target
    self.limit = max(limit, 0)
    self.keepsCut = keepsCut
  }

  /// The whole answer, once the transfer has ended well.
  /// - Throws: `.responseInvalid` when no final response came.
  func finished() throws(EnrollError) -> HTTPResponse {
    guard isHeadComplete, (200...599).contains(status) else {
      throw EnrollError(.responseInvalid, "\(target.display) did not answer as HTTP does")
    }
    var response = HTTPResponse(status: status, headers: headers, body: body)
    response.cut = encoding
    return response
  }

  /// The part of an answer that arrived before its transfer failed by `error`; nil if it is of no use.
  func cut(by error: EnrollError) -> HTTPResponse? {
    guard keepsCut, failure == nil, isHeadComplete, !body.isEmpty, var response = try? finished() else {
      return nil
    }
    response.cut = error
    return response
  }

  /// A socket must not be opened: the name leads elsewhere than to this machine (R19).
  func refuseAddress() {
    failure = EnrollError(
      .network, "\(target.display) does not lead to a loopback address; http goes nowhere else")
  }

  /// One line of the head, with its end. False ends the transfer.
  func takeHeader(_ line: UnsafeRawBufferPointer) -> Bool {
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
      isHeadComplete = status >= 200
      return true
    }
    return takeField(line, text)
  }

  private func takeField(_ line: UnsafeRawBufferPointer, _ text: Slice<UnsafeRawBufferPointer>) -> Bool {
    if let first = line.first, first == 0x20 || first == 0x09, let last = headers.indices.last {
      // A folded line belongs to the one before (RFC 9112 §5.2).
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

  /// A piece of the body. False ends the transfer.
  func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count <= limit - body.count else { return refuseLength() }
    body.append(contentsOf: bytes)
    return true
  }

  /// The body is longer than the request allows, or says that it will be.
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

  /// The three digits after `HTTP/x.y `, which a blank or the end of the line follows (RFC 9112 §4), else 0.
  private static func status(of line: Slice<UnsafeRawBufferPointer>) -> Int {
    guard let space = line.firstIndex(of: 0x20) else { return 0 }
    let digits = line[(space + 1)...].prefix { $0 > 0x20 }
    guard digits.allSatisfy({ ASCII.isDigit($0) }) else { return 0 }
    return digits.count == 3 ? digits.reduce(0) { $0 * 10 + Int($1 - 0x30) } : 0
  }

  /// Without the blanks and line ends around it.
  private static func trimmed(_ line: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
    var line = line
    while let byte = line.first, byte == 0x20 || byte == 0x09 { line = line.dropFirst() }
    while let byte = line.last, byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A {
      line = line.dropLast()
    }
    return line
  }
}
