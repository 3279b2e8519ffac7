// What the doctor does: looks at the configuration, the store, the keys, the provider, the clock and the browser, and keeps
// a finding of each.

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
  init(_ door: Door, named: Provision?) throws(Failure) {
    let attempt = LastAttempt(about: door.place.configurationPath)
    let configuration = examineConfiguration(door, named, attempt)
    try examineStore(door)
    if let configuration { try examineProvider(configuration, door) }
    let hasDevices = diagnostics?.hasDeviceGrant ?? false
    if let configuration { findings += Finding.redirect(configuration, hasDevices: hasDevices) }
    if let attempt { findings.append(.attempt(attempt, now: door.now)) }
    findings.append(.browser(Browser(), hasDevices: hasDevices))
  }

  private static func hasClient(_ named: Provision) -> Bool { named.clientID != anyClient }

  private mutating func examineConfiguration(
    _ door: Door, _ named: Provision?, _ attempt: LastAttempt?
  ) -> JSON? {
    do throws(Failure) {
      var place = door.place.configurationPath
      let json: JSON
      if let named {
        (place, json) = ("as given here", Self.hasClient(named) ? named.configuration : named.withoutClient)
      } else if let attempted = attempt?.configuration, try !door.place.hasConfiguration() {
        (place, json) = ("none at \(place) yet; of the last attempt", attempted)
      } else {
        json = try door.configuration()
      }
      let configuration: Configuration
      do throws(EnrollError) {
        configuration = try Configuration(json: json)
      } catch {
        throw Failure(error, advice: named == nil ? nil : Provision.advice(error))
      }
      let client = named.map { !Self.hasClient($0) } ?? false ? "" : "client \(configuration.clientID) of "
      findings.append(Finding("configuration", .good, "\(place): \(client)\(configuration.issuer)"))
      return json
    } catch {
      findings.append(Finding("configuration", .bad, error.message, advice: error.advice))
      return nil
    }
  }

  private mutating func examineStore(_ door: Door) throws(Failure) {
    do throws(Failure) {
      store = try door.call("store.diagnose", door.storeParameters, saying: "Looking at the store")
    } catch {
      guard error.ending != .interrupted else { throw error }
      findings.append(Finding("store", .bad, error.message))
      return
    }
    findings += Finding.store(store, user: getuid())
    if let finding = Finding.key(store) { findings.append(finding) }
    let isUsed = store["keyProviders"]?.array?.contains(.string("secret-service")) ?? false
    let keyring = store["keyChoice"]?["candidates"]?.array?.first {
      $0["provider"]?.string == "secret-service"
    }
    if let finding = Finding.keyring(keyring, isUsed: isUsed) { findings.append(finding) }
  }

  /// A sign-in in memory, begun and given up: discovery is asked, a pushed request is made where that is the way, and the
  /// port of the redirect is opened; no session, no store is touched.
  private mutating func examineProvider(_ configuration: JSON, _ door: Door) throws(Failure) {
    do throws(Failure) {
      let opened = try door.call(
        "client.open", [("configuration", configuration), ("store", .string("memory"))])
      let client = opened["client"] ?? .null
      var refusal: Failure?
      do throws(Failure) {
        let begun = try door.call("registration.begin", [("client", client)], saying: "Asking the provider")
        _ = try door.call("registration.cancel", [("client", client), ("transaction", begun["transaction"])])
      } catch {
        refusal = error
      }
      diagnostics = try door.call("diagnostics.export", [("client", client)])["diagnostics"]
      _ = try door.call("client.close", [("client", client)])
      // Where no client is named, discovery is all that can be looked at.
      let isKnown = configuration["clientId"]?.string == Self.anyClient && diagnostics?["provider"] != nil
      if let refusal, !isKnown { throw refusal }
      let hasDevices = diagnostics?.hasDeviceGrant ?? false
      findings.append(
        Finding(
          "provider", .good,
          "\(configuration.issuer ?? "") answers; sign-in by \(hasDevices ? "browser and --device" : "browser")"
        ))
      findings.append(.clock(ahead: diagnostics?["clock"]?["aheadOfServerSeconds"]?.integer))
    } catch {
      guard error.ending != .interrupted else { throw error }
      findings.append(
        Finding(
          "provider", .bad, error.message,
          advice: error.ending == .unreachable
            ? "Look at the network, and at the address of the issuer." : nil))
    }
  }
}

extension JSON {
  /// Of diagnostics: whether the provider lists an endpoint for other devices (RFC 8628).
  var hasDeviceGrant: Bool { self["provider"]?["deviceAuthorizationEndpoint"] != nil }
}
