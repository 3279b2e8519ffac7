// One exchange of the MCP bridge: the receiver of its response, and the callbacks through which libcurl sends and
// receives.

import CCurl
import CPosix
package import EnrollRules
import EnrollSteps

/// Gets one response while it arrives. Its methods are called from ``StreamingExchanges/advance()`` and
/// ``StreamingExchanges/resume()``.
package protocol ExchangeReceiver: AnyObject {
  /// Receives the complete head of the response. This method must not start or stop an exchange.
  /// - Returns: whether the receiver needs the whole body.
  func receivedHead(status: Int, headers: [HTTPHeader]) -> BodyNeed
  /// Receives a piece of the body. This method must not start or stop an exchange.
  func receivedBody(_ bytes: UnsafeRawBufferPointer) -> BodyReceipt
  /// Called when the exchange has ended.
  /// - Parameter failure: nil after a complete response.
  func ended(_ failure: EnrollError?)
}

/// How much of a response's body its receiver needs.
package enum BodyNeed {
  /// The whole body, however long it takes.
  case whole
  /// Only what arrives soon, because the head says enough. If the body does not end soon, the exchange ends without an
  /// error.
  case beginning
}

/// A receiver's answer to a piece of a body.
package enum BodyReceipt {
  case taken
  /// The receiver did not take the piece. The piece is offered again after ``StreamingExchanges/resume()``.
  case postponed
  /// The receiver does not want the rest. The exchange ends with an error.
  case refused
  /// The receiver does not need the rest. The exchange ends without an error.
  case enough
}

/// One running exchange. This type is a class, because libcurl has a pointer to it.
package final class StreamedExchange {
  let easy: UnsafeMutableRawPointer
  let reader: ResponseReader
  let target: RequestTarget
  let receiver: any ExchangeReceiver
  var list: UnsafeMutablePointer<curl_slist>?
  let errorText: UnsafeMutablePointer<CChar>
  var body: [UInt8]
  var sent = 0
  var isPaused = false
  /// How long the process has run since the exchange began; nil once the connection is established.
  var connecting: RunningTime?
  /// How long the process has run since the head arrived; nil if there is no limit for the body.
  var receiving: RunningTime?
  /// Whether libcurl has not chosen a connection for the exchange yet.
  var isNew = true
  /// Whether the exchange has opened its connection itself, rather than taken a kept one.
  var hasOwnConnection = false
  /// Whether the receiver does not need the rest of the body.
  var hasEnough = false
  private let bodyTimeout: CurlTransport.Milliseconds
  private var isHeadTold = false

  init(
    _ easy: UnsafeMutableRawPointer, _ target: RequestTarget, _ body: [UInt8],
    _ receiver: any ExchangeReceiver, connectTimeout: CurlTransport.Milliseconds,
    bodyTimeout: CurlTransport.Milliseconds
  ) {
    connecting = RunningTime(limit: connectTimeout)
    self.bodyTimeout = bodyTimeout
    self.easy = easy
    self.target = target
    self.body = body
    self.receiver = receiver
    reader = ResponseReader(target: target, limit: 0)
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit { errorText.deallocate() }

  func readHeader(_ line: UnsafeRawBufferPointer) -> Bool {
    guard reader.readHeader(line) else { return false }
    if reader.isHeadComplete, !isHeadTold {
      isHeadTold = true
      if receiver.receivedHead(status: reader.status, headers: reader.headers) == .beginning {
        receiving = RunningTime(limit: bodyTimeout)
      }
    }
    return true
  }

  /// Whether a time limit applies now.
  var isTimed: Bool { connecting != nil || receiving != nil }

  /// Counts the time that has passed, except the time during which the receiver postpones the body.
  func updateTime() {
    connecting?.update()
    if !isPaused { receiving?.update() }
  }

  /// Copies the next bytes of the body into libcurl's buffer.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(buffer.count, body.count - sent)
    guard count > 0 else { return 0 }
    body.withUnsafeBytes {
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[sent..<sent + count]))
    }
    sent += count
    return count
  }
}

extension CurlSetup {
  /// Sets the callbacks of a streamed exchange. The exchange must stay valid until the handle is cleaned up.
  mutating func streams(_ exchange: StreamedExchange) {
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
      case .enough:
        exchange.hasEnough = true
        return 0
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
      guard let address, let exchange else { return -1 }
      let opening = Unmanaged<StreamedExchange>.fromOpaque(exchange).takeUnretainedValue()
      opening.hasOwnConnection = true
      if opening.target.isPlain, enroll_curl_is_loopback(address) == 0 {
        opening.reader.refuseAddress()
        return -1
      }
      return enroll_posix_socket(
        address.pointee.family, address.pointee.socktype, address.pointee.protocol)
    }
    memory(CURLOPT_OPENSOCKETDATA, opaque)
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
