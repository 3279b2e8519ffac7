// One-time codes and links, and the rules for them: only the newest code or link is valid, only for a few minutes, and
// only a few wrong tries are allowed. Pure: time and fresh random texts are arguments.

struct Passwordless: Codable, Sendable {
  struct Code: Codable, Sendable {
    var code: String
    var clientID: String
    var expiresAt: Int64
    var wrongTries = 0
  }

  struct Link: Sendable {
    var address: String
    var request: CheckedAuthorization
    var expiresAt: Int64
  }

  /// A message for the inbox.
  struct Message: Sendable {
    var content: SandboxMessage
    var isEmail: Bool
    var at: Int64
  }

  static let codeLifetimeSeconds: Int64 = 180
  static let linkLifetimeSeconds: Int64 = 600
  static let maximumTries = 3
  static let messageLimit = 200

  /// Links and messages are not in the saved data.
  private enum CodingKeys: String, CodingKey { case codes }

  /// The codes, by address or number.
  private var codes: [String: Code] = [:]
  /// The links, by the ticket that each link contains.
  private var links: [String: Link] = [:]
  private(set) var messages: [Message] = []

  /// Sends a code, which replaces an older code.
  mutating func sendCode(to address: String, realm: String, clientID: String, now: Int64) {
    var generator = SystemRandomNumberGenerator()
    let digits = String(Int.random(in: 1_000_000...1_999_999, using: &generator)).dropFirst()
    codes[realm + ":" + address] = Code(
      code: String(digits), clientID: clientID, expiresAt: now + Self.codeLifetimeSeconds)
    keep(
      SandboxMessage(
        to: address, text: "Your code is \(digits). It works for three minutes.", code: String(digits)),
      isEmail: realm == "email", now)
  }

  mutating func sendLink(
    to address: String, request: CheckedAuthorization, ticket: String, at page: String, now: Int64
  ) {
    links = links.filter { $0.value.expiresAt > now && $0.value.address != address }
    links[ticket] = Link(
      address: address, request: request, expiresAt: now + Self.linkLifetimeSeconds)
    keep(
      SandboxMessage(
        to: address, text: "Open this link to sign in. It works once.", link: "\(page)?ticket=\(ticket)"),
      isEmail: true, now)
  }

  /// Redeems a code, which cannot be used again after that.
  mutating func redeem(
    _ typed: String, of address: String, realm: String, clientID: String, now: Int64
  ) throws(OAuthRefusal) {
    let key = realm + ":" + address
    guard var code = codes[key], code.clientID == clientID, now < code.expiresAt else {
      throw OAuthRefusal("invalid_grant", "wrong address or code", status: 403)
    }
    guard code.code.utf8.elementsEqual(typed.utf8) else {
      code.wrongTries += 1
      codes[key] = code.wrongTries < Self.maximumTries ? code : nil
      guard code.wrongTries < Self.maximumTries else {
        throw OAuthRefusal(
          "too_many_attempts", "\(code.wrongTries) wrong codes: ask for another", status: 403)
      }
      throw OAuthRefusal("invalid_grant", "wrong address or code", status: 403)
    }
    codes[key] = nil
  }

  func link(_ ticket: String?, now: Int64) -> Link? {
    ticket.flatMap { links[$0] }.flatMap { now < $0.expiresAt ? $0 : nil }
  }

  mutating func useUp(_ ticket: String) { links[ticket] = nil }

  private mutating func keep(_ content: SandboxMessage, isEmail: Bool, _ now: Int64) {
    if messages.count >= Self.messageLimit { messages.removeFirst() }
    messages.append(Message(content: content, isEmail: isEmail, at: now))
  }
}
