// The exchanges of the MCP bridge. Their responses are read while they arrive, and many exchanges run side by side on
// one thread. Certificates are checked, no redirect is followed and no cookie is kept, as for the requests of
// CurlTransport (R19, R20). A body is given to libcurl once: if a kept connection turns out to be closed after a part
// of the body was sent, libcurl reports that instead of sending the request again (R15).

import CCurl
import CPosix
package import EnrollRules
import EnrollSteps
import EnrollPosix

/// Runs exchanges on the thread of the caller.
package final class StreamingExchanges {
  /// A descriptor to wait for, in addition to the exchanges.
  package struct Wait {
    package var descriptor: Int32
    package var forInput: Bool
    package var forOutput: Bool

    package init(_ descriptor: Int32, forInput: Bool = false, forOutput: Bool = false) {
      self.descriptor = descriptor
      self.forInput = forInput
      self.forOutput = forOutput
    }
  }

  private static let keptConnections = 8
  /// How long an exchange waits for the end of a body of which its receiver needs only the beginning.
  package static let bodyTimeout = CurlTransport.Milliseconds(5_000)
  /// Idle connections are probed after this many seconds, because firewalls forget them, and a machine that slept has
  /// lost them.
  private static let keepAliveSeconds = 60

  private let library: CurlLibrary
  private let curl: UnsafePointer<enroll_curl>
  private let multi: UnsafeMutableRawPointer
  private let options: CurlTransport.Options
  private let bodyTimeout: CurlTransport.Milliseconds
  private let kept = KeptConnections()
  private var running: [StreamedExchange] = []

  /// Opens libcurl for exchanges with these options.
  /// - Throws: `.unsupported` (no libcurl), `.outOfMemory`.
  package convenience init(
    _ options: CurlTransport.Options, bodyTimeout: CurlTransport.Milliseconds = StreamingExchanges.bodyTimeout
  ) throws(EnrollError) {
    let library = try CurlLibrary.open()
    let low = enroll_posix_take_low()
    let made = enroll_curl_multi_init(library.functions)
    enroll_posix_give_low(low)
    guard let multi = made else { throw Self.noMemory }
    self.init(library, multi, options, bodyTimeout)
  }

  private init(
    _ library: CurlLibrary, _ multi: UnsafeMutableRawPointer, _ options: CurlTransport.Options,
    _ bodyTimeout: CurlTransport.Milliseconds
  ) {
    self.library = library
    self.bodyTimeout = bodyTimeout
    curl = library.functions
    self.multi = multi
    var options = options
    options.caFile = options.caFile ?? UserDirectories.certificateFile
    self.options = options
    _ = enroll_curl_multi_set_long(curl, multi, CURLMOPT_MAXCONNECTS, Self.keptConnections)
  }

  deinit {
    for exchange in running { release(exchange) }
    enroll_curl_multi_cleanup(curl, multi)
  }

  private static var noMemory: EnrollError { EnrollError(.outOfMemory, "libcurl had no memory for a handle") }

  /// Begins an exchange.
  /// - Throws: `.invalidArgument` for a URL or header that is not acceptable, `.configuration` (`caFile`),
  ///   `.outOfMemory`.
  package func start(
    _ method: HTTPRequest.Method, _ url: String, headers: [HTTPHeader], body: [UInt8],
    receiver: any ExchangeReceiver
  ) throws(EnrollError) -> StreamedExchange {
    let target = try RequestTarget(url, allowsLoopbackHTTP: options.allowsLoopbackHTTP)
    let lines = try RequestHeaders.lines(headers)
    if let caFile = options.caFile { try CertificateFile.check(caFile) }
    guard let easy = enroll_curl_easy_init(curl) else { throw Self.noMemory }
    let exchange = StreamedExchange(
      easy, target, body, receiver, connectTimeout: options.connectTimeout, bodyTimeout: bodyTimeout)
    do throws(EnrollError) {
      for line in lines {
        guard enroll_curl_list_append(curl, &exchange.list, line) == 1 else { throw Self.noMemory }
      }
      try configure(exchange, method, url)
      guard enroll_curl_multi_add(curl, multi, easy) == CURLM_OK else { throw Self.noMemory }
    } catch {
      enroll_curl_easy_cleanup(curl, easy)
      enroll_curl_list_free(curl, exchange.list)
      throw error
    }
    running.append(exchange)
    return exchange
  }

  /// Ends an exchange at once and closes its connection. The exchange's receiver is not called any more.
  package func stop(_ exchange: StreamedExchange) {
    guard let index = running.firstIndex(where: { $0 === exchange }) else { return }
    running.remove(at: index)
    release(exchange)
  }

  private func release(_ exchange: StreamedExchange) {
    _ = enroll_curl_multi_remove(curl, multi, exchange.easy)
    enroll_curl_easy_cleanup(curl, exchange.easy)
    enroll_curl_list_free(curl, exchange.list)
    exchange.list = nil
  }

  /// Sends and receives what is possible without waiting, and reports the exchanges that have ended.
  package func advance() {
    checkConnections()
    var count: Int32 = 0
    _ = PipeSignal.blocked { enroll_curl_multi_perform(curl, multi, &count) }
    var code = CURLE_OK
    while let easy = enroll_curl_multi_ended(curl, multi, &code) {
      guard let index = running.firstIndex(where: { $0.easy == easy }) else { continue }
      if connectsAgain(running[index], code) { continue }
      let exchange = running.remove(at: index)
      let failure = failure(of: exchange, code)
      kept.add(curl, easy)
      release(exchange)
      exchange.receiver.ended(failure)
    }
    // The time limit is checked only after all received data was read.
    while let late = running.first(where: { $0.receiving?.isOver ?? false }) {
      let failure = failure(of: late, CURLE_OK)
      stop(late)
      late.receiver.ended(failure)
    }
  }

  /// Keeps the exchanges that libcurl begins now from connections with unread bytes.
  private func checkConnections() {
    // libcurl does not say which of the kept connections a running exchange has taken.
    let areIdle = running.allSatisfy { $0.isNew || $0.hasOwnConnection }
    for exchange in running where exchange.isNew {
      exchange.isNew = false
      kept.check(curl, exchange.easy, areIdle: areIdle)
    }
  }

  /// Begins an exchange again, and returns true, if its connection took too long only because the process was stopped
  /// in the meantime: libcurl counts that time, too.
  private func connectsAgain(_ exchange: StreamedExchange, _ code: CURLcode) -> Bool {
    guard code == CURLE_OPERATION_TIMEDOUT, isUnsent(exchange) else { return false }
    exchange.connecting?.update()
    guard let time = exchange.connecting, !time.isOver else { return false }
    _ = enroll_curl_multi_remove(curl, multi, exchange.easy)
    exchange.isNew = true
    return enroll_curl_multi_add(curl, multi, exchange.easy) == CURLM_OK
  }

  /// Whether nothing of the request has left this machine.
  private func isUnsent(_ exchange: StreamedExchange) -> Bool {
    var size = 0
    return enroll_curl_get_long(curl, exchange.easy, CURLINFO_REQUEST_SIZE, &size) == CURLE_OK && size == 0
  }

  /// Waits until an exchange can continue, until a descriptor is ready, or until `milliseconds` have passed.
  /// - Parameter milliseconds: negative for no limit.
  package func wait(for waits: [Wait], milliseconds: Int32) {
    var descriptors = waits.map { wait in
      let events = (wait.forInput ? CURL_WAIT_POLLIN : 0) | (wait.forOutput ? CURL_WAIT_POLLOUT : 0)
      return curl_waitfd(fd: wait.descriptor, events: Int16(events), revents: 0)
    }
    var limit = milliseconds < 0 ? Self.longestWaitMilliseconds : milliseconds
    if running.contains(where: { $0.isTimed }) { limit = min(limit, Self.timedMilliseconds) }
    _ = ExitBarrier.allowingExit {
      enroll_curl_multi_wait_for(curl, multi, &descriptors, UInt32(descriptors.count), limit)
    }
    for exchange in running where exchange.isTimed {
      exchange.updateTime()
      if exchange.connecting != nil, !isUnsent(exchange) { exchange.connecting = nil }
    }
  }

  private static let longestWaitMilliseconds: Int32 = 3_600_000
  /// How often the clock is read while a time limit applies: more often than ``RunningTime`` needs.
  private static let timedMilliseconds: Int32 = 500

  /// Continues the exchanges whose receivers postponed a piece of the body.
  package func resume() {
    for exchange in running where exchange.isPaused {
      exchange.isPaused = false
      _ = enroll_curl_continue(curl, exchange.easy)
    }
  }

  private func failure(of exchange: StreamedExchange, _ code: CURLcode) -> EnrollError? {
    if code == CURLE_OK || exchange.hasEnough, exchange.reader.failure == nil {
      guard exchange.reader.isHeadComplete, (200...599).contains(exchange.reader.status) else {
        return EnrollError(.responseInvalid, "\(exchange.target.display) did not answer as HTTP does")
      }
      return nil
    }
    var proxyStatus = 0
    _ = enroll_curl_get_long(curl, exchange.easy, CURLINFO_HTTP_CONNECTCODE, &proxyStatus)
    let error = CurlFailure.error(
      code, CurlFailure.words(exchange.errorText), CurlFailure.words(enroll_curl_strerror(curl, code)),
      target: exchange.target, reader: exchange.reader, proxyStatus: proxyStatus, caFile: options.caFile)
    return isUnsent(exchange) ? error.unsent() : error
  }

  private func configure(
    _ exchange: StreamedExchange, _ method: HTTPRequest.Method, _ url: String
  ) throws(EnrollError) {
    var setup = CurlSetup(curl: curl, easy: exchange.easy)
    setup.text(CURLOPT_URL, url)
    setup.long(CURLOPT_PATH_AS_IS, 1)
    setup.protocols()
    // With HTTP/1.1 each exchange has a connection of its own: a stream that is not read does not delay another stream.
    setup.long(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    setup.long(CURLOPT_FOLLOWLOCATION, 0)
    setup.long(CURLOPT_NOSIGNAL, 1)
    setup.long(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    setup.long(CURLOPT_CONNECTTIMEOUT_MS, options.connectTimeout.clamped)
    setup.long(CURLOPT_TCP_KEEPALIVE, 1)
    setup.long(CURLOPT_TCP_KEEPIDLE, Self.keepAliveSeconds)
    setup.long(CURLOPT_TCP_KEEPINTVL, Self.keepAliveSeconds)
    setup.longIfKnown(CURLOPT_QUICK_EXIT, 1)
    setup.tls(caFile: options.caFile)
    guard setup.keepsSecrets() || exchange.target.isPlain else {
      throw EnrollError(
        .unsupported, "this libcurl would write the secrets of TLS to the file that SSLKEYLOGFILE names")
    }
    if exchange.target.isLoopback { setup.text(CURLOPT_PROXY, "") }
    switch method {
    case .post:
      setup.long(CURLOPT_POST, 1)
      setup.offset(CURLOPT_POSTFIELDSIZE_LARGE, Int64(exchange.body.count))
    default:
      setup.long(CURLOPT_HTTPGET, 1)
      // A stream may stay open for long. It leaves the kept connections to the calls.
      if method == .get { setup.long(CURLOPT_FRESH_CONNECT, 1) }
      if method != .get { setup.text(CURLOPT_CUSTOMREQUEST, method.rawValue) }
    }
    setup.headers(exchange.list)
    setup.memory(CURLOPT_ERRORBUFFER, exchange.errorText)
    setup.streams(exchange)
    setup.closer(kept)
    guard setup.outcome == CURLE_OK else {
      throw EnrollError(
        setup.outcome == CURLE_OUT_OF_MEMORY ? .outOfMemory : .unsupported,
        "libcurl refused an option: \(CurlFailure.words(enroll_curl_strerror(curl, setup.outcome)))")
    }
  }
}
