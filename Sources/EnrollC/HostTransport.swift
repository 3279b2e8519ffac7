// The host's HTTP transport. The host passes a struct of function pointers, which is used as a Transport. These
// functions run inside a call, so they may call only a few functions of the library: the thread is marked until they
// return (R41). The host's response is checked like a server's response.

public import CEnroll
import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollPosix

/// The host's transport.
final class HostTransport: Transport, @unchecked Sendable {
  // Unchecked: the host promises that `user_data` may be used by several threads at once.
  private let send:
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<enroll_http_request>?, OpaquePointer?) ->
      enroll_status
  private let release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?
  private let userData: UnsafeMutableRawPointer?
  private let code = HostCode()

  /// Reads the host's struct.
  /// - Throws: `.invalidArgument` if `send` is NULL.
  convenience init(_ pointer: UnsafePointer<enroll_transport>) throws(EnrollError) {
    let transport = try enroll_transport(reading: pointer)
    guard let send = transport.send else {
      throw EnrollError(.invalidArgument, "a transport needs a send function, got NULL", field: "transport")
    }
    self.init(transport, send)
  }

  private init(
    _ transport: enroll_transport,
    _ send:
      @escaping @convention(c) (
        UnsafeMutableRawPointer?, UnsafePointer<enroll_http_request>?, OpaquePointer?
      ) -> enroll_status
  ) {
    self.send = send
    release = transport.release
    userData = transport.user_data
  }

  deinit { release?(userData) }

  func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse {
    let answer = HostResponse(limit: request.responseLimit, cancellation: cancellation)
    guard let handle = HostResponse.table.insert(answer) else {
      throw EnrollError(.busy, "too many requests are in progress")
    }
    defer { _ = HostResponse.table.remove(handle) }
    if cancellation?.isCancelled ?? false { throw EnrollError(.cancelled, "the call was cancelled") }
    let status = RequestMemory(request).with { request in
      code.run { send(userData, request, OpaquePointer(bitPattern: handle)) }
    }
    guard status == ENROLL_OK else {
      throw answer.isUnsent ? Self.error(status).unsent() : Self.error(status)
    }
    return try answer.response()
  }

  private static func error(_ status: enroll_status) -> EnrollError {
    switch EnrollError.Code(rawValue: status) {
    case .network: EnrollError(.network, "the app's own transport could not reach the server")
    case .tls: EnrollError(.tls, "the app's own transport does not accept the server's certificate")
    case .timeout: EnrollError(.timeout, "the app's own transport had no answer in time")
    case .responseInvalid: EnrollError(.responseInvalid, "the app's own transport refused the response")
    case .cancelled: EnrollError(.cancelled, "the app's own transport was cancelled")
    case let code:
      EnrollError(
        .internal,
        "the app's own transport failed with the status \(code?.name ?? "\(status)"), which does not say why. Expected one of: "
          + "ok, network, tls, timeout, responseInvalid, cancelled. Return ENROLL_E_NETWORK for a failure that another try may mend"
      )
    }
  }
}

/// A request as a C struct, valid during one call.
private struct RequestMemory {
  private let request: HTTPRequest

  init(_ request: HTTPRequest) { self.request = request }

  func with<Result>(_ body: (UnsafePointer<enroll_http_request>) -> Result) -> Result {
    let method = Self.text(request.method.rawValue)
    let url = Self.text(request.url)
    let content = request.body.withUnsafeBytes { Buffer($0) }
    var texts: [Buffer] = []
    var headers: [enroll_http_header] = []
    for header in request.headers {
      let name = Self.text(header.name)
      let value = Self.text(header.value)
      texts += [name, value]
      headers.append(
        enroll_http_header(name: UnsafePointer(name.bytes), value: UnsafePointer(value.bytes)))
    }
    return withExtendedLifetime((method, url, content, texts)) {
      headers.withUnsafeBufferPointer { headers in
        var value = enroll_http_request()
        value.struct_size = MemoryLayout<enroll_http_request>.size
        value.method = UnsafePointer(method.bytes)
        value.url = UnsafePointer(url.bytes)
        value.headers = headers.baseAddress
        value.header_count = headers.count
        value.body = UnsafePointer(content.bytes)
        value.body_size = content.size
        value.response_limit = request.responseLimit
        value.needs_fresh_connection = request.freshConnection ? 1 : 0
        let seconds = request.timeoutSeconds ?? HTTPRequest.totalTimeoutSeconds
        value.timeout_ms = Int32(truncatingIfNeeded: seconds * 1000)
        return withUnsafePointer(to: &value, body)
      }
    }
  }

  /// Copies a header's text to a buffer. The memory of a buffer is wiped, because headers may contain tokens.
  private static func text(_ text: String) -> Buffer { Array(text.utf8).withUnsafeBytes { Buffer($0) } }
}

/// The response to one request, while the host sets the parts of the response.
final class HostResponse: @unchecked Sendable {
  // Unchecked: all state is only touched with `exclusion` held, because a host may use its own threads.
  static let table = HandleTable<HostResponse>(kind: 4)
  /// The maximum number of headers of a response, more than any server sends.
  static let headerLimit = 256
  static let headerByteLimit = 16 << 10

