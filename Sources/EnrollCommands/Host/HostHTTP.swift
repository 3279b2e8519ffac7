// HTTP that the host provides: EnrollKit sends a request to the host over the connection. The host's response is
// checked like a server's response.

import EnrollRules
import EnrollSteps
import EnrollJSON

/// The HTTP that the host provides, for one client or for a command about a resource.
final class HostHTTP: Transport {
  /// The maximum number of headers of a message, more than any server needs. The C library has the same limit.
  static let headerLimit = 256
  static let headerByteLimit = 16 << 10
  /// The longest body in bytes. Even in Base64 it must fit into a message of the daemon (R36).
  static let bodyLimit = 512 << 10

  private static let title = "the host's transport"

  static let request = HostRequest(
    "host.http.send",
    "Sends one HTTP request. The host verifies the certificate, follows no redirect and never repeats the request.",
    takes: [
      .optional(
        "client",
        .text(
          "The client that sends the request. Absent if a command about a resource sends it.",
          maximumBytes: 32)),
      .required("method", Schema(.oneOf(["GET", "POST", "DELETE"]), "RFC 9110 §9.")),
      .required("url", .text("An absolute URL: https, or http to loopback.", maximumBytes: 65_536)),
      .required(
        "headers",
        Schema(
          .texts(maximumCount: headerLimit),
          "The headers to send in addition to those that HTTP itself needs.")
      ),
      .optional(
        "body",
        .text("The body as UTF-8 text. Without body and bodyBase64 there is no body.", maximumBytes: 1 << 20)
      ),
      .optional(
        "bodyBase64", .text("The body, if it is not text, in Base64 (RFC 4648 §4).", maximumBytes: 1 << 20)),
      .required(
        "responseLimit",
        Schema(.integer(0...Int64(bodyLimit)), "The maximum size of the response body in bytes.")),
      .required(
        "timeout", Schema(.integer(1...3600), "Seconds after which the daemon no longer expects the answer.")),
      .required(
        "needsFreshConnection",
        Schema(
          .boolean,
          "True: use a new connection, because the request must not be sent twice.")),
    ],
    gives: .object([
      .required(
        "status", Schema(.integer(100...599), "The HTTP status. Every status is a result, not an error.")),
      .optional(
        "headers", Schema(.texts(maximumCount: headerLimit), "The response headers, of at most 16 KiB each.")),
      .optional(
        "body",
        .text(
          "The body as UTF-8 text. Without body and bodyBase64 there is no body.", maximumBytes: bodyLimit)),
      .optional(
        "bodyBase64", .text("The body, if it is not text, in Base64 (RFC 4648 §4).", maximumBytes: 1 << 20)),
    ]),
    errors: [.network, .tls, .timeout, .responseInvalid, .cancelled])

  private let requester: any HostRequester
  /// The client's handle; nil for a command about a resource.
  private let client: String?

  init(_ requester: any HostRequester, for client: String?) {
    self.requester = requester
    self.client = client
  }

  func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse {
    let limit = min(request.responseLimit, Self.bodyLimit)
    let seconds = request.timeoutSeconds ?? HTTPRequest.totalTimeoutSeconds
    let answer = requester.ask(
      Self.request, parameters(request, limit, seconds), nanoseconds: seconds * 1_000_000_000,
      cancellation: cancellation)
    switch answer {
    case .result(let result): return try response(result, limit)
    case .refusal(-32_601, nil, _):
      throw EnrollError(.unsupported, "the host does not serve \(Self.request.name)")
    case .refusal(let code, let status, let isUnsent):
      let error = Self.request.refused(code, status, Self.title)
      throw isUnsent ? error.unsent() : error
    case .malformed(let text):
      throw EnrollError(.responseInvalid, "\(Self.title) gave no answer to \(Self.request.name): \(text)")
    case .silence:
      throw EnrollError(.timeout, "\(Self.title) did not answer \(Self.request.name) within \(seconds) s")
    case .cancelled: throw EnrollError(.cancelled, "the call was cancelled")
    case .gone:
      throw EnrollError(.network, "\(Self.title) is gone: the host closed the connection")
    }
  }

  private func parameters(_ request: HTTPRequest, _ limit: Int, _ seconds: Int64) -> JSON {
    var headers = JSONObject()
    for header in request.headers { headers[header.name] = .string(header.value) }
    let hasBody = !request.body.isEmpty
    let text = request.body.contains(0) ? nil : String(validating: request.body, as: UTF8.self)
    return .object([
      ("client", client.map { .string($0) }), ("method", .string(request.method.rawValue)),
      ("url", .string(request.url)),
      ("headers", .object(headers)), ("body", hasBody ? text.map { .string($0) } : nil),
      ("bodyBase64", hasBody && text == nil ? .string(Base64.encode(request.body)) : nil),
      ("responseLimit", .integer(Int64(limit))), ("timeout", .integer(seconds)),
      ("needsFreshConnection", .bool(request.freshConnection)),
    ])
  }

  private func response(_ result: JSON, _ limit: Int) throws(EnrollError) -> HTTPResponse {
    do throws(EnrollError) {
      try Self.request.output.check(result, path: "result")
    } catch {
      throw Self.unacceptable(error.message)
    }
    var headers: [HTTPHeader] = []
    for member in result["headers"]?.object?.members ?? [] {
      guard let value = member.value.string,
        member.key.utf8.count <= Self.headerByteLimit, value.utf8.count <= Self.headerByteLimit
      else { throw Self.unacceptable("expected a header of at most \(Self.headerByteLimit) bytes") }
      headers.append(HTTPHeader(member.key, value))
    }
    let body = try body(result)
    guard body.count <= limit else {
      throw EnrollError(.responseInvalid, "the response is over \(limit) bytes")
    }
    return HTTPResponse(status: Int(result["status"]?.integer ?? 0), headers: headers, body: body)
  }

  private func body(_ result: JSON) throws(EnrollError) -> [UInt8] {
    switch (result["body"]?.string, result["bodyBase64"]?.string) {
    case (nil, nil): return []
    case (let text?, nil): return Array(text.utf8)
    case (nil, let text?):
      guard let bytes = Base64.decode(text) else {
        throw Self.unacceptable("result.bodyBase64: expected Base64 with padding (RFC 4648 §4)")
      }
      return bytes
    case (.some, .some): throw Self.unacceptable("result: expected one of body and bodyBase64, got both")
    }
  }

  private static func unacceptable(_ text: String) -> EnrollError {
    EnrollError(.responseInvalid, "\(title) answered \(request.name) wrongly: \(text)")
  }
}
