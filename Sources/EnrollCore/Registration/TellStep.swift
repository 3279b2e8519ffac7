// Messages to the host's back end: the confirmed profile and failures (flows.md §7). Both go through the sealed outbox:
// no call waits for them, and an outage of up to 7 days loses neither.

public import EnrollJSON

extension Engine {
  /// Raises `error.reported`, and queues the report where one is to be posted.
  func report(_ error: EnrollError) {
    if let endpoint = configuration.errorReportURI {
      let now = clock.wallTime()
      let body = ErrorReport.body(error, at: now, clientID: configuration.clientID, platform: platform)
      let entry = OutboxEntry(
        issuer: configuration.issuer, sender: sender, endpoint: endpoint, message: .errorReport(body),
        queued: now)
      _ = try? store.updateOutbox { outbox throws(EnrollError) in
        let reports = outbox.indices.filter { outbox[$0].isErrorReport && isOurs(outbox[$0]) }
        if reports.count >= ErrorReport.limit, let oldest = reports.first { outbox.remove(at: oldest) }
        outbox.append(entry)
      }
    }
    notify(.errorReported(error))
  }

  /// Raises the event for a failure that another process of this one's has reported.
  package func notice(failure error: EnrollError) {
    if error.concernsUser { notify(.errorReported(error)) }
  }

  /// Records an error that does not stop the flow: for the log and the diagnostics, not for the user.
  func warn(_ error: EnrollError) {
    let now = clock.wallTime()
    memory.withLock { $0.errors.add(error, at: now) }
    observer.warn(error)
  }

  /// Runs a step whose failure is reported where the user may have to hear of it.
  public func reporting<Result>(_ step: () throws(EnrollError) -> Result) throws(EnrollError) -> Result {
    do throws(EnrollError) {
      return try step()
    } catch {
      if error.concernsUser { report(error) }
      throw error
    }
  }

  /// After H: the back end will be told the profile. A profile that still waits is the same entry.
  func tellProfile() {
    guard let endpoint = configuration.profileUpdateURI else { return }
    let entry = OutboxEntry(
      issuer: configuration.issuer, sender: sender, endpoint: endpoint,
      message: .profile(account: account.qualifiedName), queued: clock.wallTime())
    _ = try? store.updateOutbox { outbox throws(EnrollError) in
      outbox.removeAll { $0.message == entry.message && $0.endpoint == entry.endpoint && isOurs($0) }
      outbox.append(entry)
    }
  }

  /// After a logout or clearing: a profile that was not sent yet is dropped, and the next session is judged anew.
  func forgetSession() {
    memory.withLock {
      $0.backoff = nil
      $0.check = .none
      $0.before = nil
    }
    forgetUnsaved()
    guard configuration.profileUpdateURI != nil else { return }
    _ = try? store.updateOutbox { outbox throws(EnrollError) in
      outbox.removeAll { $0.message == .profile(account: account.qualifiedName) }
    }
  }

  /// - Returns: how it went; nil when it is another account's.
  func sendProfile(
    of name: String, _ entry: OutboxEntry, cancellation: (any Cancellation)?
  ) -> Delivery? {
    guard ASCII.equals(name, account.qualifiedName), let endpoint = entry.endpoint else { return nil }
    do throws(EnrollError) {
      guard let record = try store.read(account), let tokens = record.confirmed, let profile = record.profile
      else { return .done }
      let response = try send(
        ProfileUpdate.request(endpoint: endpoint, tokens: tokens, profile: profile),
        provenBy: tokens.proofKey, accessToken: tokens.accessToken, cancellation: cancellation)
      return ProfileUpdate.isFinal(status: response.status)
        ? .done : .later(retryAfterSeconds: RetryAfter.seconds(of: response))
    } catch {
      return .unreached
    }
  }

  /// - Returns: as ``sendProfile(of:_:cancellation:)``.
  func sendReport(_ text: String, _ entry: OutboxEntry, cancellation: (any Cancellation)?) -> Delivery? {
    guard let endpoint = entry.endpoint else { return nil }
    do throws(EnrollError) {
      let response = try transport.send(
        ErrorReport.request(endpoint: endpoint, body: text), cancellation: cancellation)
      return ErrorReport.isFinal(status: response.status)
        ? .done : .later(retryAfterSeconds: RetryAfter.seconds(of: response))
    } catch {
      return .unreached
    }
  }
}

extension OutboxEntry {
  fileprivate var isErrorReport: Bool {
    if case .errorReport = message { true } else { false }
  }
}

/// Tells the host's back end the profile that the user confirmed: a POST with the access token in the header (R31). A
/// failure never undoes H.
public enum ProfileUpdate {
  public static func request(endpoint: String, tokens: TokenSet, profile: JSONObject) -> HTTPRequest {
    HTTPRequest(
      .post, endpoint,
      headers: [
        HTTPHeader("Authorization", tokens.authorization), HTTPHeader("Content-Type", "application/json"),
        HTTPHeader("Accept", "application/json"),
      ],
      body: JSON.object([("profile", .object(profile))]).serialized())
  }

  /// Whether nothing more is to be done: taken, or refused in a way that the next try cannot change. After a 401 the
  /// next access token may be taken.
  public static func isFinal(status: Int) -> Bool {
    switch status {
    case 200..<300: true
    case 401, 408, 429: false
    case 400..<500: true
    default: false
    }
  }
}