  private let exclusion = Mutex()
  private let limit: Int
  private let cancellation: (any Cancellation)?
  private var status: Int32?
  private var headers: [HTTPHeader] = []
  private var body: [UInt8] = []
  private var isTooLong = false
  private var wasNotSent = false

  init(limit: Int, cancellation: (any Cancellation)?) {
    self.limit = limit
    self.cancellation = cancellation
  }

  static func find(_ pointer: Handle?) throws(EnrollError) -> HostResponse {
    guard let response = table.object(UInt(bitPattern: pointer)) else {
      throw EnrollError(.handle, "the response is valid only while send runs", field: "response")
    }
    return response
  }

  var isCancelled: Bool { cancellation?.isCancelled ?? false }

  /// Whether no part of the request left this machine.
  var isUnsent: Bool { exclusion.locked { wasNotSent } }

  func setUnsent() { exclusion.locked { wasNotSent = true } }

  func setStatus(_ status: Int32) { exclusion.locked { self.status = status } }

  /// Adds a header to the response.
  /// - Returns: false if there are too many headers.
  func add(_ header: HTTPHeader) -> Bool {
    exclusion.locked {
      guard headers.count < Self.headerLimit else { return false }
      headers.append(header)
      return true
    }
  }

  /// - Returns: false if the body is over the request's limit. Then the body does not change any more.
  func add(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    exclusion.locked {
      isTooLong = isTooLong || bytes.count > limit - body.count
      guard !isTooLong else { return false }
      body.append(contentsOf: bytes)
      return true
    }
  }

  /// The complete response, after the host has set its parts.
  /// - Throws: `.responseInvalid` if the body was too long, `.internal` if the host set no status.
  func response() throws(EnrollError) -> HTTPResponse {
    let result: Result<HTTPResponse, EnrollError> = exclusion.locked {
      if isTooLong {
        .failure(EnrollError(.responseInvalid, "the response is over \(limit) bytes"))
      } else if let status {
        .success(HTTPResponse(status: Int(status), headers: headers, body: body))
      } else {
        .failure(EnrollError(.internal, "the host's transport succeeded without setting a status"))
      }
    }
    return try result.get()
  }
}

@_cdecl("enroll_transport_init") @implementation
public func enroll_transport_init(_ transport: UnsafeMutablePointer<enroll_transport>?, _ struct_size: Int) {
  enroll_transport.initialize(transport, size: struct_size)
}

@_cdecl("enroll_http_response_set_status") @implementation
public func enroll_http_response_set_status(_ response: Handle?, _ status: Int32) -> enroll_status {
  reporting(to: nil) { () throws(EnrollError) in
    let response = try HostResponse.find(response)
    guard (100...599).contains(status) else {
      throw EnrollError(.invalidArgument, "a status code must be 100 to 599, got \(status)", field: "status")
    }
    response.setStatus(status)
  }
}

@_cdecl("enroll_http_response_add_header") @implementation
public func enroll_http_response_add_header(
  _ response: Handle?, _ name: TextIn?, _ name_size: Int, _ value: TextIn?, _ value_size: Int
) -> enroll_status {
  reporting(to: nil) { () throws(EnrollError) in
    let response = try HostResponse.find(response)
    let header = HTTPHeader(
      try TextInput(name, name_size, "name").requiredText(limit: HostResponse.headerByteLimit),
      try TextInput(value, value_size, "value").text(limit: HostResponse.headerByteLimit) ?? "")
    guard response.add(header) else {
      throw EnrollError(
        .invalidArgument, "a response has at most \(HostResponse.headerLimit) headers", field: "name")
    }
  }
}

@_cdecl("enroll_http_response_add_body") @implementation
public func enroll_http_response_add_body(_ response: Handle?, _ data: TextIn?, _ size: Int) -> enroll_status
{
  reporting(to: nil) { () throws(EnrollError) in
    let response = try HostResponse.find(response)
    guard size >= 0, data != nil || size == 0 else {
      throw EnrollError(.invalidArgument, "data is NULL, or its size is absurd", field: "data")
    }
    let start = UnsafeRawPointer(data)?.assumingMemoryBound(to: UInt8.self)
    guard response.add(UnsafeBufferPointer(start: start, count: size)) else {
      throw EnrollError(.responseInvalid, "the response is longer than the request's response_limit")
    }
  }
}

@_cdecl("enroll_http_response_set_unsent") @implementation
public func enroll_http_response_set_unsent(_ response: Handle?) -> enroll_status {
  reporting(to: nil) { () throws(EnrollError) in try HostResponse.find(response).setUnsent() }
}

@_cdecl("enroll_http_response_is_cancelled") @implementation
public func enroll_http_response_is_cancelled(_ response: Handle?) -> Int32 {
  HostResponse.table.object(UInt(bitPattern: response)).map { $0.isCancelled ? 1 : 0 } ?? 1
}
