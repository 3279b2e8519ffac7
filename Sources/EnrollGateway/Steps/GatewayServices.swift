// The services that all steps share: the settings, the interfaces to the outside world, and the keys. A step
// that changes something also has its own part of the state or of the store.

import EnrollRules
import EnrollSteps
import EnrollGatewayPages
import EnrollHTTP

/// The shared parts of a gateway. All steps refer to the same object, so that no request has to copy the parts.
final class GatewayServices: Sendable {
  let settings: GatewaySettings
  let providers: [SignInProvider]
  /// Registration by e-mail; nil if users cannot register by e-mail.
  let registration: EmailRegistration?
  let clock: any Clock
  let random: any RandomSource
  let views: Views
  let log: any LogHandler
  private let ring: Guarded<KeyRing>

  init(
    settings: GatewaySettings, keys: KeyRing, providers: [SignInProvider], registration: EmailRegistration?,
    clock: any Clock, random: any RandomSource, views: Views, log: any LogHandler, lock: any Lock
  ) {
    self.settings = settings
    self.providers = providers
    self.registration = registration
    self.clock = clock
    self.random = random
    self.views = views
    self.log = log
    ring = Guarded(keys, by: lock)
  }

  var keys: KeyRing { ring.withLock { $0 } }

  /// Replaces the ring of keys. A cookie that was sealed with an earlier key can be opened while that key is in the
  /// ring.
  func reload(_ keys: KeyRing) { ring.withLock { $0 = keys } }

  /// - Throws: `.failure(.unknownProvider)`.
  func provider(_ name: String) throws(Interruption) -> SignInProvider {
    guard let provider = providers.first(where: { ASCII.equals($0.name, name) }) else {
      throw .failure(.unknownProvider)
    }
    return provider
  }

  /// Whether the name means sign-in by e-mail, which is not a provider.
  func isEmail(_ name: String) -> Bool {
    registration != nil && ASCII.equals(name, RegistrationSettings.providerName)
  }

  /// The provider that signs in the directory's users; nil if the gateway signs them in itself.
  var directoryProvider: SignInProvider? {
    settings.directory?.provider.flatMap { name in providers.first { ASCII.equals($0.name, name) } }
  }
}

/// Steps that answer requests with the help of the shared services.
protocol GatewaySteps: Sendable {
  var services: GatewayServices { get }
}

extension GatewaySteps {
  var settings: GatewaySettings { services.settings }
  var providers: [SignInProvider] { services.providers }
  var random: any RandomSource { services.random }
  var views: Views { services.views }
  var log: any LogHandler { services.log }
  var keys: KeyRing { services.keys }
  var now: UnixTime { services.clock.wallTime() }

  /// The token that a page puts into its forms. The token is valid only for the session or the browser that has this
  /// hash.
  func formToken(_ hash: [UInt8]) throws(Interruption) -> String {
    try internalCall { () throws(EnrollError) in try keys.authenticationCode(of: hash, for: .form, at: now) }
  }

  /// Returns the page that was made.
  /// - Throws: `.failure(.internalError)` if the page could not be made.
  func page(_ made: WebResponse?) throws(Interruption) -> WebResponse {
    guard let made else { throw .failure(.internalError) }
    return made
  }

  /// Runs a call of the store and converts its failure.
  func callingStore<Result>(_ body: () throws(StoreFailure) -> Result) throws(Interruption) -> Result {
    do throws(StoreFailure) { return try body() } catch { throw .store(error) }
  }

  /// Runs a call of the directory and converts its failure.
  func callingDirectory<Result>(_ body: () throws(DirectoryFailure) -> Result) throws(Interruption) -> Result
  {
    do throws(DirectoryFailure) { return try body() } catch {
      if case .store(let failure) = error { throw .store(failure) }
      log.write(.error, "directory: \(error.message)")
      if case .unknownPerson = error { throw .failure(.linkInvalid) }
      throw .failure(.unavailable)
    }
  }

  /// Runs a call whose failure is an internal error of the gateway.
  func internalCall<Result>(_ body: () throws(EnrollError) -> Result) throws(Interruption) -> Result {
    do throws(EnrollError) { return try body() } catch { throw .own(error) }
  }
}

extension AuditOrigin {
  /// The origin of the changes that this request makes.
  init(of request: WebRequest) {
    self.init(address: request.client.utf8.isEmpty ? nil : request.client, request: RequestID.current)
  }
}
