// The test-control side as Swift: what a test in the same process says to its sandbox. `ControlEndpoint` says the
// same over HTTP.

import Foundation

/// A session of a client, as tests see it.
public struct SandboxSession: Sendable, Equatable {
  public var id: String
  public var user: String
  public var clientID: String
  public var scopes: [String]
  /// How often the refresh token was replaced, counting the first; 0: there is none.
  public var generation: Int
  /// `reuse`, `codeReuse`, `revoked`, `signedOut`, `ended`; nil while it lives.
  public var end: String?
}

/// A message with a code or a link that would have been sent, by e-mail or SMS.
public struct SandboxMessage: Sendable, Equatable {
  public var to: String
  public var text: String
  public var code: String?
  public var link: String?
}

/// An e-mail that would have been sent.
public struct SandboxMail: Sendable, Equatable {
  public var to: String
  public var subject: String
  public var text: String
  public var link: String?
}

/// A control request that cannot be done, and why.
public struct ControlError: Error, Equatable, Sendable, CustomStringConvertible {
  public var description: String
  init(_ description: String) { self.description = description }
}

extension Provider {
  /// Plans a fault after those planned before.
  public func add(_ fault: Fault) { plan.add(fault) }

  public func clearFaults() { plan.clear() }

  /// Faults that have not struck yet as often as planned.
  public var plannedFaults: [Fault] { plan.faults }

  /// Makes new keys, which sign from now on.
  /// - Parameter keepsOld: whether the set still shows the old ones, so that older id_tokens can be checked.
  public func rotateKeys(keepsOld: Bool = true) throws { try keys.rotate(keepsOld: keepsOld) }

  /// Requests that came to an endpoint, struck ones included.
  public func count(_ endpoint: Endpoint) -> Int { counts[endpoint, default: 0] }

  /// Refreshes that came to the token endpoint since the start or ``resetCounts()``.
  public var refreshCount: Int {
    log.count { $0.endpoint == .token && $0.parameters.contains("grant_type=refresh_token") }
  }

  /// Forgets the counters and the request log.
  public func resetCounts() {
    counts = [:]
    log = []
    messages = []
  }

  /// Lines of the request log, oldest first.
  public var requestLog: [String] { log.map(\.line) }

  /// Sessions, oldest first.
  public var sessions: [SandboxSession] {
    grants.families.values.sorted { $0.number < $1.number }.map { family in
      SandboxSession(
        id: family.id, user: family.grant.userName, clientID: family.grant.clientID,
        scopes: family.grant.scopes, generation: family.generation, end: family.end?.rawValue)
    }
  }

  /// The messages that the host's back end received, oldest first.
  public var receivedMessages: [ReceivedMessage] { messages }

  /// Makes a user unknown to the host's back end, or known again.
  public func setKnown(_ isKnown: Bool, user name: String) {
    if isKnown { unknownUsers.remove(name) } else { unknownUsers.insert(name) }
  }

  /// The user follows the link in an e-mail: the address is verified from now on.
  /// - Throws: when nobody has that name.
  public func verifyEmail(of name: String) throws {
    guard let index = users.firstIndex(where: { $0.name == name }) else {
      throw ControlError("there is no user \(name)")
    }
    users[index].emailVerified = true
  }

  /// Ends every session of every client, as an administrator would: refreshes get `invalid_grant`.
  public func endSessions() { grants.finishAll(sessionID: nil, .ended) }

  /// Signs every browser out; tokens stay.
  public func signOutBrowsers() { signedIn = [:] }

  /// Accounts at the back end, oldest first.
  public var bffAccounts: [BFFAccount] { bff.accounts }

  /// Sets the final answer of another app's gateway: `tokens`, `withoutIDToken` or `refreshTokenOnly`.
  /// - Throws: for any other word.
  public func answerOtherApp(with name: String) throws {
    guard let answer = OtherAppSessions.Answer(rawValue: name) else {
      let known = OtherAppSessions.Answer.allCases.map(\.rawValue).joined(separator: ", ")
      throw ControlError("`answer` must be one of: \(known)")
    }
    otherApp.answer = answer
  }

  /// Sets the names of the fields of another app's gateway.
  public func nameOtherAppFields(sessionID: String, link: String, artefactID: String) {
    otherApp.fields = .init(sessionID: sessionID, link: link, artefactID: artefactID)
  }

  /// The inbox, oldest first.
  public var mails: [SandboxMail] {
    gateway.mails.map { SandboxMail(to: $0.to, subject: $0.subject, text: $0.text, link: $0.link) }
  }

  /// A mail scanner opens every link and presses every button: all links are used up.
  public func scanMails() { gateway.burnLinks() }

  /// Messages of passwordless sign-ins, oldest first.
  public var passwordlessMessages: [SandboxMessage] { passwordless.messages.map(\.content) }

  /// Moves the sandbox's clock. Tokens expire, `Date` and `iat` move along.
  public func advanceClock(seconds: Int64) {
    let limit = Self.integerLimit
    clockShiftSeconds = min(max(clockShiftSeconds + min(max(seconds, -limit), limit), -limit), limit)
  }

  /// Signs a user in without pages: what a browser would be redirected to after everything was allowed.
  /// - Parameter error: an OAuth error code to answer with instead.
  /// - Throws: when the URL is not an authorize request of this sandbox that may be redirected, or nobody has that name.
  public func settle(authorizeURL: String, user name: String = "alice", error: String? = nil) throws -> String
  {
    guard let parts = URLComponents(string: authorizeURL), parts.path == Endpoint.authorize.path,
      authorizeURL.hasPrefix(issuer + "/"), let form = Form(encoded: parts.percentEncodedQuery ?? "")
    else { throw ControlError("not an authorize URL of this sandbox") }
    guard let user = user(name) else { throw ControlError("there is no user \(name)") }
    counts[.authorize, default: 0] += 1
    let effects = plan.strike(.authorize)
    let answer: SandboxAnswer
    do {
      let request = try authorizationRequest(form)
      let session = SignedIn(
        userName: user.name, authTime: now, contextClass: .twoFactors, sessionID: Encoding.randomToken())
      if let error {
        answer = refuse(
          OAuthRefusal(error, "planned by the test"), redirectURI: request.redirectURI, state: request.state,
          effects: effects)
      } else {
        answer = grant(request, to: session, effects: effects)
      }
    } catch .redirect(let uri, let state, let refusal) {
      answer = refuse(refusal, redirectURI: uri, state: state, effects: effects)
    } catch .page(let reason) {
      throw ControlError(reason)
    }
    guard let location = answer.header("Location") else { throw ControlError("no redirect came of it") }
    return location
  }
}
