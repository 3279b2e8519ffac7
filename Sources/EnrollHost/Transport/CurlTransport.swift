// HTTP over libcurl: TLS is always checked (R19), time and size are limited while the answer arrives (R20), a request
// that must not be repeated gets a new connection (R15), and a waiting request can be cancelled.
//
// libcurl repeats a request by itself if a kept connection turns out to be closed; `freshConnection` prevents that.
// Proxies come from the environment as libcurl reads them (https_proxy, all_proxy, no_proxy, and the same in capitals),
// but not for loopback hosts. Copies of secrets in the buffers of libcurl and TLS cannot be wiped; the header lines are
// wiped.
//
// A forked child cannot use its parent's transport: its calls throw `.forked`, and the parent's connections are not
// disturbed.

public import EnrollRules
public import EnrollSteps
import EnrollPosix

/// The transport that is used if the host does not provide a transport. Any thread may send at any time.
public final class CurlTransport: Transport {
  public struct Options: Sendable {
    /// Allows http to `127.0.0.0/8`, `[::1]` and `localhost` (R19).
    public var allowsLoopbackHTTP: Bool
    /// A file with PEM certificates to trust instead of the system's certificates. The file is read for each
    /// connection. nil for the file that the environment variable `SSL_CERT_FILE` names, if it is an absolute path;
    /// otherwise the system's certificates.
    public var caFile: String?
    /// The time limit for the connection and its TLS handshake.
    public var connectTimeout: Milliseconds
    /// The time limit for the whole exchange, from the connection to the end of the answer.
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

    func totalTimeout(of request: HTTPRequest) -> Milliseconds {
      guard let seconds = request.timeoutSeconds else { return totalTimeout }
      return Milliseconds(min(totalTimeout.count, seconds * 1_000))
    }
  }

  /// A span of time in milliseconds, the unit of libcurl.
  public struct Milliseconds: Equatable, Sendable {
    public var count: Int64

    public init(_ count: Int64) { self.count = count }

    /// The number for libcurl, which would read 0 as its own default, and which expects a C long.
    var clamped: Int { Int(min(max(count, 1), Int64(Int32.max))) }
  }

  private struct Pool {
    var library: CurlLibrary?
    var idle: [CurlSession] = []
  }

  /// A text that says which authorities are trusted (the system's, or the authorities in the configured file), and
  /// whether loopback http is allowed.
  public var trust: String {
    (options.caFile.map { "file " + $0 } ?? "system") + (options.allowsLoopbackHTTP ? " loopback" : "")
  }

  private let options: Options
  private let libraryNames: [String]
  private let pool = Guarded(Pool(), by: Mutex())
  private let loading = LibraryLoading()
  private let fork = ForkGuard()

  /// The maximum number of sessions that are kept for later requests. Above this number, the oldest session is closed.
  private static let mostIdle = 8

  /// Makes a transport. libcurl is loaded only by the first request.
  public convenience init(_ options: Options = Options()) {
    self.init(options, libraryNames: CurlLibrary.fileNames)
  }

  init(_ options: Options, libraryNames: [String]) {
    var options = options
    options.caFile = options.caFile ?? UserDirectories.certificateFile
    self.options = options
    self.libraryNames = libraryNames
  }

  /// Checks that the file of certificates can be opened.
  /// - Throws: `.configuration` (`caFile`) unless the file can be opened.
  func requireCertificates() throws(EnrollError) {
    if let caFile = options.caFile { try CertificateFile.check(caFile) }
  }

  /// Sends one request and waits for the whole answer.
  /// - Throws: as ``Transport/send(_:cancellation:)``; also `.invalidArgument` (the URL or a header is not acceptable,
  ///   and nothing was opened), `.configuration` (`caFile`), `.unsupported` (no libcurl), `.forked`, `.busy` and
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
    try requireCertificates()
    let session = try borrowSession()
    let response = try PipeSignal.blocked { () throws(EnrollError) -> HTTPResponse in
      try session.run(
        request, headerLines: lines, target: target, options: options, cancellation: cancellation)
    }
    // Only sessions whose request succeeded are reused, so that nothing of a failed request remains.
    if response.cut == nil { returnSession(session) }
    return response
  }

  /// The session that was used last, because its connection is most likely still open.
  private func borrowSession() throws(EnrollError) -> CurlSession {
    if let idle = pool.withLock({ $0.idle.popLast() }) { return idle }
    return try CurlSession(library())
  }

  private func library() throws(EnrollError) -> CurlLibrary {
    if let known = pool.withLock({ $0.library }) { return known }
    let library = try CurlLibrary.open(libraryNames)
    pool.withLock { $0.library = library }
    return library
  }

  /// Loads libcurl on another thread, unless it is loaded already, so that a request soon afterwards waits less. Only
  /// ``becomeReady(cancellation:)`` waits for that thread. If loading fails, the request tries again and reports the
  /// error.
  func prepare() {
    guard !fork.isForkedChild, pool.withLock({ $0.library == nil }) else { return }
    loading.start { [libraryNames] in CurlLibrary.load(libraryNames) }
  }

  public func becomeReady(cancellation: any Cancellation) {
    // A forked child does not have the thread that would end the wait.
    if !fork.isForkedChild { loading.wait(cancellation: cancellation) }
  }

  /// Opens libcurl now, for a program that prefers to fail at its start instead of at its first request.
  /// - Throws: `.unsupported` (no libcurl, or one that is too old), `.outOfMemory`.
  package static func checkLibrary() throws(EnrollError) { _ = try CurlLibrary.open() }

  private func returnSession(_ session: CurlSession) {
    // A session that the pool has no place for is released after the lock is released.
    let surplus = pool.withLock { (pool: inout Pool) -> CurlSession? in
      pool.idle.append(session)
      return pool.idle.count > Self.mostIdle ? pool.idle.removeFirst() : nil
    }
    withExtendedLifetime(surplus) {}
  }
}
