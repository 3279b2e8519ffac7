// A sign-in at a resource: finds the authorization server of the resource, asks the user to agree to it, and
// registers a client there. Every sign-in asks the resource again, because the resource may now name another server.

import EnrollSteps
import EnrollCommands
import EnrollRules
import EnrollCrypto
import EnrollHost
import EnrollJSON

/// The setup of a sign-in at a resource. A class, because it holds the port of the redirect URI, from before the
/// registration until the sign-in listens at that port.
final class ResourceSetup {
  let way: SignInArguments
  let resource: String
  let session: CommandSession
  private var port: LoopbackListener?
  /// The browser's tab in which the user has agreed to the server.
  var page: ConsentPage?

  init(_ way: SignInArguments, _ resource: String, _ session: CommandSession) {
    self.way = way
    self.resource = resource
    self.session = session
  }

  /// A configuration for the first sign-in at the resource; nil if the resource has a profile.
  /// - Throws: `.usage` if the profile is not for this resource, or if no user can be asked.
  func first() throws(Failure) -> ConfigurationDocument? {
    guard try !session.place.hasConfiguration() else {
      try checkProfile(try session.configuration())
      return nil
    }
    let redirectURI =
      if let named = way.provider.redirectURI { try holding(named) } else { try ownRedirect() }
    let found = try discovered(issuer: way.provider.issuer)
    try agree(to: found, instead: nil)
    var configuration = try registered(
      found, redirectURI: redirectURI, scopes: firstScopes(found), again: way.registerAgain)
    if let prompt = way.lastingPrompt { configuration.prompt = prompt }
    return configuration
  }

  /// The scopes of the command line. If there is a challenge, the scopes that the resource asks for are added.
  /// - Returns: nil if the command line names no scopes.
  private func firstScopes(_ found: ResourceDiscovery) -> [String]? {
    guard !way.scopes.isEmpty else { return nil }
    guard way.provider.challenge != nil else { return way.scopes }
    let listed = found.server.metadata.scopes ?? []
    let own = AuthorizationServer.ownScopes.filter { Scopes.contains($0, in: listed) }
    return Scopes.union(Scopes.union(found.scopes ?? [], own), way.scopes)
  }

  /// Frees the port, so that the sign-in can listen there.
  func releasePort() {
    port?.close()
    port = nil
  }

  // MARK: An existing profile

  /// The origin of a profile's client.
  enum Registration {
    /// The user named the client.
    case none
    /// This program registered the client.
    case own
    /// This program registered the client, and the server has refused it.
    case forgotten
  }

  /// The configuration for another sign-in: the resource may name another server or need other scopes, and the server
  /// may have forgotten the client.
  /// - Returns: nil if nothing has changed.
  func renewed(
    _ profile: ConfigurationDocument, _ registration: Registration
  ) throws(Failure) -> ConfigurationDocument? {
    guard let issuer = profile.issuer else { return nil }
    let again = way.registerAgain || registration == .forgotten
    let found: ResourceDiscovery
    do throws(Failure) {
      found = try discoveredAgain(issuer)
    } catch {
      // The resource named this server before, so the sign-in continues without the resource's answer.
      guard !again, error.ending == .unreachable || error.error?.code == .unsupported else { throw error }
      Terminal.errors.say("! \(error.message)", in: .warning)
      return nil
    }
    let hasMoved = found.issuer != issuer
    if !hasMoved, !again {
      return try widened(profile, isOwn: registration == .own, found)
    }
    if hasMoved { try agree(to: found, instead: issuer) }
    let redirectURI = profile.redirectURI ?? ResourceProfile.redirectURI(of: resource)
    if port == nil { _ = try? holding(redirectURI) }
    // The scopes of the profile are not kept for another server, which has other scopes.
    let scopes = hasMoved ? firstScopes(found) : try scopes(after: profile)
    let client = try registered(
      found, redirectURI: redirectURI, scopes: scopes, again: again, instead: hasMoved ? issuer : nil)
    guard hasMoved else { return profile.replacingClient(by: client) }
    // Most keys of the profile are for the previous server, so only the following keys are kept.
    var configuration = client
    configuration.prompt = profile.prompt
    configuration.certificateFile = profile.certificateFile
    configuration.credentialHosts = profile.credentialHosts
    return configuration
  }

