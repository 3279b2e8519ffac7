// The rules for the head of a request, in addition to the grammar (RFC 9110 §7.2, §8.6, §10.1.1; RFC 9112 §3, §6):
// exactly one host, which the server answers; a body whose length every parser determines in the same way; no
// expectation except `100-continue`.

/// A head that follows the rules, and the kind of body that comes after it.
struct ProperHead {
  enum Body: Equatable {
    case none, chunked
    case count(Int)
  }

  var method: WebRequest.Method
  var isHead: Bool
  var path: String
  var query: String?
  /// The header lines.
  var fields: [UInt8]
  var body: Body
  /// The client sends `Expect: 100-continue`: it waits for an interim answer before it sends the body.
  var waitsForContinue: Bool
  /// True if the client's version and headers allow a further request on the connection.
  var isPersistent: Bool
}

/// The rules, with the settings that they need.
struct HeadRules: Sendable {
  enum Judgement {
    case proper(ProperHead)
    case refused(Refusal)
  }

  let limits: ServerLimits
  let methods: Set<WebRequest.Method>
  /// The public origin, such as `https://login.example.com`.
  private let origin: String?
  /// The values of `Host` with which the server answers requests.
  private let names: [String]
  private let hosts: ServerSettings.Hosts
  /// Paths at which the server answers a request for any host.
  private let probes: [String]

  init(_ settings: ServerSettings) {
    limits = settings.limits
    methods = settings.methods
    origin = settings.publicOrigin
    names = settings.names
    hosts = settings.hosts
    probes = settings.probes
  }

  /// - Parameter bytes: the whole head.
  func judge(_ line: RequestLine, _ fields: HeadFields, _ bytes: UnsafeRawBufferPointer) -> Judgement {
    let target = originForm(line.target, bytes)
    let isProbe = target.map { isProbePath($0.path, bytes) } ?? false
    // A request needs `Host` (RFC 9112 §3.2). In HTTP/1.0 it may be missing for a probe, or if the server answers any
    // host.
    guard fields.host != nil || !line.isHTTP11 && (isProbe || hosts == .any) else {
      return .refused(.malformed)
    }
    let body: ProperHead.Body
    switch framing(line, fields, bytes) {
    case .proper(let framing): body = framing
    case .refused(let refusal): return .refused(refusal)
    }
    guard let target else { return .refused(.malformed) }
    // If the server answers any host, the syntax of `Host` still has to be correct (RFC 9112 §3.2).
    if let host = fields.host, isProbe || hosts == .any, !HeaderGrammar.isHost(bytes, host) {
      return .refused(.malformed)
    }
    guard isProbe || hosts == .any || isOurs(fields.host, bytes) else { return .refused(.misdirected) }
    var waits = false
    // RFC 9110 §10.1.1: an expectation in HTTP/1.0 is ignored.
    if line.isHTTP11, let expectation = fields.expectation {
      guard bytes.equalsIgnoringCase(expectation, "100-continue") else { return .refused(.expectation) }
      waits = body != .none
    }
    return .proper(
      ProperHead(
        method: line.method, isHead: line.isHead,
        path: target.path.isEmpty ? "/" : bytes.text(target.path), query: target.query.map { bytes.text($0) },
        fields: fields.lines(of: bytes), body: body, waitsForContinue: waits,
        isPersistent: line.isHTTP11 && !fields.closes))
  }

  private func isOurs(_ host: Range<Int>?, _ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let host else { return false }
    for name in names where bytes.equalsIgnoringCase(host, text: name) { return true }
    return hosts == .loopback && IPAddress.isLoopback(host: bytes.text(host))
  }

  private enum Framing {
    case proper(ProperHead.Body)
    case refused(Refusal)
  }

  private func framing(
    _ line: RequestLine, _ fields: HeadFields, _ bytes: UnsafeRawBufferPointer
  ) -> Framing {
    let takesBody = line.method != .get && line.method != .options
    if let coding = fields.coding {
      guard fields.length == nil, bytes.equals(coding, "chunked"), line.isHTTP11, takesBody else {
        return .refused(.malformed)
      }
      return .proper(.chunked)
    }
    guard let length = fields.length else { return .proper(.none) }
    guard length.count <= 18 else { return .refused(.malformed) }
    var count = 0
    for index in length {
      let digit = bytes[index]
      guard digit >= 0x30, digit <= 0x39 else { return .refused(.malformed) }
      count = count * 10 + Int(digit - 0x30)
    }
    guard count == 0 || takesBody else { return .refused(.malformed) }
    guard count <= limits.bodyBytes else { return .refused(.bodyTooLarge) }
    return .proper(count == 0 ? .none : .count(count))
  }

  /// The path and query of the target, without the server's own origin; nil for any form other than `/path?query` (RFC 9112
  /// §3.2). The path is empty if the target is the origin alone.
  private func originForm(
    _ target: Range<Int>, _ bytes: UnsafeRawBufferPointer
  ) -> (path: Range<Int>, query: Range<Int>?)? {
    var start = target.lowerBound
    if bytes[start] != 0x2F {
      guard let origin, target.count >= origin.utf8.count else { return nil }
      start += origin.utf8.count
      guard bytes.equalsIgnoringCase(target.lowerBound..<start, text: origin) else { return nil }
      guard start == target.upperBound || bytes[start] == 0x2F else { return nil }
    }
    guard let mark = bytes.first(0x3F, in: start..<target.upperBound) else {
      return (start..<target.upperBound, nil)
    }
    return (start..<mark, mark + 1..<target.upperBound)
  }

  private func isProbePath(_ path: Range<Int>, _ bytes: UnsafeRawBufferPointer) -> Bool {
    for probe in probes where probe.utf8.elementsEqual(bytes[path]) { return true }
    return false
  }
}
