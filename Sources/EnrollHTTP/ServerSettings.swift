// The settings of a server: where it listens, by which names it is reached, whom it believes, what it answers and adds, and its
// limits.

public import EnrollCore

/// Settings of an ``HTTPServer``. The defaults are those of a server that strangers reach.
public struct ServerSettings: Sendable {
  /// Which values of `Host` are answered (RFC 9110 §7.2). Others are refused by 421.
  public enum Hosts: Sendable {
    /// That of ``ServerSettings/publicOrigin`` alone.
    case origin
    /// That, and `localhost` and the loopback addresses in numbers, with any port. No page of another site can make a browser send
    /// one of them, whatever address its name leads to (DNS rebinding).
    case loopback
    /// All: the application judges them itself, or the server is one of a test.
    case any
  }

  /// The `Date` of answers (RFC 9110 §6.6.1).
  public enum DateHeader: Sendable {
    /// By the machine's clock. An application's own is left out.
    case ofMachine
    /// The application's own, or none.
    case ofApplication
  }

  /// IPv4 or IPv6 addresses to listen on, in numbers. `::` alone takes IPv4, too, where the system maps it.
  public var addresses: [String]
  /// 0: the system chooses; ``HTTPServer/port`` says which. All addresses share the port.
  public var port: Int
  /// Scheme and authority that browsers see, without a slash at the end: `https://login.example.com`. nil: the server has no name of
  /// its own, and ``hosts`` says what it answers.
  public var publicOrigin: String?
  public var hosts: Hosts
  /// Paths that are answered whatever a request's `Host` says, and in HTTP/1.0 without one: a load balancer that looks whether the
  /// program lives knows its address alone.
  public var probes: [String] = []
  /// Addresses of proxies (`10.0.0.7`, `2001:db8::7`) or their networks (`10.0.0.0/8`). Only their `X-Forwarded-For` is
  /// believed.
  public var trustedProxies: [String] = []
  /// The methods that are answered; others are refused by 405. With GET comes HEAD.
  public var methods: Set<WebRequest.Method> = [.get, .post]
  public var date = DateHeader.ofMachine
  /// Added to every answer that has no header of that name; refusals have them, too.
  public var headers: [HTTPHeader]
  /// Threads that read and write connections.
  public var eventLoops = 2
  /// The threads for ``Lane/database``, and how many requests may wait for one.
  public var database = Workers(threads: 16, queue: 2_048)
  /// The threads for ``Lane/provider``, and how many requests may wait for one.
  public var provider = Workers(threads: 256, queue: 2_048)
  public var limits = ServerLimits()

  public struct Workers: Sendable {
    /// Most threads at once, at least 1; they start when there is work.
    public var threads: Int
    /// Requests that may wait for a thread; the next one is answered by 503.
    public var queue: Int

    public init(threads: Int, queue: Int) {
      self.threads = threads
      self.queue = queue
    }
  }

  /// A server that is reached by one name, and adds ``carefulHeaders``; with `https://`, `Strict-Transport-Security` as well.
  public init(addresses: [String] = ["127.0.0.1"], port: Int = 0, publicOrigin: String) {
    self.addresses = addresses
    self.port = port
    self.publicOrigin = publicOrigin
    hosts = .origin
    headers = Self.carefulHeaders
    if isSecure { headers.append(HTTPHeader("Strict-Transport-Security", "max-age=31536000")) }
  }

  /// A server without a name of its own, that adds no headers: one for tests, or for this machine alone.
  public init(addresses: [String] = ["127.0.0.1"], port: Int = 0, hosts: Hosts) {
    self.addresses = addresses
    self.port = port
    self.hosts = hosts
    headers = []
  }

  /// No sniffing of types, no referrer, no cache.
  public static let carefulHeaders = [
    HTTPHeader("X-Content-Type-Options", "nosniff"), HTTPHeader("Referrer-Policy", "no-referrer"),
    HTTPHeader("Cache-Control", "no-store"),
  ]

  /// The authority of ``publicOrigin``; nil unless that is `http://` or `https://`, an authority, and nothing more.
  var publicAuthority: String? {
    let prefix = isSecure ? "https://" : "http://"
    guard let publicOrigin, publicOrigin.hasPrefix(prefix) else { return nil }
    let authority = publicOrigin.dropFirst(prefix.count)
    let isProper = authority.utf8.allSatisfy { byte in
      byte > 0x20 && byte < 0x7F && !"/?#@\\".utf8.contains(byte)
    }
    return authority.isEmpty || !isProper ? nil : String(authority)
  }

  /// The authority, and the same with the scheme's own port (RFC 9110 §4.2).
  var names: [String] {
    guard let authority = publicAuthority else { return [] }
    let end = authority.utf8.lastIndex(of: 0x5D) ?? authority.startIndex
    let hasPort = authority.utf8[end...].contains(0x3A)
    return hasPort ? [authority] : [authority, authority + (isSecure ? ":443" : ":80")]
  }

  private var isSecure: Bool { publicOrigin?.hasPrefix("https://") ?? false }
}

/// Limits on what a client may send, and on the time it may take.
public struct ServerLimits: Sendable {
  /// Bytes of the request target.
  public var targetBytes = 8 << 10
  /// Bytes of all header lines.
  public var headerBytes = 16 << 10
  /// Header lines.
  public var headerCount = 100
  /// Bytes of a body, without the framing of its chunks.
  public var bodyBytes = 64 << 10
  /// Bytes behind the last chunk.
  public var trailerBytes = 4 << 10
  /// Connections at once; the next one is closed unanswered.
  public var connections = 10_000
  /// Where there are no more connections, a new one takes the place of the one that has waited longest for its next request, or for the
  /// rest of it.
  public var newestWins = false
  /// Connections at once from one address that is no trusted proxy.
  public var connectionsPerAddress = 256
  /// Requests that a client sends without waiting for an answer; the connection is closed behind the last of them.
  public var pipelined = 100
  /// From the first moment of a connection, or the first byte of a later request, to the end of its header lines.
  public var headerTimeoutMilliseconds: Int64 = 10_000
  /// From the end of the header lines to the end of the body.
  public var bodyTimeoutMilliseconds: Int64 = 30_000
  /// Between an answer and the next request, and for a client to take an answer.
  public var idleTimeoutMilliseconds: Int64 = 60_000
  /// How long a request that is not whole yet may go on when the server stops.
  public var drainTimeoutMilliseconds: Int64 = 3_000
  /// How long a refused connection is read on, so that the client sees the answer and not a reset.
  public var lingerMilliseconds: Int64 = 2_000

  public init() {}
}

/// Why an ``HTTPServer`` did not start.
public struct ServerError: Error, Sendable, CustomStringConvertible {
  /// The setting at fault.
  public enum Setting: Sendable {
    case publicOrigin, addresses, trustedProxies
    /// No setting: the system gives no thread, no descriptor or no memory.
    case system
  }
  public var setting: Setting
  /// Another program listens on the port.
  public var isPortTaken = false
  /// Says what happened, what was expected and what to do.
  public var description: String

  /// The system gives no thread, no descriptor or no memory.
  static let noRoom = ServerError(
    setting: .system,
    description:
      "The system gives the server no thread, descriptor or memory. The server needs four descriptors and a "
      + "thread for each event loop. Raise the limits of the process (ulimit -n, ulimit -u), or free memory.")
}