  /// The profile with other scopes. Some servers give a client only the scopes with which it was registered, so this
  /// program registers another client for other scopes. The previous client keeps its session until the user has
  /// signed in with the new one.
  private func widened(
    _ profile: ConfigurationDocument, isOwn: Bool, _ found: ResourceDiscovery
  ) throws(Failure) -> ConfigurationDocument? {
    var changed = profile
    if let scopes = try scopes(after: profile) { changed.scopes = scopes }
    if found.requiresDPoP { changed.requiresDPoP = true }
    if isOwn, profile.scopes != changed.scopes {
      let client = try registered(found, redirectURI: profile.redirectURI ?? "", scopes: changed.scopes)
      changed = changed.withClient(of: client)
    }
    return changed == profile ? nil : changed
  }

  /// The scopes of the previous sign-in, with those of the challenge and of the command line.
  /// - Returns: nil if there are no scopes.
  private func scopes(after profile: ConfigurationDocument) throws(Failure) -> [String]? {
    var scopes = profile.scopes ?? []
    if let header = way.provider.challenge { scopes = try self.scopes(of: header, after: scopes) }
    scopes = Scopes.union(scopes, way.scopes)
    return scopes.isEmpty ? nil : scopes
  }

  /// The origin of the client, according to the store and to the server's answer to the last renewal.
  func registration(_ client: Client) throws(Failure) -> Registration {
    let facts = try session.facts(client)
    guard facts.hasRegisteredClient else { return .none }
    return facts.isClientForgotten ? .forgotten : .own
  }

  /// Finds the resource's server again. If the resource names no server, the profile's server, which the user named or
  /// agreed to, is kept.
  private func discoveredAgain(_ issuer: String) throws(Failure) -> ResourceDiscovery {
    do throws(Failure) {
      let found = try discovered(issuer: way.provider.issuer)
      if way.provider.issuer != nil || found.metadataURI != nil || found.issuer == issuer { return found }
    } catch {
      guard error.error?.code == .unsupported, error.error?.field == "resource" else { throw error }
    }
    return try discovered(issuer: issuer)
  }

  /// The earlier scopes, with those that the resource's `WWW-Authenticate` asks for.
  private func scopes(of header: String, after earlier: [String]) throws(Failure) -> [String] {
    do throws(EnrollError) {
      return try ResourceChallenge(header: header).scopes(after: earlier)
    } catch {
      throw Failure(error, advice: "Pass the value of the header WWW-Authenticate by --challenge.")
    }
  }

  private func checkProfile(_ present: ConfigurationDocument) throws(Failure) {
    guard ResourceProfile.serves(present, resource) else {
      throw Failure(
        .usage,
        "the profile \(session.place.configurationName) is for \(present.resource ?? "no resource")",
        advice: "Choose another name by --profile, or remove \(session.place.configurationPath).")
    }
    guard !way.registerAgain else { return }
    try checkSame(present.clientID, way.provider.clientID, "client")
    if !way.again { try checkSame(present.issuer, way.provider.issuer, "authorization server") }
  }

  /// Refuses an option whose value differs from the profile: the profile takes precedence, so the option would have
  /// no effect.
  private func checkSame(_ present: String?, _ named: String?, _ what: String) throws(Failure) {
    guard let named, let present, named != present else { return }
    throw Failure(
      .usage,
      "the profile \(session.place.configurationName) is for the \(what) \(Shown.text(present)), not \(Shown.text(named))",
      advice: way.provider.clientID == nil
        ? "Choose another name by --profile, or replace it with --again."
        : "Choose another name by --profile, or sign out and remove \(session.place.configurationPath).")
  }

  // MARK: The resource and its server

  private static let timeoutSeconds: Int64 = 30

  /// The object that requests the documents of the resource and of its server.
  private func resources() throws(EnrollError) -> Resources {
    let caFile =
      way.provider.settings.first { $0.key == "caFile" }?.value.string ?? profileCertificateFile
    try TextLimits.check(resource, "resource", TextLimits.url)
    if let challenge = way.provider.challenge {
      try TextLimits.check(challenge, "challenge", TextLimits.challenge)
    }
    if let caFile { try TextLimits.check(caFile, "caFile", TextLimits.certificateFile) }
    return Resources(allowsLoopbackHTTP: way.provider.allowLoopbackHTTP, caFile: caFile)
  }

  /// The profile's file of certificate authorities; nil if there is no profile, or if the profile names no such file.
  private var profileCertificateFile: String? {
    guard (try? session.place.hasConfiguration()) ?? false else { return nil }
    return (try? session.configuration())?.certificateFile
  }

