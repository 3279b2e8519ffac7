// Sends requests to a directory over HTTP, and returns answers that the dialects (SCIM, Okta) read. The transport
// gives every request a timeout and a limit of bytes. Refused: redirects, answers that should be JSON and are not,
// answers over the limit. No text of an answer goes into a failure: a directory may repeat a password or a token in its
// answer (R40).

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollJSON
import EnrollHTTP

/// Sends requests to one directory. Any thread may call at any time.
final class DirectoryHTTP: Sendable {
  /// A complete answer of the directory: a success, or a refusal with a status from 400 to 499.
  struct Answer {
    var status: Int
    /// The body; nil for an answer without a body, and for a refusal that is not JSON.
    var json: JSON?
    /// The version of the resource (RFC 9110 §8.8.3).
    var entityTag: String?

    var isSuccess: Bool { (200..<300).contains(status) }
  }

  /// One request, relative to the directory's URL.
  struct Request {
    var method: HTTPRequest.Method
    /// The path, which begins with a slash. Every variable part is one encoded segment.
    var path: String
    var query: [(String, String)] = []
    var body: JSON?
    var mediaType = "application/json"
    /// The version that the resource must have. If it has another version, the request fails (RFC 9110 §13.1.1). nil
    /// for any version.
    var ifMatch: String?
    /// Whether the request carries the gateway's credentials.
    var isAuthorized = true
  }

  private let base: String
  private let transport: any Transport
  private let credentials: DirectoryCredentials
  private let clock: any Clock
  /// The time until which no request is sent, because the directory asked for a pause.
  private let pausedUntil: Guarded<Instant?>

  /// The limit for the bytes of an answer. Lists may be long.
  static let responseLimit = 4 << 20
  /// The longest pause that the gateway accepts from a directory.
  static let longestPauseSeconds: Int64 = 300

  /// - Parameter base: the URL of the directory: a URL without a slash at its end and without a query.
  init(
    base: String, transport: any Transport, credentials: DirectoryCredentials, clock: any Clock,
    lock: any Lock
  ) {
    self.base = base
    self.transport = transport
    self.credentials = credentials
    self.clock = clock
    pausedUntil = Guarded(nil, by: lock)
  }

  /// Sends the request. If the directory refuses a cached access token with 401, requests a new token and tries once more.
  /// - Throws: `.unavailable`, `.fault`, and `.refused` for 401, and for 403 without a JSON body.
  func send(_ request: Request) throws(DirectoryFailure) -> Answer {
    let answer = try sendOnce(request)
    guard request.isAuthorized, answer.status == 401, credentials.forget() else {
      return try accepted(answer, of: request)
    }
    return try accepted(try sendOnce(request), of: request)
  }

  private func accepted(_ answer: Answer, of request: Request) throws(DirectoryFailure) -> Answer {
    guard request.isAuthorized, answer.status == 401 || answer.status == 403 && answer.json == nil else {
      return answer
    }
    throw .refused(
      "the directory answers \(answer.status) to \(request.method.rawValue) requests: check its token and the token's rights"
    )
  }

  private func sendOnce(_ request: Request) throws(DirectoryFailure) -> Answer {
    if request.isAuthorized, let until = pausedUntil.withLock({ $0 }), clock.instant() < until {
      throw .unavailable("the directory asked for a pause, which is not over")
    }
    let response: HTTPResponse
    do throws(EnrollError) {
      response = try transport.send(try http(request), cancellation: nil)
    } catch {
      throw DirectoryFailure(error)
    }
    return try read(response, isAuthorized: request.isAuthorized)
  }

  private func http(_ request: Request) throws(EnrollError) -> HTTPRequest {
    var query = FormEncoding(.query)
    for (name, value) in request.query { query.add(name, value) }
    let url = base + request.path + (request.query.isEmpty ? "" : "?" + query.text)
    var headers = [
      HTTPHeader("Accept", request.mediaType), HTTPHeader("User-Agent", "EnrollGateway"),
    ]
    if request.isAuthorized { headers.append(try credentials.header(by: transport, at: clock)) }
    if let tag = request.ifMatch, Self.isHeaderText(tag) { headers.append(HTTPHeader("If-Match", tag)) }
    if request.body != nil { headers.append(HTTPHeader("Content-Type", request.mediaType)) }
    // A request that changes something uses a fresh connection, so that the transport never repeats the request (R15).
    return HTTPRequest(
      request.method, url, headers: headers, body: request.body?.serialized() ?? [],
      responseLimit: Self.responseLimit, freshConnection: request.method != .get)
  }

  private static func isHeaderText(_ text: String) -> Bool {
    (1...256).contains(text.utf8.count) && text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
  }
}

extension DirectoryHTTP {
  private func read(_ response: HTTPResponse, isAuthorized: Bool) throws(DirectoryFailure) -> Answer {
    switch response.status {
    case 429:
      let seconds = Self.pauseSeconds(response)
      // The limit for a request without the gateway's credentials may concern only one user's password, so requests
      // about other users continue.
      if isAuthorized {
        let until = clock.instant().advanced(bySeconds: seconds)
        pausedUntil.withLock { $0 = until }
      }
      throw .unavailable("the directory answers 429, and wants no requests for \(seconds) s")
    case 408, 500...599: throw .unavailable("the directory answers \(response.status)")
    case 300..<400:
      throw .fault(
        "the directory answers with a redirect (\(response.status)), which is not followed: check directory.url"
      )
    case 200..<300, 400..<500: break
    default: throw .fault("the directory answers \(response.status)")
    }
    var answer = Answer(status: response.status, entityTag: response.header("ETag"))
    let isEmpty = response.body.allSatisfy { $0 <= 0x20 }
    do throws(JSONError) { answer.json = isEmpty ? nil : try JSON.parse(response.body) } catch {
      guard !answer.isSuccess else {
        let kind =
          response.header("Content-Type").map { PrintableText.bounded($0, maximumBytes: 60) } ?? "no type"
        throw .fault("the directory's answer is no JSON (\(kind)): check directory.url")
      }
    }
    return answer
  }

  /// The pause that `Retry-After` requires. Without that header, the pause is the time from the answer's `Date` to
  /// `X-Rate-Limit-Reset`.
  private static func pauseSeconds(_ response: HTTPResponse) -> Int64 {
    if let seconds = RetryAfter.seconds(of: response) { return min(seconds, longestPauseSeconds) }
    guard let reset = response.header("X-Rate-Limit-Reset").flatMap({ Int64($0) }),
      let date = response.header("Date").flatMap({ HTTPDate.parse($0) })
    else { return 1 }
    return min(max(UnixTime(seconds: reset).since(date), 1), longestPauseSeconds)
  }

  /// The text as one encoded path segment; nil for a text that would change the path.
  static func segment(_ text: String) -> String? {
    guard (1...255).contains(text.utf8.count), !ASCII.equals(text, "."), !ASCII.equals(text, "..") else {
      return nil
    }
    return PercentEncoding.encode(text)
  }
}

extension DirectoryFailure {
  /// The failure of a request without a complete answer.
  init(_ error: EnrollError) {
    switch error.code {
    case .network, .timeout, .tls, .busy, .server, .outOfMemory: self = .unavailable(error.message)
    case .oauth, .rejected: self = .refused(error.message)
    default: self = .fault(error.message)
    }
  }
}
