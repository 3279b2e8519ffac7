// The tokens of a bridge, from the store that all bridges and commands of the user share. Renewals run in separate
// processes, so no renewal is lost if the bridge is killed.

import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollMCP
import EnrollPosix
import EnrollRules
import EnrollSteps

/// The answer to a request for a token.
enum TokenAnswer {
  case token(AccessToken)
  /// Nobody is signed in.
  /// - Parameters:
  ///   - ended: why a session ended; nil if there was no session.
  ///   - isForgotten: whether the server has forgotten the client.
  case none(ended: String?, isForgotten: Bool)
  /// The same call may succeed later.
  case later(EnrollError, seconds: Int64)
  case refused(ErrorAnswer)
}

/// Results of calls that other threads have finished.
final class TokenMailbox: Sendable {
  private let results = Guarded<[(ticket: Int, result: Result<AccessOutcome, EnrollError>)]>([], by: Mutex())
  let event: EventDescriptor

  init(_ event: EventDescriptor) { self.event = event }

  func put(_ ticket: Int, _ result: Result<AccessOutcome, EnrollError>) {
    results.withLock { $0.append((ticket, result)) }
    event.wake()
  }

  func takeAll() -> [(ticket: Int, result: Result<AccessOutcome, EnrollError>)] {
    results.withLock { results in
      defer { results = [] }
      return results
    }
  }
}

/// The account's client, and the calls that wait for a token.
final class BridgeTokens {
  private let session: CommandSession
  private let resource: String
  private let mailbox: TokenMailbox
  private var client: Client?
  /// The configuration with which the client was opened.
  private var opened: ConfigurationDocument?
  private var waiting: [(ticket: Int, exchange: Exchange, refused: Secret?)] = []
  private var lastTicket = 0

  init(_ session: CommandSession, resource: String) throws(EnrollError) {
    self.session = session
    self.resource = resource
    mailbox = TokenMailbox(try EventDescriptor())
  }

  /// A descriptor that is readable when a call has ended.
  var descriptor: Int32 { mailbox.event.descriptor }

  /// Opens the account, if there is an account. Opens the account again if another process has saved a profile with
  /// another client, because the session then belongs to that client.
  /// - Throws: for a store or a profile that cannot be used.
  func open() throws(Failure) {
    if let opened, let saved = savedProfile, !saved.hasSameClient(as: opened) { close() }
    guard client == nil, try session.place.hasConfiguration(), try session.place.hasStore() else { return }
    let document = try session.place.configuration()
    guard ResourceProfile.serves(document, resource) else {
      throw Failure(
        .usage,
        "\(session.place.configurationName) is for \(document.resource.map { Shown.text($0) } ?? "no resource"), not \(Shown.text(resource))",
        advice: "Leave out --profile and --config: enroll finds the resource's own profile.")
    }
    do throws(Failure) {
      client = try session.runningHere { () throws(Failure) in
        let client = try session.open(document)
        do throws(Failure) { _ = try session.read(client) } catch {
          session.close(client)
          throw error
        }
        return client
      }
      opened = document
    } catch {
      guard error.ending != .signInNeeded else { return }
      throw error
    }
  }

  /// Opens the account again, after a sign-in that may have saved another profile.
  func reopen() {
    close()
    _ = try? open()
  }

  private func close() {
    if let client { session.close(client) }
    (client, opened) = (nil, nil)
  }

  /// The profile as it is now; nil if the user named the configuration's file, which may be a pipe.
  private var savedProfile: ConfigurationDocument? {
    guard session.place.configurationName != session.place.configurationPath else { return nil }
    return try? session.place.configuration()
  }

  /// Ends every wait. Renewals continue in their processes.
  func abandon() { client?.cancelLastRequests() }

  /// The access token in the store, even if it has expired.
  var storedToken: Secret? {
    guard let client else { return nil }
    return (try? session.runningHere { () throws(Failure) in try session.read(client) })?.accessToken
  }

  /// The user (`sub`) who is signed in; nil if no user is signed in.
  var storedUser: String? {
    guard let client else { return nil }
    return (try? session.runningHere { () throws(Failure) in try session.read(client) })?.profile?["sub"]?
      .string
  }

  // MARK: Calls

  /// Requests a token for the exchange.
  /// - Parameter refused: the token that the server refused with 401.
  /// - Returns: nil if the call continues; ``takeAnswers()`` returns its answer later.
  func request(for exchange: Exchange, refused: Secret? = nil, seconds: Int64) -> TokenAnswer? {
    do throws(Failure) { try open() } catch { return Self.answer(error) }
    guard let client else { return .none(ended: nil, isForgotten: false) }
    lastTicket += 1
    let ticket = lastTicket
    let deadline = client.deadline(afterSeconds: max(1, seconds))
    let done: @Sendable (Result<AccessOutcome, EnrollError>) -> Void = { [mailbox] in mailbox.put(ticket, $0)
    }
    if let refused {
      client.rejected(refused, until: deadline, cancellation: nil, completion: done)
    } else {
      client.access(minimumLifetimeSeconds: 0, until: deadline, cancellation: nil, completion: done)
    }
    waiting.append((ticket, exchange, refused))
    // If the token is not due for renewal, the completion has already run.
    return takeAnswers(only: exchange).first?.answer
  }

