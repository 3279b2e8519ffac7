@testable import EnrollPosix
import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollTesting
import Expectations
import Foundation
import Testing

/// Tests of a loopback redirect as a browser sees it (R4).
@Suite(.timeLimit(.minutes(10))) struct LoopbackListenerTests {
  /// The loopback hosts for the tests. On a machine without ::1, only 127.0.0.1 is tested.
  private static let hosts: [String] = {
    let hasIPv6 = (try? LoopbackListener(redirectURI: "http://[::1]/cb")) != nil
    if !hasIPv6 { print("skipped: this machine has no ::1") }
    return hasIPv6 ? ["127.0.0.1", "[::1]"] : ["127.0.0.1"]
  }()

  private let clock = SystemClock()
  private var soon: Instant { clock.instant().advanced(bySeconds: 50) }

  /// Waits on this thread for `good=1`, while `browse` plays the browser on another thread.
  private func wait(
    for listener: LoopbackListener, page: LoopbackPage = .signedIn,
    _ browse: @escaping @Sendable (UInt16) -> [String]
  ) throws -> (urls: [String], answers: [String]) {
    let port = try #require(Self.port(of: listener))
    let answers = Guarded([String](), by: Mutex())
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      let got = browse(port)
      answers.withLock { $0 = got }
      done.signal()
    }
    var urls: [String] = []
    try listener.wait(deadline: soon, clock: clock) { (url: String) throws(EnrollError) -> LoopbackReply in
      urls.append(url)
      return url.hasSuffix("good=1") ? .accepted(page) : .declined
    }
    done.wait()
    return (urls, answers.withLock { $0 })
  }

  private static func port(of listener: LoopbackListener) -> UInt16? {
    URLComponents(string: listener.redirectURI)?.port.flatMap { UInt16(exactly: $0) }
  }

  /// The addresses of this process's own sockets that listen on `port`.
  private static func listening(on port: UInt16) -> Set<String> {
    var addresses: Set<String> = []
    func text(_ bytes: [CChar]) -> String {
      String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    for descriptor in 0..<Int32(sysconf(Int32(_SC_OPEN_MAX))) {
      var (isListening, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
      guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0, isListening != 0
      else { continue }
      var storage = sockaddr_storage()
      var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
      var (host, service) = ([CChar](repeating: 0, count: 64), [CChar](repeating: 0, count: 8))
      let isNamed = withUnsafeMutablePointer(to: &storage) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          getsockname(descriptor, address, &length) == 0
            && getnameinfo(
              address, length, &host, socklen_t(host.count), &service, socklen_t(service.count),
              NI_NUMERICHOST | NI_NUMERICSERV) == 0
        }
      }
      guard isNamed, text(service) == String(port) else { continue }
      addresses.insert(text(host))
    }
    return addresses
  }

  private static func status(_ answer: String) -> String { String(answer.dropFirst(9).prefix(3)) }

  @Test(
    "the redirect gets the port that the system chose, the URL arrives whole, then the port is closed (R4)",
    arguments: hosts)
  func accepted(_ host: String) throws {
    let listener = try LoopbackListener(redirectURI: "http://\(host)/cb/x")
    let port = try #require(Self.port(of: listener))
    expect(listener.redirectURI, is: "http://\(host):\(port)/cb/x")
    let isIPv6 = host == "[::1]"
    let (urls, answers) = try wait(for: listener) { port in
      [RawClient.get("/cb/x?state=%20a&code=b/c?&good=1", port: port, isIPv6: isIPv6)]
    }
    expect(urls, is: ["http://\(host):\(port)/cb/x?state=%20a&code=b/c?&good=1"])
    expect(Self.status(answers[0]), is: "200")
    #expect(RawClient.isFree(port))
    let error = #expect(throws: EnrollError.self) {
      try listener.wait(deadline: soon, clock: clock) { (_: String) throws(EnrollError) in .declined }
    }
    expect(error?.code, is: .illegalState)
  }

  @Test(
    "both address families are listened on, and no other interface (R4)", arguments: hosts)
  func interfaces(_ host: String) throws {
    let listener = try LoopbackListener(redirectURI: "http://\(host)/cb")
    let port = try #require(Self.port(of: listener))
    #expect(RawClient(port: port) != nil)
    expect((RawClient(port: port, isIPv6: true) != nil), is: Self.hosts.count == 2)
    expect(Self.listening(on: port), is: Set(["127.0.0.1", "::1"].prefix(Self.hosts.count)))
    listener.close()
  }

  /// Opens a listener again. If another test starts a process, the child has copies of all sockets until the child
  /// executes its program. Until then, a port that was closed here may be busy.
  private func reopened(_ uri: String) throws -> LoopbackListener {
    for _ in 1...500 {
      do throws(EnrollError) {
        return try LoopbackListener(redirectURI: uri)
      } catch {
        guard error.code == .busy else { throw error }
        usleep(10_000)
      }
    }
    return try LoopbackListener(redirectURI: uri)
  }

  @Test("a configured port is used, is busy while it is used, and can be used again at once")
  func configuredPort() throws {
    // These ports are below the range of the system, so that the system gives none of them to another program
    // meanwhile.
    let ports = (1...50).map { _ in Int.random(in: 12_000..<28_000) }
    let free = try #require(
      ports.lazy.compactMap { try? LoopbackListener(redirectURI: "http://127.0.0.1:\($0)/cb") }.first)
    let uri = free.redirectURI
    let error = #expect(throws: EnrollError.self) { try LoopbackListener(redirectURI: uri) }
    expect(error?.code, is: .busy)
    expect(error?.field, is: "redirectUri")
    free.close()
    for _ in 1...3 {
      let listener = try reopened(uri)
      expect(listener.redirectURI, is: uri)
      _ = try wait(for: listener) { [RawClient.get("/cb?good=1", port: $0)] }
    }
  }

  @Test("a redirect's own query is kept in what is sent to the provider")
  func ownQuery() throws {
    let listener = try LoopbackListener(redirectURI: "http://127.0.0.1/cb?tenant=a")
    #expect(listener.redirectURI.hasSuffix("/cb?tenant=a"))
    let (urls, _) = try wait(for: listener) { [RawClient.get("/cb?tenant=a&good=1", port: $0)] }
    expect(urls.first?.hasSuffix("/cb?tenant=a&good=1"), is: true)
  }

  @Test(
    "only a loopback address can be listened on (R4)",
    arguments: [
      "http://app.localhost/cb", "http://127.0.0.2/cb", "http://0.0.0.0/cb", "http://10.0.0.1/cb",
      "http://[::]/cb",
      "https://127.0.0.1/cb", "com.example.app:/cb", "http://127.0.0.1", "http://127.0.0.1/cb#x",
      "http://127.0.0.1:0/cb",
      "http://user@127.0.0.1/cb", "",
    ])
  func notLoopback(_ uri: String) {
    let error = #expect(throws: EnrollError.self) { try LoopbackListener(redirectURI: uri) }
    expect(error?.code, is: .configuration)
    expect(error?.field, is: "redirectUri")
  }

  @Test("what is not the redirect never reaches the host, and does not end the wait (R4, R6)")
  func otherRequests() throws {
    let listener = try LoopbackListener(redirectURI: "http://127.0.0.1/cb")
    let (urls, answers) = try wait(for: listener) { port in
      let host = "127.0.0.1:\(port)"
      let heads = [
        "GET /favicon.ico HTTP/1.1\r\nHost: \(host)\r\n\r\n",
        "GET /cb/?good=1 HTTP/1.1\r\nHost: \(host)\r\n\r\n",
        "GET /CB?good=1 HTTP/1.1\r\nHost: \(host)\r\n\r\n",
        "GET /cb%3Fgood=1 HTTP/1.1\r\nHost: \(host)\r\n\r\n",
        "POST /cb?good=1 HTTP/1.1\r\nHost: \(host)\r\n\r\n",
        "HEAD /cb?good=1 HTTP/1.1\r\nHost: \(host)\r\n\r\n",
        "GET /cb?good=1 HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n",
        "GET /cb?good=1 HTTP/1.1\r\nHost: rebound.example:\(port)\r\n\r\n",
        "GET /cb?good=1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        "GET /cb?good=1 HTTP/1.1\r\nHost: [::1]:\(port)\r\n\r\n",
        "GET http://\(host)/cb?good=1 HTTP/1.1\r\nHost: \(host)\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}",
        "GET /cb?good=1 HTTP/1.1\r\nHost: \(host)\r\nContent-Length: 5\r\n\r\nhello",
      ]
      var answers = heads.map { head in
        let client = RawClient(port: port)
        client?.send(head)
        return client?.readAll() ?? ""
      }
      answers.append(RawClient.get("/cb?good=1", port: port))
      return answers
    }
    expect(urls.count, is: 1)
    expect(
      answers.map(Self.status),
      is: [
        "404", "404", "404", "404", "405", "405", "421", "421", "421", "421", "400", "400", "400", "200",
      ])
    #expect(answers[4].contains("\r\nAllow: GET, OPTIONS\r\n"))
  }

  @Test("cookies of other local programs are no obstacle up to 64 KiB; beyond, the page says what helps")
  func cookies() throws {
    let listener = try LoopbackListener(redirectURI: "http://127.0.0.1/cb")
    let (urls, answers) = try wait(for: listener) { port in
      [120_000, 60_000].map { size in
        let client = RawClient(port: port)
        let cookies = String(repeating: "a=b; ", count: size / 5)
        client?.send("GET /cb?good=1 HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nCookie: \(cookies)\r\n\r\n")
        return client?.readAll() ?? ""
      }
    }
    expect(urls.count, is: 1)
    expect(answers.map(Self.status), is: ["431", "303"])
    #expect(answers[0].contains("too many cookies") && answers[0].contains("private window"))
  }

  @Test("a browser that asks whether the Internet may send its user here is told yes")
  func preflight() throws {
    let listener = try LoopbackListener(redirectURI: "http://127.0.0.1/cb")
    let (urls, answers) = try wait(for: listener) { port in
      let client = RawClient(port: port)
      client?.send(
        "OPTIONS /cb?good=1 HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nOrigin: https://id.example\r\n"
          + "Access-Control-Request-Method: GET\r\nAccess-Control-Request-Private-Network: true\r\n\r\n")
      return [client?.readAll() ?? "", RawClient.get("/cb?good=1", port: port)]
    }
    expect(urls.count, is: 1)
    expect(answers.map(Self.status), is: ["204", "200"])
    #expect(answers[0].contains("\r\nAccess-Control-Allow-Private-Network: true\r\n"))
    #expect(!answers[0].contains("Content-Length"))
  }

  @Test("a URL that the host declines does not end the wait (R6)")
  func declined() throws {
    let listener = try LoopbackListener(redirectURI: "http://127.0.0.1/cb")
    let (urls, answers) = try wait(for: listener) { port in
      ["/cb?state=forged", "/cb", "/cb?good=1"].map { RawClient.get($0, port: port) }
    }
    expect(urls.count, is: 3)
    #expect(urls[1].hasSuffix("/cb"))
    expect(answers.map(Self.status), is: ["404", "404", "200"])
  }

  @Test("the page is plain, not kept, loads nothing, and repeats nothing of the request")
  func page() throws {
    let listener = try LoopbackListener(redirectURI: "http://127.0.0.1/cb")
    let page = LoopbackPage(title: "<Done> & \"dusted\"", message: "It's over.", language: "en-GB")
    let (_, answers) = try wait(for: listener, page: page) {
      [RawClient.get("/cb?state=s3cret", port: $0), RawClient.get("/cb?code=s3cret&good=1", port: $0)]
    }
    for answer in answers {
      #expect(!answer.contains("s3cret"))
      #expect(answer.contains("\r\nCache-Control: no-store\r\n"))
      #expect(answer.contains("\r\nContent-Security-Policy: default-src 'none';"))
      #expect(answer.contains("\r\nReferrer-Policy: no-referrer\r\n"))
      #expect(answer.contains("\r\nX-Content-Type-Options: nosniff\r\n"))
      #expect(answer.contains("\r\nConnection: close\r\n"))
      let parts = answer.components(separatedBy: "\r\n\r\n")
      expect(parts.count, is: 2)
      #expect(parts[0].contains("\r\nContent-Length: \(parts[1].utf8.count)"))
    }
    #expect(answers[1].contains("<html lang=\"en-GB\">"))
    #expect(answers[1].contains("<h1>&lt;Done&gt; &amp; &quot;dusted&quot;</h1>"))
    #expect(answers[1].contains("It&#39;s over."))
  }

  @Test(
    "connections that are never used, heads in pieces and more connections than room do not stop the browser")
  func manyConnections() throws {
    let listener = try LoopbackListener(redirectURI: "http://127.0.0.1/cb")
    let (urls, answers) = try wait(for: listener) { port in
      let idle = (1...40).map { _ in RawClient(port: port) }
      let slow = RawClient(port: port)
      for piece in ["GET /cb?good=1 HT", "TP/1.1\r\nHost: 127.0.0.1:", "\(port)\r\n\r", "\n"] {
        slow?.send(piece)
      }
      return withExtendedLifetime(idle) { [slow?.readAll() ?? ""] }
    }
    expect(urls.count, is: 1)
    expect(answers.map(Self.status), is: ["303"])
  }

  @Test("the browser is sent to the path alone: address bar and history lose the code, and the page is there")
  func addressBar() throws {
    let listener = try LoopbackListener(redirectURI: "http://127.0.0.1/cb?tenant=a")
    let (urls, answers) = try wait(for: listener) { port in
      let head = "HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n"
      return ["/cb", "/cb?tenant=a&code=s3cret&good=1", "/cb?good=1", "/cb"].map { target in
        let client = RawClient(port: port)
        client?.send("GET \(target) \(head)")
        return client?.readAll() ?? ""
      }
    }
    expect(urls.count, is: 2)
    expect(answers.map(Self.status), is: ["404", "303", "404", "200"])
    let base = listener.redirectURI.dropLast("?tenant=a".count)
    #expect(answers[1].contains("\r\nLocation: \(base)\r\n"))
    #expect(!answers[1].contains("s3cret"))
    #expect(answers[3].contains(LoopbackPage.signedIn.title))
  }

  @Test("localhost is both addresses: where another program has one of them, nothing is begun (R4)")
  func localhost() throws {
    guard Self.hosts.count == 2 else { return }
    let open = try LoopbackListener(redirectURI: "http://localhost/cb")
    #expect(open.redirectURI.hasPrefix("http://localhost:"))
    let (urls, answers) = try wait(for: open) { port in
      [false, true].map { isIPv6 in
        let client = RawClient(port: port, isIPv6: isIPv6)
        client?.send("GET /cb?\(isIPv6 ? "good=1" : "x") HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n")
        return client?.readAll() ?? ""
      }
    }
    expect(answers.map(Self.status), is: ["404", "303"])
    expect(urls.last?.hasPrefix("http://localhost:"), is: true)

    // Another test may have taken the port at the other address.
    for _ in 1...20 {
      let (other, port) = Self.listensAtIPv6()
      defer { Foundation.close(other) }
      guard (try? LoopbackListener(redirectURI: "http://127.0.0.1:\(port)/cb"))?.close() != nil else {
        continue
      }
      let error = #expect(throws: EnrollError.self) {
        try LoopbackListener(redirectURI: "http://localhost:\(port)/cb")
      }
      expect(error?.code, is: .busy)
      return
    }
    Issue.record("no port is free at 127.0.0.1")
  }

  /// A socket that listens at [::1], and its port.
  private static func listensAtIPv6() -> (descriptor: Int32, port: UInt16) {
    let other = socket(AF_INET6, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_addr = in6addr_loopback
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = bind(other, $0, length)
        _ = listen(other, 1)
        _ = getsockname(other, $0, &length)
      }
    }
    return (other, UInt16(bigEndian: address.sin6_port))
  }

  @Test("a head without end is refused", arguments: ["GET /cb?good=1&x=", "GET /cb?good=1 HTTP/1.1\r\nX: "])
  func endlessHead(_ start: String) throws {
    let listener = try LoopbackListener(redirectURI: "http://127.0.0.1/cb")
    let (urls, answers) = try wait(for: listener) { port in
      let client = RawClient(port: port)
      client?.send(start)
      let piece = String(repeating: "x", count: 1_024)
      for _ in 1...70 { client?.send(piece) }
      let answer = client?.readAll() ?? ""
      return [answer, RawClient.get("/cb?good=1", port: port)]
    }
    expect(urls.count, is: 1)
    // The response may be lost, because unread data causes a reset.
    #expect(["431", ""].contains(Self.status(answers[0])))
    expect(Self.status(answers[1]), is: "200")
  }

  @Test("an error of the host ends the wait, and the browser hears of it")
  func handlerThrows() throws {
    let listener = try LoopbackListener(redirectURI: "http://127.0.0.1/cb")
    let port = try #require(Self.port(of: listener))
    let answer = Guarded("", by: Mutex())
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      let got = RawClient.get("/cb?x", port: port)
      answer.withLock { $0 = got }
      done.signal()
    }
    let error = #expect(throws: EnrollError.self) {
      try listener.wait(deadline: soon, clock: clock) { (_: String) throws(EnrollError) in
        throw EnrollError(.accessDenied, "secret reason")
      }
    }
    done.wait()
    expect(error?.code, is: .accessDenied)
    #expect(answer.withLock { $0 }.contains(LoopbackPage.failed.title))
    #expect(!answer.withLock { $0 }.contains("secret"))
    #expect(RawClient(port: port) == nil)
  }
}
