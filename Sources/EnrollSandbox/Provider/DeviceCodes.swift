// Device codes and the rules for them (RFC 8628 §3.2-§3.5): they expire soon, clients may poll with them only at the
// agreed interval, and they can be redeemed only once. The functions are pure: time and fresh random texts are
// arguments.

/// A request of a device, and the user's decision about it.
struct DeviceRequest: Codable, Sendable {
  enum Decision: Codable, Sendable {
    case none, denied
    case allowed(UserGrant)
  }

  let userCode: String
  let clientID: String
  let scopes: [String]
  let expiresAt: Int64
  var intervalSeconds: Int64
  /// A poll before this time is too fast.
  var nextPollAt: Int64
  var decision = Decision.none
}

struct DeviceCodes: Codable, Sendable {
  private(set) var requests: [String: DeviceRequest] = [:]

  static let limit = 1000

  /// - Returns: false if too many requests wait already; the request is then not added.
  mutating func add(_ request: DeviceRequest, as deviceCode: String, now: Int64) -> Bool {
    requests = requests.filter { now - $0.value.expiresAt < 600 }
    guard requests.count < Self.limit else { return false }
    requests[deviceCode] = request
    return true
  }

  /// The device code that belongs to a user code. The user may type the user code in upper or lower case, with or
  /// without the hyphen.
  func deviceCode(userCode typed: String, now: Int64) -> String? {
    let wanted = Self.plain(typed)
    return requests.first { _, request in
      guard case .none = request.decision, now < request.expiresAt else { return false }
      return Self.plain(request.userCode) == wanted
    }?.key
  }

  mutating func decide(_ deviceCode: String, _ decision: DeviceRequest.Decision) {
    requests[deviceCode]?.decision = decision
  }

  /// Handles one poll.
  /// - Returns: the grant that the user allowed; the code is then used up.
  mutating func poll(_ deviceCode: String, clientID: String, now: Int64) throws(OAuthRefusal) -> UserGrant {
    guard var request = requests[deviceCode] else { throw .invalidGrant("the device code is not known") }
    guard request.clientID == clientID else { throw .invalidGrant("the device code is another client's") }
    guard now < request.expiresAt else { throw OAuthRefusal("expired_token", "the device code expired") }
    let isTooFast = now < request.nextPollAt
    if isTooFast { request.intervalSeconds += 5 }
    request.nextPollAt = now + request.intervalSeconds
    requests[deviceCode] = request
    if isTooFast { throw OAuthRefusal("slow_down", "poll every \(request.intervalSeconds) seconds") }
    switch request.decision {
    case .none: throw OAuthRefusal("authorization_pending", "the user is not done")
    case .denied:
      requests[deviceCode] = nil
      throw OAuthRefusal("access_denied", "the user said no")
    case .allowed(let grant):
      requests[deviceCode] = nil
      return grant
    }
  }

  /// A user code that is easy to type: no vowels, and no letters that look like others (RFC 8628 §6.1).
  static func newUserCode() -> String {
    var generator = SystemRandomNumberGenerator()
    let letters = Array("BCDFGHJKLMNPQRSTVWXZ")
    let code = (0..<8).map { _ in letters[Int.random(in: letters.indices, using: &generator)] }
    return String(code[..<4]) + "-" + String(code[4...])
  }

  private static func plain(_ code: String) -> String {
    code.uppercased().filter { $0.isASCII && $0.isLetter }
  }
}
