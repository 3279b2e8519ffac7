// The provider behind FlyingFox: a request read into a value, an answer sent as it says, also when that is to be cut
// short.

import FlyingFox
import FlyingSocks
import Foundation

struct ProviderHandler: HTTPHandler {
  let provider: Provider

  func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
    var headers: [String: String] = [:]
    for (name, value) in request.headers { headers[name.rawValue.lowercased()] = value }
    var body: [UInt8] = []
    for try await chunk in request.bodySequence {
      body += chunk
      if body.count > SandboxRequest.bodyLimit { break }
    }
    let answer = await provider.answer(
      SandboxRequest(
        method: request.method.rawValue, path: request.target.path(), query: request.target.query(),
        headers: headers, body: body))
    if answer.delayMilliseconds > 0 { try await Task.sleep(for: .milliseconds(answer.delayMilliseconds)) }
    return Self.response(answer)
  }

  private static func response(_ answer: SandboxAnswer) -> HTTPResponse {
    var headers = HTTPHeaders()
    for (name, value) in answer.headers {
      headers.addValue(
        String(value.unicodeScalars.map { $0.value < 0x20 ? " " : Character($0) }), for: .init(name))
    }
    let status = HTTPStatusCode(answer.status, phrase: "")
    switch answer.delivery {
    case .whole:
      return HTTPResponse(statusCode: status, headers: headers, body: Data(answer.body))
    case .nothing:
      // FlyingFox writes the head only after the handler has begun, so one that fails closes the connection
      // without a byte.
      return HTTPResponse(webSocket: Hangup())
    case .half:
      let half = HalfBody(bytes: Array(answer.body.prefix(answer.body.count / 2)))
      return HTTPResponse(
        statusCode: status, headers: headers, body: HTTPBodySequence(from: half, count: answer.body.count))
    }
  }
}

private struct Hangup: WSHandler, Error {
  func makeFrames(for client: AsyncThrowingStream<WSFrame, any Error>) async throws -> AsyncStream<WSFrame> {
    throw self
  }
}

/// Gives its bytes, then fails, which closes the connection.
private struct HalfBody: AsyncBufferedSequence, AsyncBufferedIteratorProtocol {
  typealias Element = UInt8
  var bytes: [UInt8]

  func makeAsyncIterator() -> HalfBody { self }

  mutating func next() async throws -> UInt8? {
    if bytes.isEmpty { throw SocketError.disconnected }
    return bytes.removeFirst()
  }

  mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
    if bytes.isEmpty { throw SocketError.disconnected }
    defer { bytes = [] }
    return bytes
  }
}
