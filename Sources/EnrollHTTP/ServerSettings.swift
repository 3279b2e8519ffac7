// The settings of a server: the addresses it listens on, its public origin, the proxies that it trusts, the methods that it
// answers, the headers that it adds, and its limits.

public import EnrollRules

/// Settings of an ``HTTPServer``. The defaults suit a server on the public internet.
public struct ServerSettings: Sendable {
  /// The values of `Host` that the server answers (RFC 9110 §7.2). It refuses any other value with status 421.
  public enum Hosts: Sendable {
    /// Only the host of ``ServerSettings/publicOrigin``.
    case origin
    /// The host of the public origin, `localhost` and numeric loopback addresses, with any port. No page of another
    /// site can make a browser send one of these values, whatever address the site's name resolves to (DNS rebinding).
    case loopback
    /// Any host, for an application that checks the host itself, or for a test.
    case any
  }

  /// The source of an answer's `Date` header (RFC 9110 §6.6.1).
  public enum DateHeader: Sendable {
    /// The machine's clock. A `Date` that the application sets is dropped.
    case ofMachine
    /// The application: the answer has the `Date` that the application sets, or no `Date`.
    case ofApplication
  }

  /// The numeric IPv4 or IPv6 addresses to listen on. `::` alone also accepts IPv4 where the system maps IPv4 to IPv6.
  public var addresses: [String]
  /// The port of every address. With 0, the system chooses the port; ``HTTPServer/port`` then has it.
  public var port: Int
  /// Scheme and authority that browsers see, without a slash at the end: `https://login.example.com`. If it is nil, the
  /// server has no public name, and ``hosts`` says which values of `Host` the server answers.
  public var publicOrigin: String?
  public var hosts: Hosts
  /// Paths that are answered for any well-formed `Host`, and in HTTP/1.0 also without a `Host`: the health check of a
  /// load balancer knows only the program's address.
  public var probes: [String] = []
  /// Addresses of proxies (`10.0.0.7`, `2001:db8::7`) or their networks (`10.0.0.0/8`). The server trusts
  /// `X-Forwarded-For` only from them.
  public var trustedProxies: [String] = []
  /// The methods that are answered, at any path. The server refuses other methods with status 405 and lists the
  /// answered methods in `Allow`; it refuses a method that it does not know with status 501. GET includes HEAD. If the
  /// paths of an application accept different methods, list all these methods here: only the application knows the
  /// methods of a path, and refuses other methods (RFC 9110 §10.2.1).
  public var methods: Set<WebRequest.Method> = [.get, .post]
  public var date = DateHeader.ofMachine
  /// Headers that the server adds to every answer that has no header of that name, refusals included.
  public var headers: [HTTPHeader]
  /// Threads that read and write connections.
  public var eventLoops = 2
  /// The threads for ``Lane/database``, and how many requests may wait for a thread.
  public var database = Workers(threads: 16, queue: 2_048)
  /// The threads for ``Lane/provider``, and how many requests may wait for a thread.
  public var provider = Workers(threads: 256, queue: 2_048)
  public var limits = ServerLimits()

  public struct Workers: Sendable {
    /// The highest number of threads, at least 1. Threads start when there is work.
    public var threads: Int
    /// The number of requests that may wait for a thread. The server answers any further request with 503.
    public var queue: Int

    public init(threads: Int, queue: Int) {
      self.threads = threads
      self.queue = queue
    }
  }

  /// A server with one public name. It adds ``securityHeaders``, and `Strict-Transport-Security` if the origin is `https://`.
  public init(addresses: [String] = ["127.0.0.1"], port: Int = 0, publicOrigin: String) {
    self.addresses = addresses
    self.port = port
    self.publicOrigin = publicOrigin
    hosts = .origin
    headers = Self.securityHeaders
    if isSecure { headers.append(HTTPHeader("Strict-Transport-Security", "max-age=31536000")) }
  }

  /// A server without a public name, for tests or for this machine alone. It adds no headers.
  public init(addresses: [String] = ["127.0.0.1"], port: Int = 0, hosts: Hosts) {
    self.addresses = addresses
    self.port = port
    self.hosts = hosts
    headers = []
  }

