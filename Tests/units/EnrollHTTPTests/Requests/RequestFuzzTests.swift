// Tests with mutated requests: no request that is hidden in a body may reach the application, no request may be read in
// two ways, and no request may harm the server.

@testable import EnrollHTTP
import Foundation
import Testing

@Suite struct RequestFuzzTests {
  private static let hidden = "\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: gateway.test\r\n\r\n"
  private static let body = String(repeating: "x", count: 61) + hidden
  private static let seeds = [
    "GET /first?a=b HTTP/1.1\r\nHost: gateway.test\r\nCookie: a=b; c=d\r\nAccept: */*\r\n\r\n",
    "POST /first HTTP/1.1\r\nHost: gateway.test\r\nContent-Length: \(body.utf8.count)\r\nAccept: */*\r\n\r\n\(body)",
    "POST /first HTTP/1.1\r\nHost: gateway.test\r\nTransfer-Encoding: chunked\r\nAccept: */*\r\n\r\n"
      + "\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n",
    "POST /first HTTP/1.1\r\nHost: gateway.test\r\nContent-Type: text/plain\r\nExpect: 100-continue\r\n"
      + "Connection: keep-alive, Upgrade\r\nUpgrade: h2c\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)",
  ]
  private static let lines = [
    "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: identity\r\n", "Content-Length: 0\r\n",
    "Content-Length: 61\r\n", "Content-Length: 5, 65\r\n", "Transfer-Encoding : chunked\r\n",
    "Transfer-Encoding:\u{B}chunked\r\n", "X: y\nTransfer-Encoding: chunked\r\n",
    "X: y\rContent-Length: 0\r\n",
    " Content-Length: 0\r\n", "Upgrade: x\r\nConnection: upgrade\r\n", "Host: other.test\r\n", "\r\n", "\n",
    "0\r\n\r\n",
  ]
  private static let bytes: [UInt8] = Array("\r\n\t :;,0159afx/\0\u{7F}".utf8) + [0x80, 0xFF]

  @Test("no mutated request brings a hidden one to the application")
  func smuggling() throws {
    let application = TestApplication()
    // If a mutation lengthens a body by exactly the size of the hidden request, the hidden request becomes a
    // regular second request. With this seed no mutation has that effect; with another seed about one in
    // 10,000 has it.
    var random = SplitMix(state: 20_261_124)
    var answered = 0
    try withServer(application, { $0.limits.connectionsPerAddress = 10_000 }) { server in
      for round in 0..<4_000 {
        var request = Array(Self.seeds[round % Self.seeds.count].utf8)
        for _ in 0...random.below(3) { Self.mutate(&request, &random) }
        let wire = try #require(Wire(server.port))
        wire.send(request)
        wire.finish()
        let text = wire.readAll() ?? ""
        #expect(text.isEmpty || text.hasPrefix("HTTP/1.1 "))
        answered += text.hasPrefix("HTTP/1.1 200") || text.hasPrefix("HTTP/1.1 100") ? 1 : 0
        let reached = application.seen
        application.forget()
        let isClean = !reached.contains { $0.path.contains("smuggled") }
        if !isClean { Issue.record("round \(round): \(String(decoding: request, as: UTF8.self))") }
      }
      let wire = try #require(Wire(server.port))
      wire.send(Self.seeds[0])
      #expect(wire.readAnswer()?.status == 200)
    }
    // If the server refused all mutations, or accepted all, the test would prove nothing.
    #expect(answered > 400 && answered < 3_600)
  }

  @Test("a mutated request is read in the same way however its bytes are cut")
  func cuts() {
    var random = SplitMix(state: 1)
    var counts: [Int: Int] = [:]
    for round in 0..<(Self.isTorture ? 100_000 : 3_000) {
      var bytes = Array(Self.seeds[round % Self.seeds.count].utf8)
      bytes += Array(Self.seeds[random.below(Self.seeds.count)].utf8)
      for _ in 0..<random.below(5) { Self.mutate(&bytes, &random) }
      let whole = Reading(bytes, pieces: bytes.count)
      let cut = Reading(bytes, pieces: 1 + random.below(40))
      if whole != cut || round % 16 == 0 && Reading(bytes, pieces: 1) != whole {
        Issue.record("round \(round): \(String(decoding: bytes, as: UTF8.self))")
      }
      counts[whole.requests.count, default: 0] += 1
    }
    // Each kind of input occurred: refused at once, refused after its first request, and not refused.
    #expect((0...2).allSatisfy { counts[$0] ?? 0 > 100 })
  }