  /// The answers of the calls that have ended since the last call of this function.
  func takeAnswers(only wanted: Exchange? = nil) -> [(exchange: Exchange, answer: TokenAnswer)] {
    mailbox.event.drain()
    var answers: [(exchange: Exchange, answer: TokenAnswer)] = []
    for (ticket, result) in mailbox.takeAll() {
      guard let index = waiting.firstIndex(where: { $0.ticket == ticket }) else { continue }
      if let wanted, waiting[index].exchange !== wanted {
        mailbox.put(ticket, result)
        continue
      }
      let (_, exchange, refused) = waiting.remove(at: index)
      answers.append((exchange, Self.answer(result, refused: refused)))
    }
    return answers
  }

  func forget(_ exchange: Exchange) { waiting.removeAll { $0.exchange === exchange } }

  /// Whether each request needs a proof of the token's key (RFC 9449).
  static func isBound(_ token: AccessToken) -> Bool { ASCII.equalsIgnoringCase(token.tokenType, "DPoP") }

  /// The headers with which a request carries the token.
  /// - Parameter nonce: the last nonce that the server has sent.
  func headers(
    _ token: AccessToken, for method: HTTPRequest.Method, _ url: String, nonce: String?
  ) throws(EnrollError) -> [HTTPHeader] {
    guard Self.isBound(token) else {
      return [HTTPHeader("Authorization", "Bearer " + token.value.reveal())]
    }
    guard let client else { throw EnrollError(.illegalState, "the key of the token is not open") }
    let proof = try client.dpopProof(
      method: method.rawValue, url: url, nonce: nonce, accessToken: token.value)
    return [HTTPHeader("Authorization", "DPoP " + token.value.reveal()), HTTPHeader("DPoP", proof)]
  }

  // MARK: Outcomes

  private static func answer(
    _ result: Result<AccessOutcome, EnrollError>, refused: Secret?
  ) -> TokenAnswer {
    switch result {
    case .success(.stale(let token, let reason)) where token.value == refused:
      // In this case the renewal failed, and the token is the one that the resource server refused.
      if isForgotten(reason) { return .none(ended: reason.message, isForgotten: true) }
      return answer(Failure(reason))
    case .success(let outcome): return answer(outcome)
    case .failure(let error):
      guard error.code != .illegalState else { return .none(ended: nil, isForgotten: false) }
      // The call was cancelled, because a sign-in has replaced the client.
      if error.code == .handle || error.code == .cancelled { return .later(error, seconds: 1) }
      return answer(Failure(error))
    }
  }

  private static func answer(_ outcome: AccessOutcome) -> TokenAnswer {
    switch outcome {
    case .valid(let token), .stale(let token, _):
      guard isBound(token) || ASCII.equalsIgnoringCase(token.tokenType, "Bearer") else {
        return .refused(
          ErrorAnswer(
            .refused, "The token has a type that the bridge cannot send: \(Shown.text(token.tokenType))."))
      }
      return .token(token)
    case .expired(_, let seconds, let reason): return .later(reason, seconds: seconds ?? 2)
    case .rejected(let reason):
      guard !isForgotten(reason) else { return .none(ended: reason.message, isForgotten: true) }
      return .refused(ErrorAnswer(.refused, Shown.message(reason.message)))
    case .reauthenticate(let reason, _): return .none(ended: reason, isForgotten: reason == "invalid_client")
    case .storeLocked:
      return .refused(
        ErrorAnswer(.storeLocked, "The store with the tokens is locked: unlock the keyring, then try again."))
    case .busy:
      return .later(EnrollError(.busy, "another process renews the token and has not finished"), seconds: 1)
    }
  }

  private static func isForgotten(_ reason: EnrollError) -> Bool {
    reason.field == EnrollError.registrationField || reason.oauthError == "invalid_client"
  }

  private static func answer(_ failure: Failure) -> TokenAnswer {
    let message = Shown.message(failure.message)
    switch failure.ending {
    case .signInNeeded: return .none(ended: nil, isForgotten: false)
    case .unreachable, .busy:
      let error = failure.error ?? EnrollError(.network, failure.message)
      return .later(error, seconds: error.retryAfterSeconds ?? 2)
    case .storeLocked: return .refused(ErrorAnswer(.storeLocked, "The store is locked: \(message)"))
    case .storeUnusable:
      return .refused(
        ErrorAnswer(.storeRefused, "The store cannot be used: \(message)", command: "enroll doctor"))
    case .done, .failed, .usage, .refused, .notFinished, .interrupted:
      return .refused(ErrorAnswer(.refused, message))
    }
  }
}
