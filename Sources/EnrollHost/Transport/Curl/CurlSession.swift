// A multi handle, which keeps connections, and one easy handle for each request: the objects that a thread holds during
// a request. The multi interface is used because its poll ends at once when a call is cancelled; an easy handle alone
// would check for a cancellation once a second. No easy handle is used twice: curl_easy_reset allocates memory and does
// not report a failure, and a handle without its defaults reads nothing and trusts no certificate.

import CCurl
import CPosix
import EnrollRules
import EnrollSteps
import EnrollPosix

/// The handles and connections that one thread at a time uses for its requests. Between requests the session waits in
/// the transport's pool with its open connections.
final class CurlSession: @unchecked Sendable {
  // Unchecked: the pool hands it to one thread at a time.
  private let library: CurlLibrary
  private let curl: UnsafePointer<enroll_curl>
  private let multi: UnsafeMutableRawPointer
  private let errorText: UnsafeMutablePointer<CChar>
  private let kept = KeptConnections()
  private let fork = ForkGuard()
  private var event: EventDescriptor?

  /// How many connections a session keeps: to a provider, to the host of its keys, to a proxy, and one more.
  private static let keptConnections = 4

  /// - Throws: `.outOfMemory`.
  convenience init(_ library: CurlLibrary) throws(EnrollError) {
    // libcurl opens descriptors to wake its poll, which stay open until the handle is freed. They must not be 0, 1 or
    // 2.
    let low = enroll_posix_take_low()
    let made = enroll_curl_multi_init(library.functions)
    enroll_posix_give_low(low)
    guard let multi = made else { throw Self.noMemory }
    self.init(library, owning: multi)
  }

  private init(_ library: CurlLibrary, owning multi: UnsafeMutableRawPointer) {
    self.library = library
    curl = library.functions
    self.multi = multi
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    _ = enroll_curl_multi_set_long(curl, multi, CURLMOPT_MAXCONNECTS, Self.keptConnections)
  }

  deinit {
    // In a forked child the connections belong to the parent. If the child closed them properly, they would end for the
    // parent, too.
    guard !fork.isForkedChild else { return }
    PipeSignal.blocked { enroll_curl_multi_cleanup(curl, multi) }
    errorText.deallocate()
  }

  private static var noMemory: EnrollError { EnrollError(.outOfMemory, "libcurl had no memory for a handle") }