  @Test("mutated requests, for ten minutes in the long form, do not harm the server")
  func survival() throws {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(600)
    let application = TestApplication(
      lane: { $0.method == .post ? .database : .here }, { _ in WebResponse(200) })
    var random = SplitMix(state: 2)
    var rounds = 0
    let change: (inout ServerSettings) -> Void = {
      $0.limits.connectionsPerAddress = 10_000
      $0.limits.headerTimeoutMilliseconds = 50
      $0.limits.bodyTimeoutMilliseconds = 50
      $0.limits.idleTimeoutMilliseconds = 50
      $0.limits.lingerMilliseconds = 20
    }
    try withServer(application, change) { server in
      while Self.isTorture ? clock.now < end : rounds < 500 {
        var bytes: [UInt8] = []
        for _ in 0...random.below(3) { bytes += Array(Self.seeds[random.below(Self.seeds.count)].utf8) }
        for _ in 0..<random.below(8) { Self.mutate(&bytes, &random) }
        let wire = try #require(Wire(server.port))
        // Sends the bytes in pieces; some clients stop in the middle, some disconnect, some never read the response.
        var start = 0
        while start < bytes.count {
          let next = min(bytes.count, start + 1 + random.below(200))
          guard wire.send(Array(bytes[start..<next])), random.below(60) > 0 else { break }
          start = next
        }
        if random.below(3) > 0 {
          wire.finish()
          _ = wire.readAll()
        }
        application.forget()
        rounds += 1
      }
      #expect(eventually { server.metrics.connectionsOpen == 0 && server.metrics.requestsInWork == 0 })
      let wire = try #require(Wire(server.port))
      wire.send(Self.seeds[0])
      #expect(wire.readAnswer()?.status == 200)
    }
  }

  private static let isTorture = ProcessInfo.processInfo.environment["TORTURE"] == "1"

  private static func mutate(_ request: inout [UInt8], _ random: inout SplitMix) {
    guard !request.isEmpty else { return }
    let place = random.below(request.count)
    let starts = [0] + request.indices.filter { $0 > 0 && request[$0 - 1] == 0x0A }
    switch random.below(7) {
    case 0: request[place] = bytes[random.below(bytes.count)]
    case 1: request.insert(bytes[random.below(bytes.count)], at: place)
    case 2: request.remove(at: place)
    case 3: request[place] ^= 1 << UInt8(random.below(8))
    case 4:
      request.insert(
        contentsOf: Array(lines[random.below(lines.count)].utf8), at: starts[random.below(starts.count)])
    case 5:
      let end = min(request.count, place + 1 + random.below(40))
      request.insert(contentsOf: request[place..<end], at: starts[random.below(starts.count)])
    default:
      // This mutation moves a line up or down.
      let start = starts[random.below(starts.count)]
      let end = request[start...].firstIndex(of: 0x0A).map { $0 + 1 } ?? request.count
      let line = Array(request[start..<end])
      request.removeSubrange(start..<end)
      request.insert(contentsOf: line, at: starts[random.below(starts.count)] % (request.count + 1))
    }
  }
}

/// The parser's result for bytes that it gets in pieces, as from a connection.
private struct Reading: Equatable {
  var requests: [String] = []
  var isRefused = false

  private static let rules = HeadRules(ServerSettings(publicOrigin: "http://gateway.test"))

  init(_ bytes: [UInt8], pieces: Int) {
    var reader = RequestReader()
    var held: [UInt8] = []
    var start = 0
    while start < bytes.count, !isRefused {
      let end = min(bytes.count, start + pieces)
      held += bytes[start..<end]
      start = end
      held.removeFirst(held.withUnsafeBytes { read($0, &reader) })
    }
  }

  private mutating func read(_ bytes: UnsafeRawBufferPointer, _ reader: inout RequestReader) -> Int {
    var passed = 0
    while passed < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[passed...])
      let (count, event) = reader.read(rest, Self.rules)
      passed += count
      switch event {
      case .needsMore: return passed
      case .bodyFollows: break
      case .whole(let head, let body):
        let fields = String(decoding: head.fields, as: UTF8.self)
        requests.append("\(head.method) \(head.path)?\(head.query ?? "") \(fields) \(body)")
      case .refused:
        isRefused = true
        return bytes.count
      }
    }
    return passed
  }
}

/// A random number generator that makes the same numbers on every machine.
struct SplitMix {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(max(limit, 1))) }
}
