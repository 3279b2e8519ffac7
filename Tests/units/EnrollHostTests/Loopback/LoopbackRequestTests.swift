@testable import EnrollPosix
@testable import EnrollStore
import Expectations
import Testing

@testable import EnrollHost

/// Tests of the grammar of a request's head (RFC 9112), which the listener applies strictly.
@Suite struct LoopbackRequestTests {
  private func read(_ head: String) throws(LoopbackRequest.Refusal) -> LoopbackRequest? {
    let bytes = Array(head.utf8)
    guard let end = try LoopbackRequest.end(in: bytes, scanned: 0) else { return nil }
    return try LoopbackRequest(head: bytes[..<end])
  }

  @Test("method, path, query and host are taken apart")
  func parts() throws {
    let request = try #require(
      try read(
        "GET /cb?a=1?b HTTP/1.1\r\nAccept: */*\r\nHOST: \t127.0.0.1:1 \r\nCookie: a=\u{E9}\r\n\r\nrest"))
    expect(request.method, is: "GET")
    #expect(request.path.elementsEqual("/cb".utf8))
    expect(request.query?.elementsEqual("a=1?b".utf8), is: true)
    #expect(request.host.elementsEqual("127.0.0.1:1".utf8))
    try expect(read("GET / HTTP/1.0\r\nHost: a\r\nContent-Length: 0\r\n\r\n")?.query, is: nil)
    try expect(read("GET /? HTTP/1.1\r\nHost: a\r\n\r\n")?.query?.isEmpty, is: true)
  }

  @Test(
    "a head that breaks a rule is refused",
    arguments: [
      ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400),
      ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400),
      ("GET /\r\nHost: a\r\n\r\n", 400), ("GET x HTTP/1.1\r\nHost: a\r\n\r\n", 400),
      ("GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET /#x HTTP/1.1\r\nHost: a\r\n\r\n", 400),
      ("GET /\u{E9} HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET /\u{0} HTTP/1.1\r\nHost: a\r\n\r\n", 400),
      ("G3T / HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
      ("GET / http/1.1\r\nHost: a\r\n\r\n", 505), ("GET / HTTP/1.1\nHost: a\r\n\r\n", 400),
      ("GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n", 400),
      ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400), ("GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400),
      ("GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", 400),
      ("GET / HTTP/1.1\r\nHost: a\r\nnothing\r\n\r\n", 400),
      ("GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\u{0}\r\n\r\n", 400),
      ("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
      ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n", 400),
      ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 00\r\n\r\n", 400),
      ("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
      ("\u{16}\u{3}\u{1}", 400),
      ("GET /" + String(repeating: "x", count: 8_192) + " HTTP/1.1\r\nHost: a\r\n\r\n", 414),
      ("GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "X: 1\r\n", count: 100) + "\r\n", 431),
      (String(repeating: "x", count: 65_537), 431),
      ("GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "x", count: 65_536) + "\r\n\r\n", 431),
    ])
  func refused(_ head: String, _ status: Int) {
    let refusal = #expect(throws: LoopbackRequest.Refusal.self) { try read(head) }
    expect(refusal?.status, is: status)
  }

  @Test("the end of the head is found however the bytes arrive")
  func pieces() throws {
    let whole = Array("GET / HTTP/1.1\r\nHost: a\r\n\r\nmore".utf8)
    var scanned = 0
    for count in 1..<(whole.count - 4) {
      try expect(LoopbackRequest.end(in: Array(whole[..<count]), scanned: scanned), is: nil)
      scanned = count
    }
    try expect(LoopbackRequest.end(in: whole, scanned: scanned), is: whole.count - 4)
  }
}
