// The gateway of a registration by e-mail link (flows.md §3, §4): it registers users by e-mail, in place of the
// provider's own pages, and then sends the browser back to the provider. The functions are pure: time and fresh random
// texts are arguments.

import Foundation

/// The behaviour of the gateway.
public struct GatewayOptions: Sendable {
  /// Whether the gateway is used. If so, the script of the hosted login page redirects the browser to the gateway when
  /// the user has to sign in.
  public var isUsed = false
  /// Whether the login page's script can read `fromURI`. If not, the gateway uses the app's fallback URI.
  public var readsFromURI = true
  /// The link in the e-mails, which contains `{activationToken}`; nil for this gateway's own welcome page.
  public var activationLink: String?
  /// How many seconds the link of an e-mail is valid.
  public var activationLifetimeSeconds: Int64 = 86_400

  public init() {}
}

/// The gateway's data.
struct SandboxGateway: Sendable {
  /// The status of a user, with the provider's names.
  enum Status: String, Codable, Sendable {
    case staged = "STAGED", provisioned = "PROVISIONED", active = "ACTIVE"
  }

  struct Account: Codable, Sendable {
    var status: Status
    /// Every status that the user has had, including the current status.
    var history: [Status]
    var userName: String?

    mutating func become(_ next: Status) {
      status = next
      history.append(next)
    }
  }

  struct Activation: Codable, Sendable {
    var email: String
    /// The app for which the registration began.
    var clientID: String
    var expiresAt: Int64
    var isUsed = false
  }

  struct Mail: Sendable {
    var to: String
    var subject: String
    var text: String
    var link: String?
    var at: Int64
  }

  /// The gateway's own code flow at the provider, which creates a session in the browser.
  struct Login: Sendable {
    var verifier: String
    /// The key of the authorization request that continues; nil if the browser returns to the client's fallback URI.
    var key: String?
    var clientID: String
    var begunAt: Int64
  }

  struct SessionToken: Sendable {
    var userName: String
    var expiresAt: Int64
  }

  static let path = "/oauth/authorization-code/callback"
  static let clientID = "gateway"
  static let mailLimit = 200

  var settings: GatewayOptions
  /// The accounts, by e-mail address.
  var accounts: [String: Account] = [:]
  /// The activations of accounts, by the token in the e-mail's link.
  var activations: [String: Activation] = [:]
  var mails: [Mail] = []
  /// The gateway's own code flows at the provider, by their `state`.
  var logins: [String: Login] = [:]
  var sessionTokens: [String: SessionToken] = [:]
  /// Authorization requests that wait for a session, by `okta_key`.
  var waiting: [String: Interaction] = [:]
}

extension SandboxGateway {

  /// Registers an address: the user's status becomes STAGED and then PROVISIONED, and an e-mail with a token is sent. A
  /// user who has not set a password gets another token. A user who already has an account gets an e-mail that says so.
  /// The page is the same in all cases.
  mutating func register(
    _ email: String, clientID: String, isTaken: Bool, token: String, issuer: String, now: Int64
  ) {
    if isTaken || accounts[email]?.status == .active {
      send(
        Mail(
          to: email, subject: "You have an account already",
          text: "Somebody, probably you, wanted to register this address. You can simply sign in.", at: now))
      return
    }
    var account = accounts[email] ?? Account(status: .staged, history: [.staged])
    if account.status == .staged { account.become(.provisioned) }
    accounts[email] = account
    // Only the newest link is valid.
    for (old, activation) in activations where activation.email == email { activations[old]?.isUsed = true }
    activations[token] = Activation(
      email: email, clientID: clientID, expiresAt: now + settings.activationLifetimeSeconds)
    let template = settings.activationLink ?? issuer + Endpoint.welcome.path(with: "{activationToken}")
    send(
      Mail(
        to: email, subject: "Activate your account",
        text: "Open this link to choose a password. It works once.",
        link: template.replacingOccurrences(of: "{activationToken}", with: token), at: now))
  }

  private mutating func send(_ mail: Mail) {
    if mails.count >= Self.mailLimit { mails.removeFirst() }
    mails.append(mail)
  }

  /// The reason why a token is invalid; nil if the token is valid.
  func problem(with token: String, now: Int64) -> String? {
    guard let activation = activations[token] else { return "This link is not known here." }
    if activation.isUsed { return "This link was used before, perhaps in another browser." }
    if now > activation.expiresAt { return "This link is too old." }
    return nil
  }

  /// Changes the user's status from PROVISIONED to ACTIVE.
  mutating func activate(_ token: String, as user: User) {
    guard let email = activations[token]?.email else { return }
    activations[token]?.isUsed = true
    accounts[email]?.become(.active)
    accounts[email]?.userName = user.name
  }

  /// Acts like a mail scanner that presses every button: the links are used up, and no user is signed in.
  mutating func burnLinks() {
    for token in activations.keys { activations[token]?.isUsed = true }
  }

  mutating func forgetOld(before deadline: Int64) {
    waiting = waiting.filter { $0.value.begunAt >= deadline }
    logins = logins.filter { $0.value.begunAt >= deadline }
    sessionTokens = sessionTokens.filter { $0.value.expiresAt >= deadline }
  }
}
