// The work of `enroll doctor`: it checks the configuration, the store, the keys, the provider, the clock and the browser,
// and keeps a finding of each.

import CPosix
import EnrollCore
import EnrollJSON

struct Examination {
  /// Stands for the client where the user names a provider alone: it is in no request, since none is pushed.
  static let anyClient = "enroll-doctor"

  private(set) var findings: [Finding] = []
  private(set) var store: JSON = .null
  /// Of a client in memory that began a sign-in; nil where none could.
  private(set) var diagnostics: JSON?

  /// - Parameter named: the provider of the command line, which goes before the profile.
  init(_ session: CommandSession, named: ProviderSetup?) throws(Failure) {
    let attempt = LastAttempt(about: session.place.configurationPath)
    let configuration = examineConfiguration(session, named, attempt)
    try examineStore(session, isConfigured: configuration != nil)
    if let configuration { try examineProvider(configuration, session) }
    let hasDevices = diagnostics?.hasDeviceGrant ?? false
    if let configuration {
      findings += Finding.redirect(configuration, hasDevices: hasDevices, isGiven: named != nil)
    }
    if named == nil, let attempt { findings.append(.attempt(attempt, now: session.now)) }
    findings.append(.browser(Browser(), hasDevices: hasDevices))
  }

  private static func hasClient(_ named: ProviderSetup) -> Bool { named.clientID != anyClient }

  private mutating func examineConfiguration(
    _ session: CommandSession, _ named: ProviderSetup?, _ attempt: LastAttempt?
  ) -> JSON? {
    do throws(Failure) {
      var place = session.place.configurationPath
      let json: JSON
      if let named {
        (place, json) = ("as given here", Self.hasClient(named) ? named.configuration : named.withoutClient)
      } else if let attempted = attempt?.configuration, try !session.place.hasConfiguration() {
        (place, json) = ("none at \(place) yet; the last attempt's", attempted)
      } else {
        json = try session.configuration()
      }
      let configuration: Configuration
      do throws(EnrollError) {
        configuration = try Configuration(json: json)
      } catch {
        throw Failure(error, advice: named.map { ProviderSetup.advice(error, of: $0) })
      }
      let client = named.map { !Self.hasClient($0) } ?? false ? "" : "client \(configuration.clientID) of "
      findings.append(Finding("configuration", .good, "\(place): \(client)\(configuration.issuer)"))
      return json
    } catch {
      findings.append(Finding("configuration", .bad, error.message, advice: error.advice))
      return nil
    }
  }

  private mutating func examineStore(
    _ session: CommandSession, isConfigured: Bool
  ) throws(Failure) {
    do throws(Failure) {
      store = try session.call("store.diagnose", session.storeParameters, saying: "Looking at the store")
    } catch {
      guard error.ending != .interrupted else { throw error }
      findings.append(Finding("store", .bad, error.message))
      return
    }
    findings += Finding.store(store, user: getuid(), isConfigured: isConfigured)
    if let finding = Finding.key(store) { findings.append(finding) }
    let isUsed = store["keyProviders"]?.array?.contains(.string("secret-service")) ?? false
    let keyring = store["keyChoice"]?["candidates"]?.array?.first {
      $0["provider"]?.string == "secret-service"
    }
    if let finding = Finding.keyring(keyring, isUsed: isUsed) { findings.append(finding) }
  }

  /// A sign-in in memory, begun and given up: discovery is asked, a pushed request is made where that is the way, and the
  /// port of the redirect is opened; no session, no store is touched.
  private mutating func examineProvider(_ configuration: JSON, _ session: CommandSession) throws(Failure) {
    var announcements: [Finding] = []
    do throws(Failure) {
      let opened = try session.call(
        "client.open", [("configuration", configuration), ("store", .string("memory"))])
      let client = opened["client"] ?? .null
      var refusal: Failure?
      // The provider saw client id and redirect URI then (RFC 9126).
      var isPushed = false
      do throws(Failure) {
        let begun = try session.call(
          "registration.begin", [("client", client)], saying: "Asking the provider")
        isPushed = begun["action"]?["url"]?.string.map { ASCII.contains($0, "request_uri=") } ?? false
        _ = try session.call(
          "registration.cancel", [("client", client), ("transaction", begun["transaction"])])
      } catch {
        refusal = error
      }
      diagnostics = try session.call("diagnostics.export", [("client", client)])["diagnostics"]
      let check = try session.call(
        "provider.check", [("client", client)], saying: "Reading its announcements")
      _ = try session.call("client.close", [("client", client)])
      // Where no client is named, discovery is all that can be looked at.
      let isKnown = configuration["clientId"]?.string == Self.anyClient && diagnostics?["provider"] != nil
      // Without a client nothing is pushed, which is no fault of the configuration.
      let isWithoutClient = configuration["clientId"]?.string == Self.anyClient
      announcements = Finding.announcements(
        check, besides: refusal?.message, except: isWithoutClient ? "pushedRequests" : nil)
      if let refusal, !isKnown { throw refusal }
      let hasDevices = diagnostics?.hasDeviceGrant ?? false
      let unchecked =
        isWithoutClient || isPushed
        ? "" : "; only a sign-in shows whether client id and redirect URI are right"
      findings.append(
        Finding(
          "provider", .good,
          "\(configuration.issuer ?? "") \(isAsked(configuration) ? "answers" : "has its endpoints in the configuration, and was not asked"); sign-in by \(hasDevices ? "browser and --device" : "browser")\(unchecked)"
        ))
      findings += announcements
      findings.append(.clock(ahead: diagnostics?["clock"]?["aheadOfServerSeconds"]?.integer))
    } catch {
      guard error.ending != .interrupted else { throw error }
      findings.append(
        Finding(
          "provider", .bad, error.message,
          advice: error.ending == .unreachable
            ? "Check the network and the issuer's address."
            : error.error?.code == .issuerMismatch ? error.advice : nil))
      findings += announcements
    }
  }
}

extension Examination {
  /// Whether discovery is asked: not where the endpoints are configured.
  private func isAsked(_ configuration: JSON) -> Bool {
    (try? Configuration(json: configuration)).map { ProviderMetadata(configured: $0) == nil } ?? true
  }
}

extension JSON {
  /// Of diagnostics: whether the provider lists an endpoint for other devices (RFC 8628).
  var hasDeviceGrant: Bool { self["provider"]?["deviceAuthorizationEndpoint"] != nil }
}
