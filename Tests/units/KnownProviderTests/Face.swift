// The faces through which a host uses the library, each with the commands of the manifest.

@testable import EnrollCommands
import CEnroll
import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollTesting
import Foundation

/// A client behind one face.
protocol Face: AnyObject, Sendable {
  /// Runs a command of the manifest. Its parameters are given without the member `client`.
  func call(_ command: String, _ parameters: [(String, JSON?)]) throws(EnrollError) -> JSON
  func close()
  /// What the client wrote into its log.
  var log: LogKeeper { get }
}

/// Keeps every line of a log.
final class LogKeeper: LogHandler {
  private let kept = Guarded<[String]>([], by: Mutex())
  let level = LogLevel.debug

  func write(_ level: LogLevel, _ line: String) { kept.withLock { $0.append(line) } }

  var lines: [String] { kept.withLock { $0 } }
}

/// The available faces.
enum FaceName: String, CaseIterable, Sendable {
  case swift, commands, c

  /// Opens a client with this configuration, over the provider and the clock.
  func open(_ configuration: JSON, _ fake: FakeProvider, _ clock: FakeClock) throws(EnrollError) -> any Face {
    switch self {
    case .swift: try SwiftFace(configuration, fake, clock)
    case .commands: try CommandFace(configuration, fake, clock)
    case .c: try CFace(configuration, fake, clock)
    }
  }
}

/// `Client`, method by method.
final class SwiftFace: Face {
  private let client: Client
  let log = LogKeeper()

  init(_ configuration: JSON, _ fake: FakeProvider, _ clock: FakeClock) throws(EnrollError) {
    var options = ClientOptions(configuration: try Configuration(json: configuration), store: .memory)
    options.transport = fake
    options.clock = clock
    options.log = log
    client = try Client(options)
  }

  func close() { client.close() }

  func call(_ command: String, _ parameters: [(String, JSON?)]) throws(EnrollError) -> JSON {
    let given = JSONObject(parameters)
    switch command {
    case "registration.begin":
      let kind = given["kind"]?.string.flatMap { TransactionKind(rawValue: $0) } ?? .signIn
      return try client.begin(SignInOptions(kind: kind), until: .distantFuture, cancellation: nil).json
    case "registration.resume":
      return state(
        try client.resume(given["url"]?.string ?? "", until: .distantFuture, cancellation: nil))
    case "registration.awaitOutcome":
      return state(
        try client.awaitTransaction(
          TransactionID(given["transaction"]?.string ?? ""), until: .distantFuture, cancellation: nil))
    case "identity.profile": return .object([("claims", .object(try client.profile()))])
    case "identity.userinfo":
      return .object([("claims", .object(try client.userinfo(until: .distantFuture, cancellation: nil)))])
    case "token.refresh":
      let outcome = try client.refresh(until: .distantFuture, cancellation: nil)
      return .object([("outcome", .string(outcome.kind.rawValue))])
    case "token.access":
      let outcome = try client.access(minimumLifetimeSeconds: 0, until: .distantFuture, cancellation: nil)
      return .object([("outcome", .string(outcome.kind.rawValue))])
    case "logout.begin":
      let answer = try client.beginLogout(localOnly: false, until: .distantFuture, cancellation: nil)
      return .object([("url", answer.url.map { .string($0) })])
    case "logout.resume":
      try client.finishLogout(given["url"]?.string ?? "")
      return .object([])
    case "diagnostics.export": return .object(try client.diagnostics())
    default: throw EnrollError(.notFound, command)
    }
  }

  private func state(_ state: RegistrationState) -> JSON {
    .object([("state", .string(state.kind.rawValue))])
  }
}

/// The commands of the daemon, with the host's own HTTP.
final class CommandFace: Face {
  private let session: Session
  private let client: String
  let log = LogKeeper()