  private func discovered(issuer: String?) throws(Failure) -> ResourceDiscovery {
    do throws(Failure) {
      let directory = try Failure.wrapping { () throws(EnrollError) in
        if let issuer { try TextLimits.check(issuer, "issuer", TextLimits.url) }
        return try resources()
      }
      let (resource, challenge) = (resource, way.provider.challenge)
      return try session.run(saying: "Asking the resource for its authorization server") {
        cancellation throws(EnrollError) in
        try directory.discover(
          resource, issuer: issuer, challenge: challenge,
          until: directory.deadline(afterSeconds: Self.timeoutSeconds), cancellation: cancellation)
      }
    } catch {
      guard error.ending == .usage, (try? StrictURL(resource))?.kind == .loopbackHTTP,
        !way.provider.allowLoopbackHTTP
      else {
        guard error.error?.code == .unsupported, error.error?.field == "resource" else { throw error }
        var failure = error
        failure.advice =
          "Check the URL. If you know the resource's authorization server, name it by --issuer."
        throw failure
      }
      var failure = error
      failure.advice = "For a resource on this machine add --allow-loopback-http."
      throw failure
    }
  }

  private func registered(
    _ found: ResourceDiscovery, redirectURI: String, scopes: [String]? = nil, again: Bool = false,
    instead previous: String? = nil
  ) throws(Failure) -> ConfigurationDocument {
    try session.place.makeStoreParent()
    let provider = way.provider
    var request = ResourceRequest(resource: resource, issuer: found.issuer, redirectURI: redirectURI)
    request.discovery = found
    request.clientName = "enroll"
    request.scopes = scopes
    request.clientID = provider.clientID
    request.clientSecret = try provider.clientSecret().map { Secret($0) }
    request.clientMetadataURI = provider.clientMetadata
    request.challenge = provider.challenge
    request.again = again
    request.previousIssuer = previous
    request.holdsPort = port != nil
    do throws(Failure) {
      let directory = try Failure.wrapping { () throws(EnrollError) in
        try Self.check(request)
        return try resources()
      }
      let (wanted, store, keys) = (request, session.place.store, session.keys ?? .automatic)
      let client = try session.run(saying: "Registering at the authorization server") {
        cancellation throws(EnrollError) in
        try directory.register(
          wanted, store: .directory(store), keys: keys,
          until: directory.deadline(afterSeconds: Self.timeoutSeconds), cancellation: cancellation)
      }
      return ConfigurationDocument(.object(client.keys))
    } catch {
      // If a server registers no clients, its administrator has to create the client.
      let codes: [EnrollError.Code] = [.oauth, .unsupported]
      guard provider.clientID == nil, let code = error.error?.code, codes.contains(code) else { throw error }
      var failure = error
      failure.advice = "Register a client at the authorization server, then run \(.loginWithClient)."
      throw failure
    }
  }

  private static func check(_ request: ResourceRequest) throws(EnrollError) {
    try TextLimits.check(request.redirectURI, "redirectUri", TextLimits.url)
    if let scopes = request.scopes { try SignIn.check(scopes) }
    if let clientID = request.clientID { try TextLimits.check(clientID, "clientId", TextLimits.clientID) }
    if let secret = request.clientSecret {
      try TextLimits.check(secret.reveal(), "clientSecret", TextLimits.clientSecret)
    }
    if let uri = request.clientMetadataURI {
      try TextLimits.check(uri, "clientMetadataUri", TextLimits.url)
    }
  }

  // MARK: The redirect

  /// A redirect URI at which this program can listen: with the resource's own port, or with the next free one.
  private func ownRedirect() throws(Failure) -> String {
    var failure: Failure?
    for uri in ResourceProfile.redirectURIs(of: resource) {
      do throws(Failure) { return try holding(uri) } catch { failure = failure ?? error }
    }
    throw failure ?? Failure(.failed, "no port is free for the redirect")
  }

  /// Binds the port before a server gets the redirect URI, and keeps it until the sign-in listens there.
  private func holding(_ redirectURI: String) throws(Failure) -> String {
    guard let url = try? StrictURL(redirectURI), url.kind == .loopbackHTTP, url.port != nil else {
      return redirectURI
    }
    do throws(EnrollError) {
      port = try LoopbackListener(redirectURI: redirectURI)
    } catch {
      guard error.code == .busy else { return redirectURI }
      throw Failure(
        .failed, error.message,
        advice:
          "End that program, or name another redirect by --redirect-uri, such as http://127.0.0.1:27182/callback."
      )
    }
    return redirectURI
  }
}
