// HTTP in both directions: headers of servers, whole heads from the network, and requests to the loopback listener.

@testable import EnrollPosix
@testable import EnrollStore
import EnrollRules
import Glibc

@testable import EnrollHost

extension Target {
  static let http = [
    Target("headers") { input in
      let seconds = input.prefix(5).reduce(0) { $0 << 8 | Int64($1) } % 253_402_300_800  // to the year 9999
      require(HTTPDate.parse(date(seconds))?.seconds == seconds, "every date is read (R25)")
      let lines = input.split(separator: 0x0A, maxSplits: 15).compactMap { text(Array($0)) }
      var headers: [HTTPHeader] = []
      for line in lines {
        let parts = line.split(separator: ":", maxSplits: 1)
        if parts.count == 2 {
          headers.append(HTTPHeader(String(parts[0]), String(parts[1].drop { $0 == " " })))
        }
        if let time = HTTPDate.parse(line), line.utf8.dropFirst(3).first == 0x2C {
          require(isDate(time, line), "a date is that date")
        }
      }
      let response = HTTPResponse(status: 401, headers: headers)
      if let seconds = RetryAfter.seconds(of: response) {
        require((1...RetryAfter.maximumSeconds).contains(seconds), "a wait is bounded (R33)")
      }
      let fresh = CacheControl.freshSeconds(of: response)
      require(
        (CacheControl.minimumSeconds...CacheControl.maximumSeconds).contains(fresh), "freshness is bounded")
      if let nonce = nonce(in: response) {
        require(nonce.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a nonce goes into a proof")
      }
      _ = isNonceDemanded(by: response)
    },
    Target("http-response") { input in
      guard let target = try? RequestTarget("https://id.example.com/token", allowsLoopbackHTTP: false) else {
        return require(false, "the sample is a target")
      }
      let reader = ResponseReader(target: target, limit: 256)
      var rest = input[...]
      while !rest.isEmpty, !reader.isHeadComplete {
        let end = rest.firstIndex(of: 0x0A).map { $0 + 1 } ?? rest.endIndex
        guard rest[..<end].withUnsafeBytes({ reader.readHeader($0) }) else { return failed(reader) }
        rest = rest[end...]
      }
      guard rest.withUnsafeBytes({ reader.readBody($0) }) else { return failed(reader) }
      require(reader.body.count <= 256, "a body is capped (R20)")
      guard let response = try? reader.finished() else { return }
      require((200...599).contains(response.status), "a final response")
    },
    Target("loopback") { input in
      let end = (try? LoopbackRequest.end(in: input, scanned: 0)) ?? nil
      var found: Int?
      for count in stride(from: 1, through: input.count, by: 7) {
        found = (try? LoopbackRequest.end(in: Array(input[..<count]), scanned: max(count - 7, 0))) ?? nil
        if found != nil { break }
      }
      if let found { require(found == end, "pieces do not matter") }
      guard let end, let request = try? LoopbackRequest(head: input[..<end]) else { return }
      require(request.path.first == 0x2F, "a path")
      require(request.path.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3F }, "a plain path")
      require(request.method.utf8.allSatisfy(ASCII.isLetter), "a method")
      require(!request.host.contains(0x0D) && !request.host.contains(0x0A), "one line")
    },
  ]

  private static func failed(_ reader: ResponseReader) {
    require(reader.failure != nil, "what ends a transfer has a reason")
  }

  /// The date as servers write it (RFC 9110 §5.6.7), by the C library's calendar.
  private static func date(_ seconds: Int64) -> String {
    var seconds = time_t(seconds)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    var text = [CChar](repeating: 0, count: 64)
    strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
    return text.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
  }

  /// Checks a date with the C library's calendar, which knows no leap second; our parser does not know the
  /// lengths of months.
  private static func isDate(_ time: UnixTime, _ line: String) -> Bool {
    let bytes = Array(line.utf8)
    let digits = { (range: Range<Int>) in bytes[range].reduce(0) { $0 * 10 + Int32($1 & 15) } }
    guard digits(5..<7) <= 28, digits(23..<25) < 60 else { return true }
    var seconds = time_t(time.seconds)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    return parts.tm_mday == digits(5..<7) && parts.tm_year + 1900 == digits(12..<16)
      && parts.tm_hour == digits(17..<19) && parts.tm_min == digits(20..<22)
      && parts.tm_sec == digits(23..<25)
  }
}
