// The work of `enroll doctor`: it checks the configuration, the store, the keys, the provider, the clock and the
// browser, and collects the findings.

import EnrollSteps
import CPosix
import EnrollCommands
import EnrollRules
import EnrollHost
import EnrollJSON
import EnrollStore

struct Examination {
  /// A placeholder for the client id, if the user names only a provider. No request sends the placeholder, because
  /// nothing is pushed.
  static let anyClient = "enroll-doctor"

  private(set) var findings: [Finding] = []
  /// The state of the store as JSON; null if it could not be examined.
  private(set) var store: JSON = .null
  /// The facts of a client in memory that began a sign-in; nil if it could not be opened.
  private(set) var facts: ClientFacts?

  /// - Parameters:
  ///   - named: the provider from the command line, which takes precedence over the profile.
  ///   - options: options whose keys change the configuration that is checked.
  init(_ session: CommandSession, named: ProviderSetup?, options: ProviderArguments) throws(Failure) {
    let attempt = LastAttempt(about: session.place.configurationPath)
    let configuration = examineConfiguration(session, named, attempt, options)
    try examineStore(session, isConfigured: configuration != nil)
    // If something is wrong, the account is not read, because reading sets a damaged record aside.
    if named == nil, !findings.contains(where: { $0.verdict == .bad }), let configuration,
      let finding = Self.endedSession(session, configuration)
    {
      findings.append(finding)
    }
    if let configuration { try examineProvider(configuration, session) }
    let hasDevices = facts?.hasDeviceGrant ?? false
    if let configuration {
      findings += Finding.redirect(configuration, hasDevices: hasDevices, isGiven: named != nil)
    }
    if named == nil, let attempt { findings.append(.attempt(attempt, now: session.now)) }
    findings.append(.browser(Browser(), hasDevices: hasDevices))
  }

  private static func hasClient(_ named: ProviderSetup) -> Bool { named.clientID != anyClient }

  private mutating func examineConfiguration(
    _ session: CommandSession, _ named: ProviderSetup?, _ attempt: LastAttempt?,
    _ options: ProviderArguments
  ) -> ConfigurationDocument? {
    do throws(Failure) {
      var place = session.place.configurationPath
      let document: ConfigurationDocument
      var advice: Advice?
      if let named {
        place = "as given here"
        document = Self.hasClient(named) ? named.configuration : named.withoutClient
      } else if let attempted = attempt?.configuration, try !session.place.hasConfiguration() {
        (place, document) = (
          "none at \(place) yet; the last attempt's", options.applied(to: attempted)
        )
      } else {
        document = options.applied(to: try session.configuration())
        advice = session.place.advice
      }
      let configuration: Configuration
      do throws(EnrollError) {
        configuration = try document.checked()
      } catch {
        throw Failure(error, advice: named.map { ProviderSetup.advice(error, of: $0) } ?? advice)
      }
      let client = named.map { !Self.hasClient($0) } ?? false ? "" : "client \(configuration.clientID) of "
      findings.append(Finding("configuration", .good, "\(place): \(client)\(configuration.issuer)"))
      return document
    } catch {
      findings.append(Finding("configuration", .bad, error.message, advice: error.advice))
      return nil
    }
  }

  /// The finding about a session that has ended; nil if the session works, or if no user is signed in. If the account
  /// cannot be read, the finding about the store says so.
  private static func endedSession(
    _ session: CommandSession, _ configuration: ConfigurationDocument
  ) -> Finding? {
    do throws(Failure) {
      guard try session.place.hasStore() else { return nil }
      let client = try session.open(configuration, asksPIN: false)
      defer { session.close(client) }
      // The state is read only if the session may have ended, because reading it may continue a sign-in that has
      // begun.
      guard try session.read(client).renews == false,
        case .renewalFailed(let failure) = try session.state(client, within: 15),
        failure.remedy == .registerAgain
      else { return nil }
      return Finding(
        "session", .bad, "it has ended: \(failure.error.message)", advice: CommandStatus.signInNeeded.advice)
    } catch {
      return nil
    }
  }

  private mutating func examineStore(
    _ session: CommandSession, isConfigured: Bool
  ) throws(Failure) {
    let found: StoreDiagnosis?
    do throws(Failure) {
      found = try session.storeDiagnosis(saying: "Looking at the store")
    } catch {
      guard error.ending != .interrupted else { throw error }
      findings.append(Finding("store", .bad, error.message))
      return
    }
    store = StoreDiagnosis.json(found, of: session.place.store)
    findings += Finding.store(
      found, at: session.place.store, user: getuid(), isConfigured: isConfigured,
      missingParent: session.place.missingStoreParent)
    if let finding = Finding.key(found) { findings.append(finding) }
    if let finding = Finding.keyring(in: found) { findings.append(finding) }
  }

  /// Begins a sign-in in memory and cancels it: it fetches the discovery document, pushes a request if that is
  /// supported, and opens the redirect's port. It touches no session and no store.
  private mutating func examineProvider(
    _ configuration: ConfigurationDocument, _ session: CommandSession
  ) throws(Failure) {
    var announcements: [Finding] = []
    // The advice about the failure that ends the examination.
    var advice: Advice?
    do throws(Failure) {
      let client = try session.openInMemory(configuration)
      var refusal: Failure?
      // Whether the provider checked the client id and the redirect URI (RFC 9126).
      var isPushed = false
      do throws(Failure) {
        let begun = try session.run(saying: "Asking the provider") { cancellation throws(EnrollError) in
          try client.begin(SignInOptions(), until: client.usualDeadline, cancellation: cancellation)
        }
        isPushed = begun.action.url.map { ASCII.contains($0, "request_uri=") } ?? false
        _ = try session.cancel(client, begun.transactionID)
      } catch {
        refusal = error
      }
      let facts = try session.facts(client)
      self.facts = facts
      let check = try session.run(saying: "Reading its announcements") { cancellation throws(EnrollError) in
        try client.checkProvider(until: client.usualDeadline, cancellation: cancellation)
      }
      session.close(client)
      // Without a client id only discovery can be checked, and nothing is pushed.
      let isWithoutClient = client.configuration.clientID.text == Self.anyClient
      let isKnown = isWithoutClient && facts.provider != nil
      advice = refusal.flatMap { Finding.advice(about: $0.message, in: check) }
      announcements = Finding.announcements(
        check, besides: isKnown ? nil : refusal?.message, except: isWithoutClient ? "pushedRequests" : nil)
      if let refusal, !isKnown { throw refusal }
      let hasDevices = facts.hasDeviceGrant
      let unchecked =
        isWithoutClient || isPushed
        ? "" : "; only a sign-in shows whether client id and redirect URI are right"
      findings.append(
        Finding(
          "provider", .good,
          "\(client.configuration.issuer.text) \(isAsked(client.configuration) ? "answers" : "has its endpoints in the configuration, and was not asked"); sign-in by \(hasDevices ? "browser and --device" : "browser")\(unchecked)"
        ))
      findings += announcements
      findings.append(.clock(ahead: facts.secondsAheadOfServer))
    } catch {
      guard error.ending != .interrupted else { throw error }
      findings.append(
        Finding(
          "provider", .bad, error.message,
          advice: error.ending == .unreachable
            ? "Check the network and the issuer's address."
            : error.error?.code == .issuerMismatch ? error.advice : advice))
      findings += announcements
    }
  }
}

extension Examination {
  /// Whether discovery is used; it is not if the endpoints are configured.
  private func isAsked(_ configuration: Configuration) -> Bool {
    ProviderMetadata(configured: configuration) == nil
  }
}
