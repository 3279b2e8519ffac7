// HTTP over libcurl: TLS checked with no way around it (R19), bounded in time and size while the answer arrives (R20),
// on a connection of its own where a request must not be repeated (R15), cancellable while it waits.
//
// libcurl repeats a request by itself when a kept connection turns out to be dead; `freshConnection` is what prevents it.
// Proxies come from the environment as libcurl reads them (https_proxy, all_proxy, no_proxy, and their capitals), never
// for loopback hosts. Copies of secrets inside libcurl's and TLS's own buffers cannot be wiped; the header lines are.
//
// After fork the child has no use of its parent's transport: it gets `.forked`, and its parent's connections stay whole.

public import EnrollCore
import EnrollPosix

/// The transport that is used where a host brings none. Any thread may send at any time.
public final class CurlTransport: Transport {
  public struct Options: Sendable {
    /// http to `127.0.0.0/8`, `[::1]` and `localhost` (R19).
    public var allowsLoopbackHTTP: Bool
    /// PEM certificates to trust instead of the system's; read when a connection is made.
    public var caFile: String?
    /// Until the connection, TLS included, is there.
    public var connectTimeout: Milliseconds
    /// For the whole request.
    public var totalTimeout: Milliseconds

    public init(
      allowsLoopbackHTTP: Bool = false, caFile: String? = nil,
      connectTimeout: Milliseconds = Milliseconds(HTTPRequest.connectTimeoutSeconds * 1_000),
      totalTimeout: Milliseconds = Milliseconds(HTTPRequest.totalTimeoutSeconds * 1_000)
    ) {
      self.allowsLoopbackHTTP = allowsLoopbackHTTP
      self.caFile = caFile
      self.connectTimeout = connectTimeout
      self.totalTimeout = totalTimeout
    }
  }

  /// A span of time for libcurl, which counts in milliseconds.
  public struct Milliseconds: Equatable, Sendable {
    public var count: Int64

    public init(_ count: Int64) { self.count = count }

    /// libcurl takes 0 for "its own default", and longs.
    var clamped: Int { Int(min(max(count, 1), Int64(Int32.max))) }
  }

  private struct Pool {
    var library: CurlLibrary?
    var idle: [CurlSession] = []
  }

  /// The system's authorities, or those of the file.
  public var trust: String {
    (options.caFile.map { "file " + $0 } ?? "system") + (options.allowsLoopbackHTTP ? " loopback" : "")
  }

  private let options: Options
  private let libraryNames: [String]
  private let pool = Guarded(Pool(), by: Mutex())
  private let loading = LibraryLoading()
  private let fork = ForkGuard()

  /// Sessions that wait for the next request; more than that are closed when their request is done.
  private static let mostIdle = 8

  /// Opens nothing: libcurl is loaded by the first request.
  public convenience init(_ options: Options = Options()) {
    self.init(options, libraryNames: CurlLibrary.fileNames)
  }

  init(_ options: Options, libraryNames: [String]) {
    self.options = options
    self.libraryNames = libraryNames
  }

  /// Sends one request and waits for the whole answer.
  /// - Throws: what ``Transport/send(_:cancellation:)`` says; further `.invalidArgument` (a URL or header that is not
  ///   acceptable; nothing was opened), `.configuration` (`caFile`), `.unsupported` (no libcurl), `.forked`, `.busy` and
  ///   `.outOfMemory`. Texts name scheme and host only (R40).
  public func send(
    _ request: HTTPRequest, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HTTPResponse {
    try fork.check()
    let target = try RequestTarget(request.url, allowsLoopbackHTTP: options.allowsLoopbackHTTP)
    guard request.method != .get || request.body.isEmpty else {
      throw EnrollError(.invalidArgument, "a GET request has no body")
    }
    let lines = try RequestHeaders.lines(request.headers)
    if let cancellation, cancellation.isCancelled {
      throw EnrollError(.cancelled, "the request to \(target.display) was cancelled before it was sent")
        .unsent()
    }
    if let caFile = options.caFile { try CertificateFile.check(caFile) }
    let session = try takeSession()
    let response = try PipeSignal.blocked { () throws(EnrollError) -> HTTPResponse in
      try session.run(
        request, headerLines: lines, target: target, options: options, cancellation: cancellation)
    }
    // Only sessions whose request went well come back: what a failure left behind goes with its session.
    if response.cut == nil { giveBack(session) }
    return response
  }

  /// The session used last, whose connection is most likely alive.
  private func takeSession() throws(EnrollError) -> CurlSession {
    if let idle = pool.withLock({ $0.idle.popLast() }) { return idle }
    return try CurlSession(library())
  }

  private func library() throws(EnrollError) -> CurlLibrary {
    if let known = pool.withLock({ $0.library }) { return known }
    let library = try CurlLibrary.open(libraryNames)
    pool.withLock { $0.library = library }
    return library
  }

  /// Has the loader read libcurl on a thread of its own, if that is not done yet: a request that follows soon waits less. Nobody
  /// waits for that thread but who calls ``becomeReady(cancellation:)``. If loading fails, the request tries again and reports the
  /// error.
  func prepare() {
    guard !fork.isForkedChild, pool.withLock({ $0.library == nil }) else { return }
    loading.start { [libraryNames] in CurlLibrary.load(libraryNames) }
  }

  public func becomeReady(cancellation: any Cancellation) {
    // A child has no thread that would end the wait.
    if !fork.isForkedChild { loading.wait(cancellation: cancellation) }
  }

  /// Opens libcurl now: for a program that would rather not start than fail at its first request.
  /// - Throws: `.unsupported` (no libcurl, or one that is too old), `.outOfMemory`.
  package static func checkLibrary() throws(EnrollError) { _ = try CurlLibrary.open() }

  private func giveBack(_ session: CurlSession) {
    // The session closed here, if any, is let go of after the lock.
    let surplus = pool.withLock { (pool: inout Pool) -> CurlSession? in
      pool.idle.append(session)
      return pool.idle.count > Self.mostIdle ? pool.idle.removeFirst() : nil
    }
    withExtendedLifetime(surplus) {}
  }
}
