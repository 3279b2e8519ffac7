// Finds the live session of a request: a browser's session by its cookie, an app's session by its bearer token. A form
// must come from a page that the gateway made for this session (CSRF): the form has a token that only the gateway can
// make, and browsers report the origin of a request.

import EnrollSteps
import EnrollRules
import EnrollGatewayPages
import EnrollHTTP

/// Finds sessions, and makes new ones.
struct GatewaySessions: GatewaySteps {
  let services: GatewayServices
  let store: any SessionStore

  /// The cookie of the browser's session.
  static let sessionCookie = "__Host-enroll"

  /// The live session of the browser's cookie, or nil.
  func liveSession(_ request: WebRequest) throws(Interruption) -> LiveSession? {
    guard let hash = sessionHash(request) else { return nil }
    let session = try callingStore { () throws(StoreFailure) in try store.session(tokenHash: hash, at: now) }
    // An app's token cannot open a page, because pages allow more than an app may do.
    return session?.app == nil ? session : nil
  }

  func sessionHash(_ request: WebRequest) -> [UInt8]? {
    request.cookie(Self.sessionCookie).value.flatMap { RandomToken.hash(of: $0) }
  }

  /// Ends the session that this browser had before a new sign-in.
  func endEarlierSession(of request: WebRequest) throws(Interruption) {
    guard let hash = sessionHash(request) else { return }
    try callingStore { () throws(StoreFailure) in
      try store.endSession(tokenHash: hash, at: now, from: AuditOrigin(of: request))
    }
  }

  func bearerSession(_ request: WebRequest) throws(Interruption) -> LiveSession? {
    guard let header = request.value(of: "Authorization"), header.utf8.count > 7,
      ASCII.equalsIgnoringCase(String(Substring(header.utf8.prefix(7))), "Bearer "),
      let hash = RandomToken.hash(of: String(Substring(header.utf8.dropFirst(7))))
    else { return nil }
    let session = try callingStore { () throws(StoreFailure) in try store.session(tokenHash: hash, at: now) }
    // A browser's session is accepted only from its cookie.
    return session?.app == nil ? nil : session
  }

  /// Checks that a form comes from a page of this browser's session.
  /// - Returns: the session to which the form belongs; nil if there is no live session.
  /// - Throws: `.failure(.formExpired)` for a form from another site, or from the page of another session.
  func ownForm(_ request: WebRequest) throws(Interruption) -> (hash: [UInt8], session: LiveSession)? {
    guard !isCrossSite(request) else { throw .failure(.formExpired) }
    guard let hash = sessionHash(request), let session = try liveSession(request) else { return nil }
    guard let formToken = request.form?[Views.formField], keys.verifies(formToken, of: hash, for: .form)
    else {
      throw .failure(.formExpired)
    }
    return (hash, session)
  }

  /// Whether the browser reports that another site's page sent the request.
  func isCrossSite(_ request: WebRequest) -> Bool {
    request.values(of: "Origin").contains { !ASCII.equals($0, settings.publicURL) }
      || request.values(of: "Sec-Fetch-Site").contains { !ASCII.equals($0, "same-origin") }
  }

  /// The headers that delete the browser's session cookie, for a session that is not live; empty if the request has no
  /// such cookie.
  func clearingSession(_ request: WebRequest) -> [HTTPHeader] {
    request.cookie(Self.sessionCookie) == .absent ? [] : Self.withoutSession
  }

  func newID<Kind>() throws(Interruption) -> RecordID<Kind> {
    try internalCall { () throws(EnrollError) in
      RecordID(at: now, random: try random.bytes(RecordID<Kind>.randomByteCount))
    }
  }

  func newSession(_ hash: [UInt8], app: String?, for request: WebRequest) throws(Interruption) -> NewSession {
    NewSession(
      tokenHash: hash, id: try newID(), app: app,
      device: PersonalText.shown(request.value(of: "User-Agent")),
      idleSeconds: settings.idleSeconds, absoluteSeconds: settings.absoluteSeconds)
  }
}
