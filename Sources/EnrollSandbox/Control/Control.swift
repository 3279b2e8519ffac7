// The sandbox's controls as Swift methods, for a test in the same process. `ControlEndpoint` offers the same controls
// over HTTP.

import Foundation

/// A session of a client, for tests.
public struct SandboxSession: Sendable, Equatable {
  public var id: String
  public var user: String
  public var clientID: String
  public var scopes: [String]
  /// The number of refresh tokens that the session has had so far; 0 if it never had a refresh token.
  public var generation: Int
  /// The reason why the session ended: `reuse`, `codeReuse`, `revoked`, `signedOut`, `ended`; nil while the session is
  /// live.
  public var end: String?
}

/// A message with a code or a link that a real provider would send, by e-mail or SMS.
public struct SandboxMessage: Sendable, Equatable {
  public var to: String
  public var text: String
  public var code: String?
  public var link: String?
}

/// An e-mail that a real gateway would send.
public struct SandboxMail: Sendable, Equatable {
  public var to: String
  public var subject: String
  public var text: String
  public var link: String?
}

/// The reason why a control request failed.
public struct ControlError: Error, Equatable, Sendable, CustomStringConvertible {
  public var description: String
  init(_ description: String) { self.description = description }
}

extension Provider {
  /// Appends a fault to the plan: it takes effect after the faults that were planned before.
  public func add(_ fault: Fault) { plan.add(fault) }

  public func clearFaults() { plan.clear() }

  /// The planned faults that have not yet affected all of their requests.
  public var plannedFaults: [Fault] { plan.faults }

  /// Generates new keys, which sign from now on.
  /// - Parameter keepsOld: whether the key set still contains the old keys, so that older id_tokens can be verified.
  public func rotateKeys(keepsOld: Bool = true) throws { try keys.rotate(keepsOld: keepsOld) }

  /// The number of requests that an endpoint has received, including requests that a fault affected.
  public func count(_ endpoint: Endpoint) -> Int { counts[endpoint, default: 0] }

  /// The number of refresh requests that the token endpoint has received since the start or ``resetCounts()``.
  public var refreshCount: Int {
    log.count { $0.endpoint == .token && $0.parameters.contains("grant_type=refresh_token") }
  }

  /// Clears the counters, the request log and the list of messages that the host's back end received.
  public func resetCounts() {
    counts = [:]
    log = []
    messages = []
  }

  /// The lines of the request log, oldest first.
  public var requestLog: [String] { log.map(\.line) }

  /// The sessions, oldest first.
  public var sessions: [SandboxSession] {
    grants.families.values.sorted { $0.number < $1.number }.map { family in
      SandboxSession(
        id: family.id, user: family.grant.userName, clientID: family.grant.clientID,
        scopes: family.grant.scopes, generation: family.generation, end: family.end?.rawValue)
    }
  }

  /// The messages that the host's back end received, oldest first.
  public var receivedMessages: [ReceivedMessage] { messages }

  /// Sets whether the host's back end knows a user.
  public func setKnown(_ isKnown: Bool, user name: String) {
    if isKnown { unknownUsers.remove(name) } else { unknownUsers.insert(name) }
  }

  /// Has the effect of a user's click on the link in an e-mail: from now on the user's address is verified.
  /// - Throws: if no user has the name.
  public func verifyEmail(of name: String) throws {
    guard let index = users.firstIndex(where: { $0.name == name }) else {
      throw ControlError("there is no user \(name)")
    }
    users[index].emailVerified = true
  }

  /// Ends every session of every client, as an administrator would. After that, refresh requests fail with
  /// `invalid_grant`.
  public func endSessions() { grants.finishAll(sessionID: nil, .ended) }

  /// Signs the user out in every browser; tokens stay valid.
  public func signOutBrowsers() { signedIn = [:] }

  /// Sets the final answer of another app's gateway: `tokens`, `withoutIDToken` or `refreshTokenOnly`.
  /// - Throws: for any other name.
  public func answerOtherApp(with name: String) throws {
    guard let answer = OtherAppSessions.Answer(rawValue: name) else {
      let known = OtherAppSessions.Answer.allCases.map(\.rawValue).joined(separator: ", ")
      throw ControlError("`answer` must be one of: \(known)")
    }
    otherApp.answer = answer
  }

  /// Sets the names of the fields that another app's gateway uses.
  public func nameOtherAppFields(sessionID: String, link: String, artefactID: String) {
    otherApp.fields = .init(sessionID: sessionID, link: link, artefactID: artefactID)
  }

  /// The e-mails in the inbox, oldest first.
  public var mails: [SandboxMail] {
    gateway.mails.map { SandboxMail(to: $0.to, subject: $0.subject, text: $0.text, link: $0.link) }
  }

  /// Acts like a mail scanner that opens every link and presses every button: all links are used up.
  public func scanMails() { gateway.burnLinks() }

  /// The messages of passwordless sign-ins, oldest first.
  public var passwordlessMessages: [SandboxMessage] { passwordless.messages.map(\.content) }

  /// Moves the sandbox's clock. This makes tokens expire; the times in `Date` and `iat` change as well.
  public func advanceClock(seconds: Int64) {
    let limit = Self.integerLimit
    clockShiftSeconds = min(max(clockShiftSeconds + min(max(seconds, -limit), limit), -limit), limit)
  }

  /// Signs a user in without pages, and returns the URL to which a browser would be redirected after the user allowed
  /// everything.
  /// - Parameter error: an OAuth error code, which the redirect then reports instead of a code.
  /// - Throws: if the URL is not an authorization request of this sandbox that can be answered with a redirect, or no user has
  ///   the name.
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
      let session = BrowserSession(
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
