// Answers as every rule reads them: without a byte order mark (RFC 8259 §8.1 lets a reader ignore one), with the time and the
// secrets that their requests carried, as JSON where they are forms, and whole. Of a cut answer only one that brings what comes once is handed on (R30).

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
    var response = try transport.send(request, cancellation: cancellation)
    response.sent = SentSecrets(of: request)
    response.received = clock.wallTime()
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    if response.body.count > mark.count, response.body.starts(with: mark) {
      response.body.removeFirst(mark.count)
    }
    if let json = response.formAsJSON { response.body = json }
    if let cut = response.cut, !(request.takesCutAnswer && response.isOfUse) { throw cut }
    return response
  }
}

extension HTTPResponse {
  /// A form as the text of a JSON object, so that every rule about answers holds for it: a member that comes twice comes twice
  /// there, too, and an answer that is cut is cut behind its last whole member. nil for another type of content.
  fileprivate var formAsJSON: [UInt8]? {
    let type = (header("Content-Type") ?? "").utf8.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 }
    let name = String(decoding: type, as: UTF8.self)
    guard ASCII.equalsIgnoringCase(name, FormEncoding.contentType) || isUndeclaredForm(name) else {
      return nil
    }
    var fields = body.split(separator: UInt8(ascii: "&"))
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

  /// Some servers send a form of tokens as plain text, or say nothing of its type.
  private func isUndeclaredForm(_ type: String) -> Bool {
    guard type.utf8.isEmpty || ASCII.equalsIgnoringCase(type, "text/plain") else { return false }
    return body.starts(with: "access_token=".utf8) || body.starts(with: "refresh_token=".utf8)
      || body.first != UInt8(ascii: "{")
        && (ASCII.contains(body, "&access_token=") || ASCII.contains(body, "&refresh_token="))
  }

  /// Whether a cut answer is a success that still has a whole object, or a whole token.
  fileprivate var isOfUse: Bool {
    guard (200..<300).contains(status) else { return false }
    let members = TokenResponse.members(of: self, undoubted: "refresh_token").0
    return !members.isNull
      || ["refresh_token", "access_token"].contains { TokenResponse.tokenBeforeCut($0, in: self) != nil }
  }
}
