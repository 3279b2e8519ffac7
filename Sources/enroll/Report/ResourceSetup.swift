// The first sign-in at a resource: find the server that gives its tokens, show it to the user, and become its client.

import EnrollCore
import EnrollHost
import EnrollJSON

struct ResourceSetup {
  private let way: SignInArguments
  private let resource: String
  private let session: CommandSession

  init(_ way: SignInArguments, _ resource: String, _ session: CommandSession) {
    self.way = way
    self.resource = resource
    self.session = session
  }

  /// A configuration for the resource; nil where there is a profile of it.
  /// - Throws: `.usage` for a profile of something else, and where nobody can be asked.
  func configuration() throws(Failure) -> JSON? {
    var before: JSON?
    if try session.place.hasConfiguration() {
      let present = try session.configuration()
      guard present["resource"]?.string == resource else {
        throw Failure(
          .usage,
          "the profile \(session.place.configurationName) is for \(present["resource"]?.string ?? "no resource")",
          advice: "Choose another name by --profile, or remove \(session.place.configurationPath).")
      }
      guard way.registerAgain else {
        try checkSame(present, "clientId", way.provider.clientID, "client")
        try checkSame(present, "issuer", way.provider.issuer, "authorization server")
        return nil
      }
      before = present
    }
    let redirectURI = way.provider.redirectURI ?? ResourceProfile.redirectURI(of: resource)
    try checkPort(of: redirectURI)
    let found = try discovered()
    try agree(to: found, before: before?["issuer"]?.string)
    if let before { try signOut(before) }
    try session.place.makeStoreParent()
    let client = try session.call(
      "resource.register",
      [
        ("issuer", found["issuer"]),
        ("redirectUri", .string(redirectURI)),
        ("clientName", .string("enroll")),
        ("scopes", way.scopes.isEmpty ? nil : .array(way.scopes.map { .string($0) })),
        ("clientId", way.provider.clientID.map { .string($0) }),
        ("clientSecret", try way.provider.clientSecret().map { .string($0) }),
        ("again", way.registerAgain ? .bool(true) : nil),
      ] + reached + session.storeParameters, saying: "Registering at the authorization server")
    return client["configuration"]
  }

  private func discovered() throws(Failure) -> JSON {
    do throws(Failure) {
      return try session.call(
        "resource.discover", [("issuer", way.provider.issuer.map { .string($0) })] + reached,
        saying: "Asking the resource for its authorization server")
    } catch {
      guard error.ending == .usage, (try? StrictURL(resource))?.kind == .loopbackHTTP,
        !way.provider.allowLoopbackHTTP
      else { throw error }
      var failure = error
      failure.advice = "For a resource on this machine add --allow-loopback-http."
      throw failure
    }
  }

  /// The profile is there, and an option that says otherwise would be passed over.
  private func checkSame(_ profile: JSON, _ key: String, _ named: String?, _ what: String) throws(Failure) {
    guard let named, let present = profile[key]?.string, named != present else { return }
    throw Failure(
      .usage,
      "the profile \(session.place.configurationName) is for the \(what) \(Shown.text(present)), not \(Shown.text(named))",
      advice: way.provider.clientID == nil
        ? "Choose another name by --profile, or replace it with --again --register-again."
        : "Choose another name by --profile, or sign out and remove \(session.place.configurationPath).")
  }

  /// The client before: its session would stay in the store, and nobody could end it.
  private func signOut(_ configuration: JSON) throws(Failure) {
    guard try session.place.hasStore() else { return }
    let client = try session.open(configuration, asksPIN: false)
    _ = try session.call("logout.begin", [("client", client)], saying: "Signing the client before out")
    _ = try session.call("client.close", [("client", client)])
  }

  /// Before a server hears of a redirect that cannot be waited for.
  private func checkPort(of redirectURI: String) throws(Failure) {
    guard let url = try? StrictURL(redirectURI), url.kind == .loopbackHTTP, url.port != nil else { return }
    do throws(EnrollError) {
      try LoopbackListener(redirectURI: redirectURI).close()
    } catch {
      guard error.code == .busy else { return }
      throw Failure(
        .failed, error.message,
        advice:
          "End that program, or name another redirect by --redirect-uri, such as http://127.0.0.1:27182/callback; a client that is registered already needs --again --register-again, too."
      )
    }
  }

  private var reached: [(String, JSON?)] {
    [
      ("resource", .string(resource)),
      ("allowLoopbackHTTP", way.provider.allowLoopbackHTTP ? .bool(true) : nil),
    ]
  }

  /// The user is about to trust a server that nobody configured.
  /// - Parameter before: the server of the profile that is there, which only the user replaces by another.
  private func agree(to found: JSON, before: String?) throws(Failure) {
    let issuer = Shown.text(found["issuer"]?.string ?? "")
    if let before, before != found["issuer"]?.string, way.provider.issuer == nil,
      way.yes || !Terminal.hasPerson
    {
      throw Failure(
        .usage,
        "the resource names the authorization server \(issuer) now; the profile \(session.place.configurationName) is for \(Shown.text(before))",
        advice: "If you trust the new one, name it by --issuer.")
    }
    let errors = Terminal.errors
    errors.say("The resource \(Shown.text(resource)) names this authorization server:")
    errors.say(address: issuer)
    // Who names the server has agreed to it already; another one was refused.
    guard way.provider.issuer == nil, !way.yes else { return }
    guard Terminal.hasPerson else {
      throw Failure(
        .usage, "there is no terminal to confirm the authorization server \(issuer) at",
        advice: "Name it by --issuer, or accept any that the resource names by --yes.")
    }
    switch Prompt.choice("Sign in there?", default: true, session.waits) {
    case .yes: return
    case .no: throw Failure(.notFinished, "not confirmed: nothing was registered or sent")
    case .interrupted: throw Failure(.interrupted, "stopped; nothing has changed")
    }
  }
}
