// The session of the account, as it is in the store now.

import EnrollRules

/// The session of the account. The enumeration is indirect, because a record is large and is passed from call to call.
indirect enum StoredSession {
  /// There is no session from which a caller can get a token. The outcome is the result for the caller.
  case none(AccessOutcome)
  case live(AccountRecord, TokenSet)
}

extension EngineContext {
  /// The session of the account, read from the store.
  /// - Throws: `.illegalState` if the tokens wait for the user's confirmation; the errors of the store.
  func session() throws(EnrollError) -> StoredSession {
    if !isNative { return .none(standIn()) }
    let record: AccountRecord
    do throws(EnrollError) {
      record = try store.read(account) ?? AccountRecord()
    } catch {
      guard error.code == .storeLocked else { throw error }
      return .none(.storeLocked)
    }
    guard let tokens = record.confirmed else {
      if record.provisional != nil {
        throw EnrollError(
          .illegalState,
          "the tokens wait for the user's confirmation: answer it with confirm, yes or no, or log out",
          field: EnrollError.confirmationField)
      }
      return .none(.reauthenticate(reason: "no user is signed in"))
    }
    // If the record has a reason here, a renewal has found that the session has ended, although the old access token
    // may not have expired yet.
    if let reason = record.sessionEnded {
      return .none(
        .reauthenticate(reason: reason, oauthErrorDescription: record.sessionEndedDescription))
    }
    if let identity = tokens.identity,
      !configuration.issuer.admits(identity.issuer, configuration.tenants)
    {
      return .none(.reauthenticate(reason: "the session is of a tenant that is not in tenants"))
    }
    return .live(record, tokens)
  }

  private func standIn() -> AccessOutcome {
    guard let token = configuration.standInToken else {
      return .reauthenticate(reason: "the platform is not native, and no stand-in token is configured")
    }
    return .valid(AccessToken(value: token, tokenType: "Bearer", expiresAt: UnixTime(seconds: .max)))
  }
}