  init(_ configuration: JSON, _ fake: FakeProvider, _ clock: FakeClock) throws(EnrollError) {
    session = Session(SessionEnvironment.none.asking(HostRequesterToFake(fake)).timed(by: clock).logging(log))
    let opened = try session.call(
      "client.open",
      .object([
        ("configuration", configuration), ("store", .string("memory")), ("transport", .string("host")),
      ]))
    client = opened["client"]?.string ?? ""
  }

  func close() { session.finish() }

  func call(_ command: String, _ parameters: [(String, JSON?)]) throws(EnrollError) -> JSON {
    try session.call(command, .object([("client", .string(client))] + parameters))
  }
}

/// A host that sends its clients' HTTP requests to the fake provider.
private final class HostRequesterToFake: HostRequester {
  private let fake: FakeProvider
  init(_ fake: FakeProvider) { self.fake = fake }

  func ask(
    _ request: HostRequest, _ parameters: JSON, nanoseconds: Int64, cancellation: (any Cancellation)?
  ) -> HostAnswer {
    let headers = parameters["headers"]?.object?.members ?? []
    let asked = HTTPRequest(
      HTTPRequest.Method(rawValue: parameters["method"]?.string ?? "") ?? .get,
      parameters["url"]?.string ?? "",
      headers: headers.map { HTTPHeader($0.key, $0.value.string ?? "") },
      body: Array((parameters["body"]?.string ?? "").utf8))
    do throws(EnrollError) {
      let response = try fake.send(asked, cancellation: cancellation)
      return .result(
        .object([
          ("status", .integer(Int64(response.status))),
          ("headers", .object(response.headers.map { ($0.name, .string($0.value)) })),
          ("body", .string(String(decoding: response.body, as: UTF8.self))),
        ]))
    } catch {
      return .refusal(code: error.code.rpcCode, status: error.code, isUnsent: error.isUnsent)
    }
  }
}

/// The C functions, with the host's transport and clock.
final class CFace: Face, @unchecked Sendable {
  // Unchecked: the handle is a number, and the library has its own locks.
  private var client: OpaquePointer?
  let log = LogKeeper()

  /// The object that the C callbacks get.
  private final class Host {
    let fake: FakeProvider
    let clock: FakeClock
    let log: LogKeeper
    private let reads = Guarded<Int64>(0, by: Mutex())

    init(_ fake: FakeProvider, _ clock: FakeClock, _ log: LogKeeper) {
      (self.fake, self.clock, self.log) = (fake, clock, log)
    }

    /// The time, which is 60 ms later at each call: a pause of the library ends after two calls, so that no
    /// test waits for the pause.
    func nanoseconds() -> Int64 {
      let count = reads.withLock { reads in
        reads += 1
        return reads
      }
      return clock.instant().nanoseconds + count * 60_000_000
    }

    func write(_ level: Int32, _ line: UnsafePointer<CChar>?, _ size: Int) {
      let bytes = UnsafeRawBufferPointer(start: line, count: size)
      log.write(LogLevel(rawValue: level) ?? .error, String(decoding: bytes, as: UTF8.self))
    }

    static func at(_ pointer: UnsafeMutableRawPointer?) -> Host? {
      pointer.map { Unmanaged<Host>.fromOpaque($0).takeUnretainedValue() }
    }

