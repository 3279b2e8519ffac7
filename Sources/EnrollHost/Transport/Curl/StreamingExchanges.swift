// The exchanges of the MCP bridge. Their responses are read while they arrive, and many exchanges run side by side on
// one thread. Certificates are checked, no redirect is followed and no cookie is kept, as for the requests of
// CurlTransport (R19, R20). A body is given to libcurl once: if a kept connection turns out to be closed after a part
// of the body was sent, libcurl reports that instead of sending the request again (R15).

import CCurl
import CPosix
package import EnrollRules
import EnrollSteps
import EnrollPosix

/// Gets one response while it arrives. Its methods are called from ``StreamingExchanges/advance()`` and
/// ``StreamingExchanges/resume()``.
package protocol ExchangeReceiver: AnyObject {
  /// Receives the complete head of the response. This method must not start or stop an exchange.
  func receivedHead(status: Int, headers: [HTTPHeader])
  /// Receives a piece of the body. This method must not start or stop an exchange.
  func receivedBody(_ bytes: UnsafeRawBufferPointer) -> BodyReceipt
  /// Called when the exchange has ended.
  /// - Parameter failure: nil after a complete response.
  func ended(_ failure: EnrollError?)
}

/// A receiver's answer to a piece of a body.
package enum BodyReceipt {
  case taken
  /// The receiver did not take the piece. The piece is offered again after ``StreamingExchanges/resume()``.
  case postponed
  /// The receiver does not want the rest. The exchange ends with an error.
  case refused
}

/// One running exchange. This type is a class, because libcurl has a pointer to it.
package final class StreamedExchange {
  fileprivate let easy: UnsafeMutableRawPointer
  fileprivate let reader: ResponseReader
  fileprivate let target: RequestTarget
  fileprivate let receiver: any ExchangeReceiver
  fileprivate var list: UnsafeMutablePointer<curl_slist>?
  fileprivate let errorText: UnsafeMutablePointer<CChar>
  fileprivate var body: [UInt8]
  fileprivate var sent = 0
  fileprivate var isPaused = false
  /// How long the process has run since the exchange began; nil once the connection is established.
  fileprivate var connecting: RunningTime?
  private var isHeadTold = false

  fileprivate init(
    _ easy: UnsafeMutableRawPointer, _ target: RequestTarget, _ body: [UInt8],
    _ receiver: any ExchangeReceiver, connectTimeout: CurlTransport.Milliseconds
  ) {
    connecting = RunningTime(limit: connectTimeout)
    self.easy = easy
    self.target = target
    self.body = body
    self.receiver = receiver
    reader = ResponseReader(target: target, limit: 0)
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit { errorText.deallocate() }

  fileprivate func readHeader(_ line: UnsafeRawBufferPointer) -> Bool {
    guard reader.readHeader(line) else { return false }
    if reader.isHeadComplete, !isHeadTold {
      isHeadTold = true
      receiver.receivedHead(status: reader.status, headers: reader.headers)
    }
    return true
  }

  /// Copies the next bytes of the body into libcurl's buffer.
  fileprivate func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(buffer.count, body.count - sent)
    guard count > 0 else { return 0 }
    body.withUnsafeBytes {
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[sent..<sent + count]))
    }
    sent += count
    return count
  }
}

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
  /// Idle connections are probed after this many seconds, because firewalls forget them, and a machine that slept has
  /// lost them.
  private static let keepAliveSeconds = 60

  private let library: CurlLibrary
  private let curl: UnsafePointer<enroll_curl>
  private let multi: UnsafeMutableRawPointer
  private let options: CurlTransport.Options
  private var running: [StreamedExchange] = []

  /// Opens libcurl for exchanges with these options.
  /// - Throws: `.unsupported` (no libcurl), `.outOfMemory`.
  package convenience init(_ options: CurlTransport.Options) throws(EnrollError) {
    let library = try CurlLibrary.open()
    let low = enroll_posix_take_low()
    let made = enroll_curl_multi_init(library.functions)
    enroll_posix_give_low(low)
    guard let multi = made else { throw Self.noMemory }
    self.init(library, multi, options)
  }

  private init(
    _ library: CurlLibrary, _ multi: UnsafeMutableRawPointer, _ options: CurlTransport.Options
  ) {
    self.library = library
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
      easy, target, body, receiver, connectTimeout: options.connectTimeout)
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
    var count: Int32 = 0
    _ = PipeSignal.blocked { enroll_curl_multi_perform(curl, multi, &count) }
    var code = CURLE_OK
    while let easy = enroll_curl_multi_ended(curl, multi, &code) {
      guard let index = running.firstIndex(where: { $0.easy == easy }) else { continue }
      if connectsAgain(running[index], code) { continue }
      let exchange = running.remove(at: index)
      let failure = failure(of: exchange, code)
      release(exchange)
      exchange.receiver.ended(failure)
    }
  }

  /// Begins an exchange again, and returns true, if its connection took too long only because the process was stopped
  /// in the meantime: libcurl counts that time, too.
  private func connectsAgain(_ exchange: StreamedExchange, _ code: CURLcode) -> Bool {
    guard code == CURLE_OPERATION_TIMEDOUT, isUnsent(exchange) else { return false }
    exchange.connecting?.update()
    guard let time = exchange.connecting, !time.isOver else { return false }
    _ = enroll_curl_multi_remove(curl, multi, exchange.easy)
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
    if running.contains(where: { $0.connecting != nil }) { limit = min(limit, Self.connectingMilliseconds) }
    _ = ExitBarrier.allowingExit {
      enroll_curl_multi_wait_for(curl, multi, &descriptors, UInt32(descriptors.count), limit)
    }
    for exchange in running where exchange.connecting != nil {
      exchange.connecting?.update()
      if !isUnsent(exchange) { exchange.connecting = nil }
    }
  }

  private static let longestWaitMilliseconds: Int32 = 3_600_000
  /// How often the clock is read while a connection is being established: more often than ``RunningTime`` needs.
  private static let connectingMilliseconds: Int32 = 500

  /// Continues the exchanges whose receivers postponed a piece of the body.
  package func resume() {
    for exchange in running where exchange.isPaused {
      exchange.isPaused = false
      _ = enroll_curl_continue(curl, exchange.easy)
    }
  }

  private func failure(of exchange: StreamedExchange, _ code: CURLcode) -> EnrollError? {
    if code == CURLE_OK, exchange.reader.failure == nil {
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
      if method != .get { setup.text(CURLOPT_CUSTOMREQUEST, method.rawValue) }
    }
    setup.headers(exchange.list)
    setup.memory(CURLOPT_ERRORBUFFER, exchange.errorText)
    setup.streams(exchange, isPlain: exchange.target.isPlain)
    guard setup.outcome == CURLE_OK else {
      throw EnrollError(
        setup.outcome == CURLE_OUT_OF_MEMORY ? .outOfMemory : .unsupported,
        "libcurl refused an option: \(CurlFailure.words(enroll_curl_strerror(curl, setup.outcome)))")
    }
  }
}

