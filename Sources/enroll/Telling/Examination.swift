// What the doctor does: looks at the configuration, the store, the keys, the provider, the clock and the browser, and keeps
// a finding of each.

import CPosix
import EnrollCore
import EnrollJSON

struct Examination {
  private(set) var findings: [Finding] = []
  private(set) var store: JSON = .null
  /// Of a client in memory that began a sign-in; nil where none could.
  private(set) var diagnostics: JSON?

  init(_ door: Door) throws(Failure) {
    let configuration = examineConfiguration(door)
    try examineStore(door)
    if let configuration { try examineProvider(configuration, door) }
    findings.append(.browser(Browser()))
  }

  private mutating func examineConfiguration(_ door: Door) -> JSON? {
    do throws(Failure) {
      let json = try door.place.configuration()
      let configuration: Configuration
      do throws(EnrollError) { configuration = try Configuration(json: json) } catch { throw Failure(error) }
      findings.append(
        Finding(
          "configuration", .good,
          "\(door.place.configurationPath), client \(configuration.clientID) of \(configuration.issuer)"))
      if !configuration.usesLoopbackRedirect {
        findings.append(
          Finding(
            "redirect", .warning, "\(configuration.redirectURI) comes back to an app, not to this program",
            advice: "Configure \(Provision.redirectURI), or sign in by `enroll login --device`."))
      }
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
      if let refusal { throw refusal }
      let hasDevices = diagnostics?["provider"]?["deviceAuthorizationEndpoint"] != nil
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
