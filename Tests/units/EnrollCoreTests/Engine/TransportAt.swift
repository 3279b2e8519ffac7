import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollJSON
import EnrollPosix

/// A transport that answers some URLs itself, and passes the others to a provider.
final class TransportAt: Transport {
  typealias Answer = @Sendable (HTTPRequest) -> HTTPResponse

  private let provider: any Transport
  private let answers: [String: Answer]
  private let kept = Guarded<[HTTPRequest]>([], by: Mutex())

  init(_ answers: [String: Answer], else provider: any Transport) {
    self.answers = answers
    self.provider = provider
  }

  /// All requests, oldest first.
  var requests: [HTTPRequest] { kept.withLock { $0 } }

  func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse {
    kept.withLock { $0.append(request) }
    if let answer = answers[request.url] { return answer(request) }
    return try provider.send(request, cancellation: cancellation)
  }

  /// An answer in JSON.
  static func json(_ text: String, status: Int = 200) -> Answer {
    { _ in
      HTTPResponse(
        status: status, headers: [HTTPHeader("Content-Type", "application/json")], body: Array(text.utf8))
    }
  }

  /// The provider's answer, at another URL.
  static func moved(to url: String, of provider: any Transport) -> Answer {
    { request in
      var request = request
      request.url = url
      return (try? provider.send(request, cancellation: nil)) ?? HTTPResponse(status: 502)
    }
  }
}