extension CurlSetup {
  /// Sets the callbacks of a streamed exchange. The exchange must stay valid until the handle is cleaned up.
  fileprivate mutating func streams(_ exchange: StreamedExchange, isPlain: Bool) {
    let opaque = UnsafeRawPointer(Unmanaged.passUnretained(exchange).toOpaque())
    receiver(CURLOPT_HEADERFUNCTION) { bytes, size, count, exchange in
      guard let (exchange, piece) = CurlSetup.piece(bytes, size, count, exchange) else { return 0 }
      return exchange.readHeader(piece) ? piece.count : 0
    }
    receiver(CURLOPT_WRITEFUNCTION) { bytes, size, count, exchange in
      guard let (exchange, piece) = CurlSetup.piece(bytes, size, count, exchange) else { return 0 }
      switch exchange.receiver.receivedBody(piece) {
      case .taken: return piece.count
      case .refused: return 0
      case .postponed:
        exchange.isPaused = true
        return Int(CURL_WRITEFUNC_PAUSE)
      }
    }
    sender { bytes, size, count, exchange in
      let (length, overflow) = size.multipliedReportingOverflow(by: count)
      guard let exchange, let bytes, !overflow else { return Int(CURL_READFUNC_ABORT) }
      return Unmanaged<StreamedExchange>.fromOpaque(exchange).takeUnretainedValue().read(
        into: UnsafeMutableRawBufferPointer(start: bytes, count: length))
    }
    for option in [CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_READDATA] { memory(option, opaque) }
    socketOpener { exchange, _, address in
      guard let address else { return -1 }
      if let exchange, enroll_curl_is_loopback(address) == 0 {
        Unmanaged<StreamedExchange>.fromOpaque(exchange).takeUnretainedValue().reader.refuseAddress()
        return -1
      }
      return enroll_posix_socket(
        address.pointee.family, address.pointee.socktype, address.pointee.protocol)
    }
    memory(CURLOPT_OPENSOCKETDATA, isPlain ? opaque : nil)
  }

  private static func piece(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ exchange: UnsafeMutableRawPointer?
  ) -> (StreamedExchange, UnsafeRawBufferPointer)? {
    let (length, overflow) = size.multipliedReportingOverflow(by: count)
    guard let exchange, !overflow else { return nil }
    return (
      Unmanaged<StreamedExchange>.fromOpaque(exchange).takeUnretainedValue(),
      UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : length)
    )
  }
}
