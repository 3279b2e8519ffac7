// Unbuilt for iOS: this was written without Xcode. The tests run it on Linux.
//
// HTTP by URLSession, with the system's proxies and certificate authorities: iOS has no libcurl for apps. It follows no
// redirect, keeps no cookie and no cached response, and ignores the configuration's `caFile`.

import CEnroll
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

enum URLSessionTransport {
  /// The pause between two checks whether the call was cancelled: a request that is no longer needed continues for at
  /// most this long.
  private static let pause = DispatchTimeInterval.milliseconds(200)

  /// Passes the struct to `body`. C copies it during the call; the function has no state.
  static func withStruct<Outcome>(_ body: (UnsafePointer<enroll_transport>) -> Outcome) -> Outcome {
    var transport = enroll_transport()
    enroll_transport_init(&transport, MemoryLayout<enroll_transport>.stride)
    transport.send = { _, request, response in
      guard let request, let response else { return ENROLL_E_INVALID_ARGUMENT }
      return URLSessionTransport.send(request.pointee, response)
    }
    return withUnsafePointer(to: &transport, body)
  }

  /// Blocks a thread of the library; the library has several for requests.
  private static func send(_ request: enroll_http_request, _ response: OpaquePointer) -> enroll_status {
    guard let url = URL(string: String(cString: request.url)) else { return ENROLL_E_INVALID_ARGUMENT }
    let seconds = TimeInterval(request.timeout_ms) / 1000
    var wanted = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: seconds)
    wanted.httpMethod = String(cString: request.method)
    wanted.httpShouldHandleCookies = false
    for header in UnsafeBufferPointer(start: request.headers, count: request.header_count) {
      wanted.addValue(String(cString: header.value), forHTTPHeaderField: String(cString: header.name))
    }
    if request.body_size > 0 { wanted.httpBody = Data(bytes: request.body, count: request.body_size) }

    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForResource = seconds
    let exchange = Exchange(limit: request.response_limit)
    // A new session has no earlier connection, which could be dead.
    let session = URLSession(configuration: configuration, delegate: exchange, delegateQueue: nil)
    let task = session.dataTask(with: wanted)
    task.resume()
    session.finishTasksAndInvalidate()
    while exchange.finished.wait(timeout: .now() + pause) == .timedOut {
      if enroll_http_response_is_cancelled(response) == 1 { task.cancel() }
    }
    return exchange.fill(response)
  }
}

/// The response to one request. The session calls it on one thread at a time; ``fill(_:)`` is called after
/// the session's last call.
private final class Exchange: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  let finished = DispatchSemaphore(value: 0)
  private let limit: Int
  private var head: HTTPURLResponse?
  private var body = Data()
  private var isTooLong = false
  private var failure: Error?

  init(limit: Int) { self.limit = limit }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) {
    // The redirect is not followed: its response is the result.
    completionHandler(nil)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    guard data.count <= limit - body.count else {
      isTooLong = true
      return dataTask.cancel()
    }
    body.append(data)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
    head = task.response as? HTTPURLResponse
    failure = error
    finished.signal()
  }

  func fill(_ response: OpaquePointer) -> enroll_status {
    if isTooLong { return ENROLL_E_RESPONSE_INVALID }
    if let failure {
      if isUnsent(failure) { enroll_http_response_set_unsent(response) }
      return status(of: failure)
    }
    guard let head else { return ENROLL_E_RESPONSE_INVALID }
    var status = enroll_http_response_set_status(response, Int32(head.statusCode))
    for case (let name as String, let value as String) in head.allHeaderFields where status == ENROLL_OK {
      status = enroll_http_response_add_header(response, name, name.utf8.count, value, value.utf8.count)
    }
    guard status == ENROLL_OK else { return status }
    return body.withUnsafeBytes {
      enroll_http_response_add_body(response, $0.bindMemory(to: CChar.self).baseAddress, $0.count)
    }
  }

  /// Whether nothing of the request left this device.
  private func isUnsent(_ failure: Error) -> Bool {
    switch (failure as? URLError)?.code {
    case .notConnectedToInternet, .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .dataNotAllowed,
      .internationalRoamingOff:
      true
    default: false
    }
  }

  private func status(of failure: Error) -> enroll_status {
    guard let code = (failure as? URLError)?.code else { return ENROLL_E_NETWORK }
    switch code {
    case .timedOut: return ENROLL_E_TIMEOUT
    case .cancelled: return ENROLL_E_CANCELLED
    case .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData:
      return ENROLL_E_RESPONSE_INVALID
    case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
      .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
      .clientCertificateRequired:
      return ENROLL_E_TLS
    default: return ENROLL_E_NETWORK
    }
  }
}