  /// Sends a request and waits for the whole answer. After an error the session must not be used again.
  func run(
    _ request: HTTPRequest, headerLines: [String], target: RequestTarget, options: CurlTransport.Options,
    cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HTTPResponse {
    guard let easy = enroll_curl_easy_init(curl) else { throw Self.noMemory }
    let reader = ResponseReader(
      target: target, limit: request.responseLimit, keepsCut: request.takesCutAnswer)
    var list: UnsafeMutablePointer<curl_slist>?
    defer {
      enroll_curl_easy_cleanup(curl, easy)
      enroll_curl_list_free(curl, list)
    }
    for line in headerLines {
      guard enroll_curl_list_append(curl, &list, line) == 1 else { throw Self.noMemory }
    }
    errorText[0] = 0
    return try request.body.withUnsafeBufferPointer {
      (body: UnsafeBufferPointer<UInt8>) throws(EnrollError) -> HTTPResponse in
      try self.configure(easy, request, UnsafeRawBufferPointer(body), list, reader, target, options)
      return try withExtendedLifetime(reader) { () throws(EnrollError) -> HTTPResponse in
        var time = RunningTime(limit: options.totalTimeout(of: request))
        var code = try self.transfer(easy, cancellation, target, &time)
        // libcurl's connection timeout counts time in which the process was stopped. Nothing was sent yet, so the
        // transfer starts again.
        while code == CURLE_OPERATION_TIMEDOUT, !time.isOver, !time.hasRun(options.connectTimeout),
          !hasSent(easy, request, target)
        {
          code = try self.transfer(easy, cancellation, target, &time)
        }
        guard code == CURLE_OK, reader.failure == nil else {
          let error = CurlFailure.error(
            code, CurlFailure.words(errorText), CurlFailure.words(enroll_curl_strerror(curl, code)),
            target: target, reader: reader, proxyStatus: proxyStatus(easy), caFile: options.caFile)
          guard let answer = reader.cut(by: error) else {
            throw hasSent(easy, request, target) ? error : error.unsent()
          }
          return answer
        }
        return try reader.finished()
      }
    }
  }

  private func proxyStatus(_ easy: UnsafeMutableRawPointer) -> Int {
    var status = 0
    return enroll_curl_get_long(curl, easy, CURLINFO_HTTP_CONNECTCODE, &status) == CURLE_OK ? status : 0
  }

  /// Whether any part of the request has left this machine. libcurl also counts the request that asks a proxy for a
  /// tunnel. So for TLS on a new connection the answer is false until the TLS handshake is complete: nothing else is
  /// sent before.
  private func hasSent(
    _ easy: UnsafeMutableRawPointer, _ request: HTTPRequest, _ target: RequestTarget
  ) -> Bool {
    var count = 0
    guard enroll_curl_get_long(curl, easy, CURLINFO_REQUEST_SIZE, &count) != CURLE_OK || count > 0 else {
      return false
    }
    guard request.freshConnection, !target.isPlain else { return true }
    var untilTLS: curl_off_t = 0
    return enroll_curl_get_time(curl, easy, CURLINFO_APPCONNECT_TIME_T, &untilTLS) != CURLE_OK || untilTLS > 0
  }

  private func configure(
    _ easy: UnsafeMutableRawPointer, _ request: HTTPRequest, _ body: UnsafeRawBufferPointer,
    _ list: UnsafeMutablePointer<curl_slist>?, _ reader: ResponseReader, _ target: RequestTarget,
    _ options: CurlTransport.Options
  ) throws(EnrollError) {
    var setup = CurlSetup(curl: curl, easy: easy)
    setup.text(CURLOPT_URL, request.url)
    setup.long(CURLOPT_PATH_AS_IS, 1)
    setup.protocols()
    // The version is HTTP/1.1, so that a connection carries one request at a time. libcurl follows no redirect (R20)
    // and keeps no cookie.
    setup.long(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    setup.long(CURLOPT_FOLLOWLOCATION, 0)
    setup.long(CURLOPT_NOSIGNAL, 1)
    setup.long(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    setup.long(CURLOPT_CONNECTTIMEOUT_MS, options.connectTimeout.clamped)
    // Since libcurl 7.87, this option keeps a slow name server from delaying a timeout or a cancellation.
    setup.longIfKnown(CURLOPT_QUICK_EXIT, 1)
    setup.tls(caFile: options.caFile)
    guard setup.keepsSecrets() || target.isPlain else {
      throw EnrollError(
        .unsupported,
        "this libcurl would write the secrets of TLS to the file that SSLKEYLOGFILE names. It can be kept from it "
          + "where it is built on OpenSSL (Debian package libcurl4). Install that one, or unset the variable",
        field: EnrollError.transportField)
    }
    if target.isLoopback { setup.text(CURLOPT_PROXY, "") }
    if request.freshConnection {
      setup.long(CURLOPT_FRESH_CONNECT, 1)
      setup.long(CURLOPT_FORBID_REUSE, 1)
    }
    setup.method(request.method, body)
    setup.headers(list)
    // An answer that the server gives only once is limited by the number of received bytes, not by the length that its
    // head announces.
    if !request.takesCutAnswer { setup.limit(request.responseLimit) }
    setup.receivers(reader, isPlain: target.isPlain)
    setup.closer(kept)
    setup.memory(CURLOPT_ERRORBUFFER, errorText)
    guard setup.outcome == CURLE_OK else {
      throw EnrollError(
        setup.outcome == CURLE_OUT_OF_MEMORY ? .outOfMemory : .unsupported,
        "libcurl refused an option: \(CurlFailure.words(enroll_curl_strerror(curl, setup.outcome)))")
    }
  }

  /// Runs the transfer until it ends, is cancelled or has used up its time. libcurl's own timeout is not used for that:
  /// it would end a transfer before reading an answer that arrived while the process was stopped.
  private func transfer(
    _ easy: UnsafeMutableRawPointer, _ cancellation: (any Cancellation)?, _ target: RequestTarget,
    _ time: inout RunningTime
  ) throws(EnrollError) -> CURLcode {
    var wakeDescriptor: Int32 = -1
    var ticket: Int?
    if let cancellation {
      let event = try ownEvent()
      wakeDescriptor = event.descriptor
      ticket = cancellation.onCancel { event.wake() }
    }
    defer { if let ticket { cancellation?.removeHook(ticket) } }
    kept.check(curl, easy, areIdle: true)
    guard enroll_curl_multi_add(curl, multi, easy) == CURLM_OK else { throw Self.noMemory }
    defer { _ = enroll_curl_multi_remove(curl, multi, easy) }
    while true {
      if let cancellation, cancellation.isCancelled {
        throw EnrollError(.cancelled, "the request to \(target.display) was cancelled")
      }
      var running: Int32 = 0
      var code = CURLE_OK
      guard enroll_curl_multi_perform(curl, multi, &running) == CURLM_OK else { throw Self.defect(target) }
      if enroll_curl_multi_outcome(curl, multi, &code) == 1 {
        kept.add(curl, easy)
        return code
      }
      guard running > 0 else { throw Self.defect(target) }
      // The time limit is checked only after all received data was read.
      guard !time.isOver else { return CURLE_OPERATION_TIMEDOUT }
      let limit = time.nextWaitMilliseconds
      let waited = ExitBarrier.allowingExit { enroll_curl_multi_wait(curl, multi, wakeDescriptor, limit) }
      time.update()
      guard waited == CURLM_OK else { throw Self.defect(target) }
      event?.drain()
    }
  }

  /// The descriptor that wakes the wait. It is made for the session's first request that can be cancelled.
  private func ownEvent() throws(EnrollError) -> EventDescriptor {
    if let event { return event }
    let made = try EventDescriptor()
    event = made
    return made
  }

  private static func defect(_ target: RequestTarget) -> EnrollError {
    EnrollError(.internal, "libcurl could not continue the request to \(target.display)")
  }
}
