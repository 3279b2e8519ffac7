@testable import EnrollPosix
@testable import EnrollStore
import EnrollRules
import Expectations
import Foundation
import StoreSupport
import Testing

@testable import EnrollHost

/// TLS against a real server with a private authority (R19).
@Suite struct TransportTLSTests {
  private static let libraries = [CurlLibrary.fileNames, ["libcurl-gnutls.so.4"]]

  private func send(
    to url: String, caFile: String?, libraries: [String] = CurlLibrary.fileNames
  ) throws(EnrollError) -> HTTPResponse {
    try CurlTransport(.init(caFile: caFile), libraryNames: libraries).send(
      HTTPRequest(.get, url), cancellation: nil)
  }

  @Test("a certificate of the configured authority is accepted", arguments: libraries)
  func privateAuthority(_ libraries: [String]) throws {
    let certificates = try Certificates.shared.get()
    let server = try TLSServer(certificates, .good)
    let response = try send(to: server.url(), caFile: certificates.authority, libraries: libraries)
    expect(response.body, is: Array("1 1".utf8))
    let named = try send(
      to: "https://localhost:\(server.port)/", caFile: certificates.authority, libraries: libraries)
    expect(named.status, is: 200)
  }

  @Test(
    "another host's certificate, an expired one and one of an unknown authority are refused for good",
    arguments: [
      (Certificates.Kind.otherHost, true, "host|IP|name"), (.expired, true, "expired"),
      (.good, false, "issuer|self"),
    ], libraries)
  func refused(_ row: (Certificates.Kind, Bool, String), _ libraries: [String]) throws {
    let certificates = try Certificates.shared.get()
    let server = try TLSServer(certificates, row.0)
    let caFile = row.1 ? certificates.authority : certificates.stranger
    let error = try #require(throws: EnrollError.self) {
      try send(to: server.url("/secret-path?secret-query"), caFile: caFile, libraries: libraries)
    }
    expect(error.code, is: .tls)
    #expect(!error.isRetryable)
    #expect(!error.message.contains("secret"))
    if libraries == CurlLibrary.fileNames {
      #expect(error.message.contains(try Regex(row.2)), "\(error.message)")
    }
  }

  @Test("without a configured authority the system's are asked, which do not know this one")
  func systemAuthorities() throws {
    let server = try TLSServer(try Certificates.shared.get(), .good)
    try expect(#require(throws: EnrollError.self) { try send(to: server.url(), caFile: nil) }.code, is: .tls)
  }

  @Test(
    "an unreadable caFile is an error of the configuration",
    arguments: ["/nonexistent/ca.pem", "/dev/null", "/", "/dev/zero"])
  func unreadableAuthority(_ path: String) throws {
    let server = try TLSServer(try Certificates.shared.get(), .good)
    let error = try #require(throws: EnrollError.self) { try send(to: server.url(), caFile: path) }
    expect(error.code, is: .configuration)
    expect(error.field, is: "caFile")
  }

  @Test("a caFile that is a FIFO is refused at once", .timeLimit(.minutes(10)))
  func fifo() throws {
    let folder = TestFolder()
    let path = folder.path + "/ca.pem"
    try #require(mkfifo(path, 0o600) == 0)
    let error = try #require(throws: EnrollError.self) {
      try send(to: "https://127.0.0.1:1/", caFile: path)
    }
    expect(error.code, is: .configuration)
    #expect(error.message.contains("it is no regular file"))
  }

  @Test(
    "a connection that breaks inside the handshake is the network's fault, not the certificate's",
    arguments: [true, false], libraries)
  func brokenHandshake(_ isReset: Bool, _ libraries: [String]) throws {
    let server = try RawServer {
      var byte: UInt8 = 0
      recv($0.descriptor, &byte, 1, 0)
      if isReset { $0.reset() }
    }
    let error = try #require(throws: EnrollError.self) {
      try send(to: "https://127.0.0.1:\(server.port)/", caFile: nil, libraries: libraries)
    }
    expect(error.code, is: .network, "\(error.message)")
  }

  @Test(
    "a server that accepts and says nothing runs into the time limit for connections (R20)",
    .timeLimit(.minutes(10)))
  func silentHandshake() throws {
    let server = try RawServer { $0.waitForClose() }
    let hasty = CurlTransport(.init(connectTimeout: .init(100), totalTimeout: .init(600_000)))
    let error = try #require(throws: EnrollError.self) {
      try hasty.send(HTTPRequest(.get, "https://127.0.0.1:\(server.port)/"), cancellation: nil)
    }
    expect(error.code, is: .timeout)
  }

  @Test("a server that does not speak TLS is refused for good")
  func noTLS() throws {
    let server = try RawServer {
      $0.send("HTTP/1.1 400 Bad Request\r\n\r\n")
      $0.waitForClose()
    }
    let error = try #require(throws: EnrollError.self) {
      try send(to: "https://127.0.0.1:\(server.port)/", caFile: nil)
    }
    expect(error.code, is: .tls)
    #expect(error.message.contains("the server does not speak TLS at this port"), "\(error.message)")
  }

  @Test("a server that wants a client certificate is told as that, and not tried again")
  func clientCertificate() throws {
    let certificates = try Certificates.shared.get()
    let server = try TLSServer(certificates, .good, wantsClientCertificate: true)
    let error = try #require(throws: EnrollError.self) {
      try send(to: server.url(), caFile: certificates.authority)
    }
    expect(error.code, is: .tls)
    #expect(error.message.contains("wants a client certificate (mutual TLS)"), "\(error.message)")
  }

  @Test("an unknown authority's certificate is told with what helps, and SSL_CERT_FILE names its file")
  func environmentAuthority() async {
    await #expect(processExitsWith: .success) {
      let certificates = try Certificates.shared.get()
      let server = try TLSServer(certificates, .good)
      unsetenv("SSL_CERT_FILE")
      let error = #expect(throws: EnrollError.self) {
        try CurlTransport(.init()).send(HTTPRequest(.get, server.url()), cancellation: nil)
      }
      #expect(error?.message.contains("SSL_CERT_FILE") ?? false)
      setenv("SSL_CERT_FILE", certificates.authority, 1)
      try expect(
        CurlTransport(.init()).send(HTTPRequest(.get, server.url()), cancellation: nil).status, is: 200)
      // A caFile takes precedence.
      setenv("SSL_CERT_FILE", "/nonexistent", 1)
      let transport = CurlTransport(.init(caFile: certificates.authority))
      try expect(transport.send(HTTPRequest(.get, server.url()), cancellation: nil).status, is: 200)
      let missing = #expect(throws: EnrollError.self) {
        try CurlTransport(.init()).send(HTTPRequest(.get, server.url()), cancellation: nil)
      }
      #expect(missing?.code == .configuration && missing?.message.contains("SSL_CERT_FILE") ?? false)
    }
  }

  @Test("a proxy that is not there is named, with its variable")
  func deadProxy() async {
    await #expect(processExitsWith: .success) {
      setenv("https_proxy", "http://user:secret@127.0.0.1:1", 1)
      unsetenv("no_proxy")
      let error = #expect(throws: EnrollError.self) {
        try CurlTransport(.init()).send(HTTPRequest(.get, "https://provider.invalid/"), cancellation: nil)
      }
      expect(error?.code, is: .network)
      expect(
        error?.message,
        is:
          "no connection to the proxy 127.0.0.1:1, through which https://provider.invalid is asked: start the proxy, or "
          + "correct https_proxy")
    }
  }

  @Test("connections with TLS are kept as well")
  func reuse() throws {
    let certificates = try Certificates.shared.get()
    let server = try TLSServer(certificates, .good)
    let transport = CurlTransport(.init(caFile: certificates.authority))
    let answers = try (1...3).map { _ in
      String(
        decoding: try transport.send(HTTPRequest(.get, server.url()), cancellation: nil).body, as: UTF8.self)
    }
    expect(answers, is: ["1 1", "1 2", "1 3"])
  }

  @Test("a connection that the server resets under a large request does not end the process with SIGPIPE")
  func pipeSignal() async {
    await #expect(processExitsWith: .success) {
      signal(SIGPIPE, SIG_DFL)
      let certificates = try Certificates.shared.get()
      let server = try TLSServer(certificates, .good)
      let transport = CurlTransport(.init(caFile: certificates.authority))
      let body = [UInt8](repeating: 0x78, count: 8 << 20)
      for _ in 1...5 {
        let error = #expect(throws: EnrollError.self) {
          try transport.send(HTTPRequest(.post, server.url("/reset"), body: body), cancellation: nil)
        }
        expect(error?.code, is: .network)
      }
    }
  }

  @Test("https goes through the proxy of the environment, loopback never does")
  func proxy() async {
    await #expect(processExitsWith: .success) {
      let proxy = try RawServer {
        $0.readRequest()
        $0.send("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
      }
      for name in ["https_proxy", "http_proxy", "ALL_PROXY"] { setenv(name, proxy.url(), 1) }
      unsetenv("no_proxy")
      let certificates = try Certificates.shared.get()
      let server = try TLSServer(certificates, .good)
      let transport = CurlTransport(.init(allowsLoopbackHTTP: true, caFile: certificates.authority))
      try expect(transport.send(HTTPRequest(.get, server.url()), cancellation: nil).status, is: 200)
      let plain = try RawServer {
        $0.readRequest()
        $0.answer()
      }
      try expect(transport.send(HTTPRequest(.get, plain.url()), cancellation: nil).status, is: 200)
      expect(proxy.accepted, is: 0)

      let secret = HTTPHeader("Authorization", "Bearer secret")
      let error = #expect(throws: EnrollError.self) {
        try transport.send(
          HTTPRequest(.get, "https://provider.invalid/path", headers: [secret]), cancellation: nil)
      }
      #expect(error?.code == .network && error?.httpStatus == nil)
      expect(
        error?.message.hasPrefix(
          "the proxy refused a connection to https://provider.invalid with status 407"), is: true)
      expect(proxy.requests.map { String($0.head.prefix(29)) }, is: ["CONNECT provider.invalid:443 "])
      expect(proxy.requests.first?.hasHeader("Authorization"), is: false)
    }
  }

  @Test(
    "a request that no proxy let through was not sent: one that refuses, that breaks, or behind whose tunnel nobody speaks TLS"
  )
  func unsent() async {
    await #expect(processExitsWith: .success) {
      unsetenv("no_proxy")
      for answer in [
        "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", "", "HTTP/1.1 200 OK\r\n\r\nnot TLS",
      ] {
        let proxy = try RawServer {
          $0.readRequest()
          $0.send(answer)
        }
        setenv("https_proxy", proxy.url(), 1)
        let request = HTTPRequest(
          .post, "https://provider.invalid/token", body: Array("code=c".utf8), freshConnection: true)
        let error = #expect(throws: EnrollError.self) {
          try CurlTransport().send(request, cancellation: nil)
        }
        expect(error?.isUnsent, is: true)
        expect(proxy.accepted, is: 1)
      }
    }
  }

  @Test("nor was one that a SOCKS proxy drops, or whose server has a certificate that is not trusted")
  func unsentOtherwise() async {
    await #expect(processExitsWith: .success) {
      let server = try TLSServer(try Certificates.shared.get(), .good)
      let proxy = try RawServer { _ in }
      for name in ["https_proxy", "no_proxy"] { unsetenv(name) }
      setenv("ALL_PROXY", "socks5h://127.0.0.1:\(proxy.port)", 1)
      for url in ["https://provider.invalid/token", server.url()] {
        let request = HTTPRequest(.post, url, body: Array("code=c".utf8), freshConnection: true)
        let error = #expect(throws: EnrollError.self) {
          try CurlTransport().send(request, cancellation: nil)
        }
        expect(error?.isUnsent, is: true)
      }
      expect(proxy.accepted, is: 1)
    }
  }

  @Test("a request that went through a proxy's tunnel and got no answer was sent")
  func sentThroughTunnel() async {
    await #expect(processExitsWith: .success) {
      let certificates = try Certificates.shared.get()
      let server = try TLSServer(certificates, .otherHost)
      let proxy = try RawServer {
        $0.readRequest()
        $0.send("HTTP/1.1 200 OK\r\n\r\n")
        $0.relay(to: server.port)
      }
      setenv("https_proxy", proxy.url(), 1)
      unsetenv("no_proxy")
      let request = HTTPRequest(
        .post, "https://other.example/reset", body: Array("code=c".utf8), freshConnection: true)
      let error = #expect(throws: EnrollError.self) {
        try CurlTransport(.init(caFile: certificates.authority)).send(request, cancellation: nil)
      }
      expect(error?.code, is: .network)
      expect(error?.isUnsent, is: false)
    }
  }
}