  /// Headers that prevent content-type guessing, referrers and caching.
  public static let securityHeaders = [
    HTTPHeader("X-Content-Type-Options", "nosniff"), HTTPHeader("Referrer-Policy", "no-referrer"),
    HTTPHeader("Cache-Control", "no-store"),
  ]

  /// The authority of ``publicOrigin``; nil unless the origin consists of `http://` or `https://` and an authority.
  var publicAuthority: String? {
    let prefix = isSecure ? "https://" : "http://"
    guard let publicOrigin, publicOrigin.hasPrefix(prefix) else { return nil }
    let authority = publicOrigin.dropFirst(prefix.count)
    let isProper = authority.utf8.allSatisfy { byte in
      byte > 0x20 && byte < 0x7F && !"/?#@\\".utf8.contains(byte)
    }
    return authority.isEmpty || !isProper ? nil : String(authority)
  }

  /// The values of `Host` that name this server: the authority and, if the authority has no port, also the authority
  /// with the scheme's default port (RFC 9110 §4.2).
  var names: [String] {
    guard let authority = publicAuthority else { return [] }
    let end = authority.utf8.lastIndex(of: 0x5D) ?? authority.startIndex
    let hasPort = authority.utf8[end...].contains(0x3A)
    return hasPort ? [authority] : [authority, authority + (isSecure ? ":443" : ":80")]
  }

  private var isSecure: Bool { publicOrigin?.hasPrefix("https://") ?? false }
}

/// Limits on the size of requests, on the number of connections, and on time.
public struct ServerLimits: Sendable {
  /// The maximum number of bytes of the request target.
  public var targetBytes = 8 << 10
  /// The maximum number of bytes of all header lines.
  public var headerBytes = 16 << 10
  /// The maximum number of header lines.
  public var headerCount = 100
  /// The maximum number of bytes of a body, without the framing of its chunks.
  public var bodyBytes = 64 << 10
  /// The maximum number of bytes of the trailer section, after the last chunk.
  public var trailerBytes = 4 << 10
  /// The maximum number of connections at once; the server closes any further connection without an answer.
  public var connections = 10_000
  /// At the limit of ``connections``, a new connection replaces the idlest connection of its event loop: a connection
  /// that is being closed, or the connection that has waited longest for a request or for the rest of a request.
  public var evictsIdle = false
  /// The maximum number of connections at once from one address that is not a trusted proxy. An IPv6 network of /64
  /// counts as one address.
  public var connectionsPerAddress = 256
  /// The number of requests that a client may send without waiting for an answer; when the number is reached, the
  /// connection is closed after the answer to the last of these requests.
  public var pipelined = 100
  /// The time from the start of a connection, or from the first byte of a later request, to the end of the request's
  /// header lines.
  public var headerTimeoutMilliseconds: Int64 = 10_000
  /// The time from the end of the header lines to the end of the body.
  public var bodyTimeoutMilliseconds: Int64 = 30_000
  /// The time between an answer and the next request, and the time within which a client must receive an answer.
  public var idleTimeoutMilliseconds: Int64 = 60_000
  /// How long an incomplete request may continue when the server stops.
  public var drainTimeoutMilliseconds: Int64 = 3_000
  /// How long the server reads from a connection after its last answer, so that the client receives the answer and not a reset.
  public var lingerMilliseconds: Int64 = 2_000

  public init() {}
}

/// Why an ``HTTPServer`` did not start.
public struct ServerError: Error, Sendable, CustomStringConvertible {
  /// The setting at fault.
  public enum Setting: Sendable {
    case publicOrigin, addresses, trustedProxies
    /// No setting is at fault: the system provides no thread, no descriptor or no memory.
    case system
  }
  public var setting: Setting
  /// True if the port is in use by another program.
  public var isPortTaken = false
  /// The error in words: what happened, what was expected and what to do.
  public var description: String

  /// The system provides no thread, no descriptor or no memory.
  static let outOfResources = ServerError(
    setting: .system,
    description:
      "The system gives the server no thread, descriptor or memory. The server needs four descriptors and a "
      + "thread for each event loop. Raise the limits of the process (ulimit -n, ulimit -u), or free memory.")
}
