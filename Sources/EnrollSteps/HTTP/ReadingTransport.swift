// Prepares responses, so that all rules can read them: removes a byte order mark (RFC 8259 §8.1 allows a reader to
// ignore it), adds the time and the secrets of the request, and converts forms to JSON. If a cache answered a request
// that no cache may answer, the response is refused. If the end of a response is missing, the response is returned only
// if it may have tokens that are issued only once (R30).

import EnrollJSON
package import EnrollRules

/// The transport of an engine.
final class ReadingTransport: Transport {
  private let transport: any Transport
  private let clock: any Clock
  private let userAgent: String
  private let known: @Sendable () -> SentSecrets

  /// - Parameters:
  ///   - userAgent: the client's name and version; some APIs refuse requests without it (GitHub).
  ///   - known: the secrets of the account. They are hidden in errors, too, because a refusal may quote them.
  init(
    _ transport: any Transport, _ clock: any Clock, userAgent: String,
    known: @escaping @Sendable () -> SentSecrets = { SentSecrets() }
  ) {
    self.transport = transport
    self.clock = clock
    self.userAgent = userAgent
    self.known = known
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
    if response.status >= 400 || ASCII.contains(response.body, "error_description") {
      response.sent.add(known())
    }
    response.url = request.url
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
    if let refusal = response.tlsMismatch { throw refusal }
    if let json = response.formAsJSON { response.body = json }
    if let cut = response.cut, !(request.takesCutAnswer && response.isOfUse) { throw cut }
    return response
  }

  /// Keeps the mark "nothing was sent" only for a request that spends a value. Otherwise a transaction would be
  /// reopened after a later request of the same exchange, such as the request for the profile, could not be sent.
  private func sent(
    _ request: HTTPRequest, _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HTTPResponse {
    do throws(EnrollError) {
      return try transport.send(request, cancellation: cancellation)
    } catch {
      throw request.mustAwaitResponse ? error : error.withoutUnsent()
    }
  }
}

extension HTTPRequest {
  /// Whether a response to another request must not be used for this one, because this request sends data or a token.
  fileprivate var isOwn: Bool { method != .get || headers.value(of: "Authorization") != nil }
}

extension HTTPResponse {
  /// The error if the response is a page of nginx about TLS: nginx requires a client certificate, or received plain
  /// http at its https port.
  fileprivate var tlsMismatch: EnrollError? {
    guard status == 400, isPage else { return nil }
    func says(_ words: StaticString) -> Bool { ASCII.contains(body, words) }
    if says("No required SSL certificate was sent") || says("The SSL certificate error") {
      return .clientCertificateWanted(place)
    }
    guard says("plain HTTP request was sent to HTTPS port") else { return nil }
    return EnrollError(
      .tls, "the server\(place) expects https at this port, and got http: write https in the address",
      httpStatus: status)
  }

  /// A form as the text of a JSON object, so that every rule about responses applies to it: a repeated member stays
  /// repeated, and a cut response ends after its last whole member. nil if the content is not a form.
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

  /// Whether this is a form with tokens that may be incomplete: the connection may have ended in the middle of a
  /// token. A form does not show where it ends; JSON does.
  fileprivate var mayBeCutForm: Bool {
    let content = body.trimmed
    return (200..<300).contains(status) && !isEndStated && isForm(content) && hasTokenField(content)
  }

  /// Whether the content is a form. The content decides, and the declared type is only a hint: servers and proxies
  /// declare JSON as a form, and a form with tokens as JSON, as text, or not at all.
  private func isForm(_ content: ArraySlice<UInt8>) -> Bool {
    // Content that begins like JSON or an HTML page is not a form.
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

  /// Whether a response without its end is a success, and has a complete JSON object or a complete token.
  fileprivate var isOfUse: Bool {
    guard (200..<300).contains(status) else { return false }
    let members = TokenResponse.members(of: self, undoubted: "refresh_token").0
    return !members.isNull
      || ["refresh_token", "access_token"].contains { TokenResponse.tokenBeforeCut($0, in: self) != nil }
  }
}

extension [UInt8] {
  /// The bytes without the white space at both ends.
  fileprivate var trimmed: ArraySlice<UInt8> {
    var content = self[...]
    while let first = content.first, first <= 0x20 { content.removeFirst() }
    while let last = content.last, last <= 0x20 { content.removeLast() }
    return content
  }
}

extension EnrollError {
  /// The error if the server requires a certificate from its clients (mutual TLS). EnrollKit has no such certificate.
  /// - Parameter place: the end of the sentence, such as ` from https://id.example`.
  package static func clientCertificateWanted(_ place: String) -> EnrollError {
    EnrollError(
      .tls,
      "the server\(place) wants a client certificate (mutual TLS), and EnrollKit sends none: use an address of the provider "
        + "that wants none, or a transport of your app's own that sends one")
  }
}
