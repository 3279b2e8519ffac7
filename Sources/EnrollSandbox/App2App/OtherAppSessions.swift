// The gateway of a registration with another app, in two steps (flows.md §9): a session for each init, and the artefact
// that the other app brings for it. Pure: time and random texts come in.

struct OtherAppSessions: Codable, Sendable {
  struct Session: Codable, Sendable {
    let id: String
    /// The value in the other app's link: not the id, which stays between the app and the gateway.
    let request: String
    let expiresAt: Int64
    var artefactID: String?
    var userName: String?
    var isOver = false
  }

  /// The names of the gateway's fields.
  struct Fields: Codable, Sendable, Equatable {
    var sessionID = "sessionId"
    var link = "link"
    var artefactID = "artefactId"
  }

  /// The answer of complete.
  enum Answer: String, CaseIterable, Codable, Sendable { case tokens, withoutIDToken, refreshTokenOnly }

  private(set) var sessions: [Session] = []
  var fields = Fields()
  var answer = Answer.tokens

  mutating func begin(id: String, request: String, until expiresAt: Int64, now: Int64) {
    sessions.removeAll { $0.expiresAt < now }
    sessions.append(Session(id: id, request: request, expiresAt: expiresAt))
  }

  func session(ofRequest request: String?, now: Int64) -> Session? {
    sessions.first { $0.request == request && !$0.isOver && $0.artefactID == nil && now <= $0.expiresAt }
  }

  /// The user said in the other app who they are.
  mutating func approve(_ request: String, userName: String, artefactID: String) {
    guard let index = sessions.firstIndex(where: { $0.request == request }) else { return }
    sessions[index].userName = userName
    sessions[index].artefactID = artefactID
  }

  /// The user of a session, for the artefact that belongs to it. Works once; a wrong artefact ends the session as well.
  mutating func complete(_ id: String, artefactID: String, now: Int64) throws(OAuthRefusal) -> String {
    guard let index = sessions.firstIndex(where: { $0.id == id }) else {
      throw .invalidGrant("the session is not known")
    }
    let session = sessions[index]
    guard !session.isOver, now <= session.expiresAt else { throw .invalidGrant("the session is over") }
    sessions[index].isOver = true
    guard session.artefactID == artefactID, let userName = session.userName else {
      throw .invalidGrant("the artefact is not this session's; the session is ended")
    }
    return userName
  }
}