    /// A retained reference, which the library releases.
    var retained: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }
    static func release(_ pointer: UnsafeMutableRawPointer?) {
      if let pointer { Unmanaged<Host>.fromOpaque(pointer).release() }
    }
  }

  init(_ configuration: JSON, _ fake: FakeProvider, _ clock: FakeClock) throws(EnrollError) {
    let host = Host(fake, clock, log)
    var transport = enroll_transport()
    enroll_transport_init(&transport, MemoryLayout<enroll_transport>.size)
    transport.user_data = host.retained
    transport.send = { CFace.send($0, $1, $2) }
    transport.release = { Host.release($0) }
    var time = enroll_clock()
    enroll_clock_init(&time, MemoryLayout<enroll_clock>.size)
    time.user_data = host.retained
    time.date = { Host.at($0)?.clock.wallTime().seconds ?? 0 }
    time.monotonic = { Host.at($0)?.nanoseconds() ?? 0 }
    time.release = { Host.release($0) }
    var lines = enroll_log()
    enroll_log_init(&lines, MemoryLayout<enroll_log>.size)
    lines.user_data = host.retained
    lines.level = Int32(ENROLL_LOG_DEBUG)
    lines.write = { Host.at($0)?.write($1, $2, $3) }
    lines.release = { Host.release($0) }
    var options = enroll_client_options()
    enroll_client_options_init(&options, MemoryLayout<enroll_client_options>.size)
    options.store = Int32(ENROLL_STORE_MEMORY)
    var error = enroll_error()
    enroll_error_init(&error, MemoryLayout<enroll_error>.size)
    let bytes = configuration.serialized()
    let status = bytes.withUnsafeBufferPointer { text in
      withUnsafePointer(to: transport) { transport in
        withUnsafePointer(to: time) { time in
          withUnsafePointer(to: lines) { lines in
            options.configuration = UnsafeRawPointer(text.baseAddress)?.assumingMemoryBound(to: CChar.self)
            options.configuration_size = text.count
            options.transport = transport
            options.clock = time
            options.log = lines
            return enroll_client_new(&options, &client, &error)
          }
        }
      }
    }
    guard status == ENROLL_OK else { throw Self.error(error) }
  }

  func close() {
    enroll_client_free(client)
    client = nil
  }

  func call(_ command: String, _ parameters: [(String, JSON?)]) throws(EnrollError) -> JSON {
    var (result, error) = (enroll_buf(), enroll_error())
    enroll_error_init(&error, MemoryLayout<enroll_error>.size)
    let text = String(decoding: JSON.object(parameters).serialized(), as: UTF8.self)
    let status = enroll_call(
      client, command, command.utf8.count, text, text.utf8.count, -1, &result, &error)
    defer { enroll_buf_free(&result) }
    guard status == ENROLL_OK else { throw Self.error(error) }
    let bytes = UnsafeRawBufferPointer(start: result.data, count: result.size)
    return (try? JSON.parse(Array(bytes))) ?? .null
  }

  private static func send(
    _ data: UnsafeMutableRawPointer?, _ request: UnsafePointer<enroll_http_request>?,
    _ response: OpaquePointer?
  ) -> enroll_status {
    guard let fake = Host.at(data)?.fake, let request = request?.pointee else { return ENROLL_E_INTERNAL }
    let headers = UnsafeBufferPointer(start: request.headers, count: request.header_count)
    let asked = HTTPRequest(
      HTTPRequest.Method(rawValue: String(cString: request.method)) ?? .get, String(cString: request.url),
      headers: headers.map { HTTPHeader(String(cString: $0.name), String(cString: $0.value)) },
      body: Array(UnsafeRawBufferPointer(start: request.body, count: request.body_size)))
    do throws(EnrollError) {
      let answer = try fake.send(asked, cancellation: nil)
      enroll_http_response_set_status(response, Int32(answer.status))
      for header in answer.headers {
        enroll_http_response_add_header(
          response, header.name, header.name.utf8.count, header.value, header.value.utf8.count)
      }
      answer.body.withUnsafeBytes {
        _ = enroll_http_response_add_body(
          response, $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)
      }
      return ENROLL_OK
    } catch {
      return error.code.rawValue
    }
  }

  private static func error(_ error: enroll_error) -> EnrollError {
    func text<Value>(_ value: Value) -> String {
      withUnsafeBytes(of: value) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
    return EnrollError(
      EnrollError.Code(rawValue: error.status) ?? .internal, text(error.message),
      field: text(error.field).isEmpty ? nil : text(error.field),
      oauthError: text(error.oauth_error).isEmpty ? nil : text(error.oauth_error))
  }
}
