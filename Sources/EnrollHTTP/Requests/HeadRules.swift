// What a head must satisfy beyond its grammar (RFC 9110 §7.2, §8.6, §10.1.1; RFC 9112 §3, §6): one host that is ours, one framing
// that nobody can read in two ways, no expectation but 100-continue.

import EnrollCore
import EnrollGateway
import NIOHTTP1

/// A head that the host answers, and what follows it.
struct ProperHead {
  enum Body: Equatable {
    case none, chunked
    case count(Int)
  }

  var line: RequestLine
  var path: String
  var query: String?
  var headers: [HTTPHeader]
  var body: Body
  /// The client waits to be told that its body is wanted.
  var waitsForContinue: Bool
  /// By the client's wish and version.
  var isPersistent: Bool
}

/// The rules, with what they compare to.
struct HeadRules: Sendable {
  enum Judgement {
    case proper(ProperHead)
    case refused(Refusal)
  }

  /// `https://login.example.com`.
  let origin: String
  /// Values of `Host`.
  let names: [String]
  /// Whether `Host` may name this machine itself.
  let takesLoopbackNames: Bool
  /// Paths for which the host does not matter.
  let probes: [String]
  let bodyLimit: Int

  /// - Parameters:
  ///   - line: the first line as the scanner read it.
  ///   - head: the whole head as NIO's parser read it.
  func judge(_ line: RequestLine, _ head: HTTPRequestHead) -> Judgement {
    // Two readers that disagree about the first line are what smuggling lives on.
    guard head.uri.utf8.count == line.targetCount, head.version == (line.isHTTP11 ? .http1_1 : .http1_0)
    else {
      return .refused(.malformed)
    }
    var headers: [HTTPHeader] = []
    headers.reserveCapacity(head.headers.count)
    var found = Found()
    for (name, written) in head.headers {
      let value = Self.trimmed(written)
      if let refusal = found.note(name, value) { return .refused(refusal) }
      headers.append(HTTPHeader(name, value))
    }
    // RFC 9112 §3.2: a request without a host is refused, one of HTTP/1.0 may be.
    let target = originForm(head.uri)
    let isProbe = target.map { leadsToProbe($0) } ?? false
    guard found.host != nil || isProbe && !line.isHTTP11 else { return .refused(.malformed) }
    let body: ProperHead.Body
    switch framing(found, line) {
    case .proper(let framing): body = framing
    case .refused(let refusal): return .refused(refusal)
    }
    guard let target else { return .refused(.malformed) }
    guard isProbe || isOurs(found.host ?? "") else { return .refused(.misdirected) }
    var waits = false
    // RFC 9110 §10.1.1: an expectation in HTTP/1.0 is ignored.
    if line.isHTTP11, let expectation = found.expectation {
      guard ASCII.equalsIgnoringCase(expectation, "100-continue") else { return .refused(.expectation) }
      waits = body != .none
    }
    let (path, query) = split(target)
    return .proper(
      ProperHead(
        line: line, path: path, query: query, headers: headers, body: body, waitsForContinue: waits,
        isPersistent: line.isHTTP11 && head.isKeepAlive))
  }

  private func isOurs(_ host: String) -> Bool {
    names.contains { ASCII.equalsIgnoringCase($0, host) }
      || takesLoopbackNames && IPAddress.isLoopback(host: host)
  }

  /// NIO's parser leaves the blanks behind a value.
  private static func trimmed(_ value: String) -> String {
    guard let last = value.utf8.last, last == 0x20 || last == 0x09 else { return value }
    return String(Substring(value).trimmed)
  }

  /// The headers that the host itself acts on.
  private struct Found {
    var host: String?
    var length: String?
    var transferCoding: String?
    var expectation: String?

    mutating func note(_ name: String, _ value: String) -> Refusal? {
      switch name.utf8.count {
      case 4 where ASCII.equalsIgnoringCase(name, "Host"): return Self.set(&host, value)
      case 6 where ASCII.equalsIgnoringCase(name, "Expect"):
        return Self.set(&expectation, value) == nil ? nil : .expectation
      case 14 where ASCII.equalsIgnoringCase(name, "Content-Length"): return Self.set(&length, value)
      case 17 where ASCII.equalsIgnoringCase(name, "Transfer-Encoding"):
        return Self.set(&transferCoding, value)
      default: return nil
      }
    }

    private static func set(_ place: inout String?, _ value: String) -> Refusal? {
      guard place == nil else { return .malformed }
      place = value
      return nil
    }
  }

  private enum Framing {
    case proper(ProperHead.Body)
    case refused(Refusal)
  }

  private func framing(_ found: Found, _ line: RequestLine) -> Framing {
    if let coding = found.transferCoding {
      guard found.length == nil, coding == "chunked", line.isHTTP11, line.method == .post else {
        return .refused(.malformed)
      }
      return .proper(.chunked)
    }
    guard let text = found.length else { return .proper(.none) }
    guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
      let count = Int(text), count == 0 || line.method == .post
    else { return .refused(.malformed) }
    guard count <= bodyLimit else { return .refused(.bodyTooLarge) }
    return .proper(count == 0 ? .none : .count(count))
  }

  /// The target without our own origin; nil for any other form than `/path?query` (RFC 9112 §3.2).
  private func originForm(_ uri: String) -> String? {
    if uri.utf8.first == 0x2F { return uri }
    guard uri.utf8.count >= origin.utf8.count else { return nil }
    let end = uri.utf8.index(uri.startIndex, offsetBy: origin.utf8.count)
    guard ASCII.equalsIgnoringCase(String(uri[..<end]), origin) else { return nil }
    let rest = uri[end...]
    if rest.isEmpty { return "/" }
    return rest.utf8.first == 0x2F ? String(rest) : nil
  }

  private func leadsToProbe(_ target: String) -> Bool {
    !probes.isEmpty && probes.contains { ASCII.equals($0, split(target).path) }
  }

  private func split(_ target: String) -> (path: String, query: String?) {
    guard let mark = target.utf8.firstIndex(of: 0x3F) else { return (target, nil) }
    return (String(target[..<mark]), String(target[target.utf8.index(after: mark)...]))
  }
}
