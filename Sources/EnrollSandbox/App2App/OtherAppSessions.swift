// The gateway of a registration with another app, in two steps (flows.md §9): a session for each `init` request, and
// the artefact that the other app returns for this session. The functions are pure: time and random texts are
// arguments.

struct OtherAppSessions: Codable, Sendable {
  struct Session: Codable, Sendable {
    let id: String
    /// The value in the other app's link. The link does not contain the session's id, which only the app and the
    /// gateway know.
    let request: String
    let expiresAt: Int64
    var artefactID: String?
    var userName: String?
    var isOver = false
  }

  /// The names of the fields in the gateway's requests and answers.
  struct Fields: Codable, Sendable, Equatable {
    var sessionID = "sessionId"
    var link = "link"
    var artefactID = "artefactId"
  }

  /// The content of the answer to `complete`.
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

  /// Records the user's choice in the other app.
  mutating func approve(_ request: String, userName: String, artefactID: String) {
    guard let index = sessions.firstIndex(where: { $0.request == request }) else { return }
    sessions[index].userName = userName
    sessions[index].artefactID = artefactID
  }

  /// The user of a session, if the artefact belongs to that session. A session can be completed only once; a wrong
  /// artefact also ends the session.
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
