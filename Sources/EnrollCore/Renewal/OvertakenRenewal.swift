// A renewal that found, before or after its request, that the tokens are not those that it began with.

extension Engine {
  /// Another process changed the tokens meanwhile: renewed, or logged out.
  func overtaken(for audience: TokenAudience?) throws(EnrollError) -> RenewalResult {
    guard let record = try store.read(account), record.confirmed != nil else {
      return .reauthenticate("no user is signed in")
    }
    if let reason = record.sessionEnded { return .reauthenticate(reason) }
    guard try liveToken(for: audience) != nil else {
      return .unavailable(EnrollError(.server, "another process renewed, and got no token that works"))
    }
    return .renewed
  }

  /// The session that was renewed is not there any more. Another one has tokens of its own, but none for an audience yet.
  func replaced(for audience: TokenAudience?) throws(EnrollError) -> RenewalResult {
    let record = try store.read(account)
    guard let audience, let tokens = record?.confirmed, record?.sessionEnded == nil,
      tokens.access(for: audience) == nil
    else { return try overtaken(for: audience) }
    return .unavailable(EnrollError(.busy, "another sign-in took this session's place"))
  }

  /// Whether ``replaced(for:)`` gave this result. A host's transport may answer `busy`, too, and changes no tokens.
  func isOfReplacedSession(
    _ result: RenewalResult, from epoch: UInt64, for audience: TokenAudience?
  ) throws(EnrollError) -> Bool {
    guard audience != nil, case .unavailable(let error) = result, error.code == .busy else { return false }
    return try store.read(account)?.tokenEpoch != epoch
  }
}
