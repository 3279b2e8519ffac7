// Answers as every rule reads them: without a byte order mark (RFC 8259 §8.1 lets a reader ignore one), with the time and the
// secrets that their requests carried, as JSON where they are forms, and whole. Refused: the answer of a cache to a request that no
// cache may answer. Of a cut answer only one that brings what comes once is handed on (R30).

import EnrollJSON

/// The transport of an engine.
final class ReadingTransport: Transport {
  private let transport: any Transport
  private let clock: any Clock
  private let userAgent: String

  /// - Parameter userAgent: says who asks; some APIs refuse requests that do not (GitHub).
  init(_ transport: any Transport, _ clock: any Clock, userAgent: String) {
    self.transport = transport
    self.clock = clock
    self.userAgent = userAgent
  }

  var trust: String { transport.trust }

  func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse {
    var request = request
    request.headers.append(HTTPHeader("User-Agent", userAgent))
    if request.isOwn { request.headers.append(HTTPHeader("Cache-Control", "no-store")) }
    var response = try sent(request, cancellation)
    if request.isOwn, response.isOfEarlierRequest {
      throw EnrollError(
        .responseInvalid,
        "the answer comes out of a cache (its Age says so), which must not answer this request (RFC 9111 §3.5, §4)"
      )
    }
    response.sent = SentSecrets(of: request)
    response.received = clock.wallTime()
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    if response.body.count > mark.count, response.body.starts(with: mark) {
      response.body.removeFirst(mark.count)
    }
    if response.cut == nil, response.mayBeCutForm {
      response.cut = EnrollError(
        .responseInvalid,
        "the answer is a form without Content-Length, and nothing shows whether its last value is whole",
        httpStatus: response.status)
    }
    if let json = response.formAsJSON { response.body = json }
    if let cut = response.cut, !(request.takesCutAnswer && response.isOfUse) { throw cut }
    return response
  }

  /// Whether a request was sent counts only where it spends something: a transaction must not be given back after a later
  /// request of the same exchange, for the user's profile say, could not be sent.
  private func sent(
    _ request: HTTPRequest, _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HTTPResponse {
    do throws(EnrollError) {
      return try transport.send(request, cancellation: cancellation)
    } catch {
      throw request.isFollowedUp ? error : error.withoutUnsent()
    }
  }
}

extension HTTPRequest {
  /// Whether the answer to another request is none to this one: it sends something, or shows a token.
  fileprivate var isOwn: Bool { method != .get || headers.value(of: "Authorization") != nil }
}

extension HTTPResponse {
  /// A form as the text of a JSON object, so that every rule about answers holds for it: a member that comes twice comes twice
  /// there, too, and an answer that is cut is cut behind its last whole member. nil for other content.
  fileprivate var formAsJSON: [UInt8]? {
    let content = body.trimmed
    guard isForm(content) else { return nil }
    var fields = content.split(separator: UInt8(ascii: "&"))
    if cut != nil { fields = fields.dropLast() }
    var text: [UInt8] = [UInt8(ascii: "{")]
    for field in fields {
      // A malformed member counts as absent.
      guard let pair = try? FormEncoding.decode(Array(field)).first else { continue }
      if text.count > 1 { text.append(UInt8(ascii: ",")) }
      text += JSON.string(pair.0).serialized() + [UInt8(ascii: ":")] + JSON.string(pair.1).serialized()
    }
    if cut == nil { text.append(UInt8(ascii: "}")) }
    return text
  }

  /// Whether it brings tokens in a form whose end nothing shows: the connection may have ended in the middle of a token. The end of
  /// JSON shows itself.
  fileprivate var mayBeCutForm: Bool {
    let content = body.trimmed
    return (200..<300).contains(status) && !isEndStated && isForm(content) && hasTokenField(content)
  }

  /// The content decides, and its declared type is a hint: servers and proxies declare JSON as a form, and a form of tokens as JSON,
  /// as text, or not at all.
  private func isForm(_ content: ArraySlice<UInt8>) -> Bool {
    // JSON, or a page.
    guard let first = content.first, !"{[\"<".utf8.contains(first) else { return false }
    let type = (header("Content-Type") ?? "").utf8.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 }
    if ASCII.equalsIgnoringCase(String(decoding: type, as: UTF8.self), FormEncoding.contentType) {
      return true
    }
    return hasTokenField(content)
  }

  private func hasTokenField(_ content: ArraySlice<UInt8>) -> Bool {
    content.split(separator: UInt8(ascii: "&")).contains { field in
      field.starts(with: "access_token=".utf8) || field.starts(with: "refresh_token=".utf8)
    }
  }

  /// Whether a cut answer is a success that still has a whole object, or a whole token.
  fileprivate var isOfUse: Bool {
    guard (200..<300).contains(status) else { return false }
    let members = TokenResponse.members(of: self, undoubted: "refresh_token").0
    return !members.isNull
      || ["refresh_token", "access_token"].contains { TokenResponse.tokenBeforeCut($0, in: self) != nil }
  }
}

extension [UInt8] {
  /// Without the white space around it.
  fileprivate var trimmed: ArraySlice<UInt8> {
    var content = self[...]
    while let first = content.first, first <= 0x20 { content.removeFirst() }
    while let last = content.last, last <= 0x20 { content.removeLast() }
    return content
  }
}
