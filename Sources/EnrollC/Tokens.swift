// Access tokens: the calls that hosts make before requests, and renewal, revocation, introspection and DPoP proofs.

public import CEnroll
import EnrollRules
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix

extension AccessOutcome {
  /// The token, if the outcome has one.
  /// - Parameter reason: gets the error of the renewal, if there is no token because the renewal failed.
  /// - Throws: why there is no token.
  fileprivate func token(orBecause reason: inout enroll_status) throws(EnrollError) -> AccessToken {
    do throws(EnrollError) {
      return try token()
    } catch {
      reason = renewalStatus
      throw error
    }
  }

  fileprivate var renewalStatus: enroll_status { renewalFailure?.code.rawValue ?? ENROLL_OK }
}

extension enroll_access {
  fileprivate init(_ token: AccessToken, of access: AccessOutcome) {
    self.init()
    outcome = access.kind == .stale ? ENROLL_ACCESS_STALE : ENROLL_ACCESS_VALID
    reason = access.renewalStatus
    expires_at = token.expiresAt.seconds
    CharacterArray.write(token.tokenType, to: &token_type)
  }
}

func checkedLifetime(_ seconds: Int64) throws(EnrollError) -> Int64 {
  guard seconds >= 0 else {
    throw EnrollError(
      .invalidArgument, "minimum_lifetime must be 0 or more seconds, got \(seconds)",
      field: "minimum_lifetime")
  }
  return seconds
}

/// Runs the body of a function that returns a token in a buffer.
func returningToken(
  _ client: Handle?, _ access: AccessOut?, _ token: BufferOut?, _ error: ErrorOut?,
  _ body: (ClientHandle) throws(EnrollError) -> AccessOutcome
) -> enroll_status {
  reportingReason(to: error) { (reason: inout enroll_status) throws(EnrollError) in
    let handle = try ClientHandle.find(client)
    try enroll_access.check(access)
    let token = try require(token, "token")
    let outcome = try body(handle)
    let found = try outcome.token(orBecause: &reason)
    token.pointee = try enroll_buf(found.value)
    enroll_access(found, of: outcome).write(to: access)
  }
}

/// Starts a call that calls back with a token.
func startingAccess(
  _ client: Handle?, _ callback: enroll_access_callback?, _ userData: UserData?, _ pending: HandleOut?,
  _ error: ErrorOut?,
  _ prepare: (ClientHandle) throws(EnrollError) -> (
    Client, CancellationFlag, @escaping @Sendable (Result<AccessOutcome, EnrollError>) -> Void
  ) -> Void
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let handle = try ClientHandle.find(client)
    let host = try HostCallback(callback, userData)
    let work = try prepare(handle)
    try handle.executor.startDetached(pending) { cancellation, complete in
      work(handle.client, cancellation, complete)
    } deliver: { result in
      host.deliver(result)
    }
  }
}

extension HostCallback where Function == enroll_access_callback {
  fileprivate func deliver(_ result: Result<AccessOutcome, EnrollError>) {
    var reason = ENROLL_OK
    do throws(EnrollError) {
      let outcome = try result.get()
      let found = try outcome.token(orBecause: &reason)
      var access = enroll_access(found, of: outcome)
      access.struct_size = MemoryLayout<enroll_access>.size
      let token = found.value.withBytes { Buffer($0) }
      function(userData, ENROLL_OK, &access, token.bytes, token.size, nil)
    } catch {
      var told = enroll_error(error, reason: reason)
      function(userData, error.code.rawValue, nil, nil, 0, &told)
    }
  }
}

@_cdecl("enroll_access_init") @implementation
public func enroll_access_init(_ access: AccessOut?, _ struct_size: Int) {
  enroll_access.initialize(access, size: struct_size)
}

@_cdecl("enroll_token_access") @implementation
public func enroll_token_access(
  _ client: Handle?, _ minimum_lifetime: Int64, _ timeout_ms: Int64, _ access: AccessOut?,
  _ token: BufferOut?, _ error: ErrorOut?
) -> enroll_status {
  returningToken(client, access, token, error) { handle throws(EnrollError) in
    try handle.client.access(
      minimumLifetimeSeconds: try checkedLifetime(minimum_lifetime), until: try handle.deadline(timeout_ms),
      cancellation: handle.closing)
  }
}

@_cdecl("enroll_token_access_start") @implementation
public func enroll_token_access_start(
  _ client: Handle?, _ minimum_lifetime: Int64, _ timeout_ms: Int64, _ callback: enroll_access_callback?,
  _ user_data: UserData?, _ pending: HandleOut?, _ error: ErrorOut?
) -> enroll_status {
  startingAccess(client, callback, user_data, pending, error) { handle throws(EnrollError) in
    let lifetime = try checkedLifetime(minimum_lifetime)
    let deadline = try handle.deadline(timeout_ms)
    return { client, cancellation, complete in
      client.access(
        minimumLifetimeSeconds: lifetime, until: deadline, cancellation: cancellation, completion: complete)
    }
  }
}

@_cdecl("enroll_token_refresh") @implementation
public func enroll_token_refresh(
  _ client: Handle?, _ timeout_ms: Int64, _ access: AccessOut?, _ token: BufferOut?, _ error: ErrorOut?
) -> enroll_status {
  returningToken(client, access, token, error) { handle throws(EnrollError) in
    try handle.client.refresh(until: try handle.deadline(timeout_ms), cancellation: handle.closing)
  }
}

@_cdecl("enroll_token_refresh_start") @implementation
public func enroll_token_refresh_start(
  _ client: Handle?, _ timeout_ms: Int64, _ callback: enroll_access_callback?, _ user_data: UserData?,
  _ pending: HandleOut?, _ error: ErrorOut?
) -> enroll_status {
  startingAccess(client, callback, user_data, pending, error) { handle throws(EnrollError) in
    let deadline = try handle.deadline(timeout_ms)
    return { client, cancellation, complete in
      client.refresh(until: deadline, cancellation: cancellation, completion: complete)
    }
  }
}

@_cdecl("enroll_token_revoke") @implementation
public func enroll_token_revoke(_ client: Handle?, _ timeout_ms: Int64, _ error: ErrorOut?) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let handle = try ClientHandle.find(client)
    _ = try handle.client.revoke(until: try handle.deadline(timeout_ms), cancellation: handle.closing)
  }
}

@_cdecl("enroll_token_introspect") @implementation
public func enroll_token_introspect(
  _ client: Handle?, _ token: Int32, _ timeout_ms: Int64, _ claims: BufferOut?, _ error: ErrorOut?
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let handle = try ClientHandle.find(client)
    let claims = try require(claims, "claims")
    let subject: Introspection.Subject
    switch token {
    case ENROLL_TOKEN_ACCESS: subject = .accessToken
    case ENROLL_TOKEN_REFRESH: subject = .refreshToken
    default:
      throw EnrollError(.invalidArgument, "token must be ENROLL_TOKEN_*, got \(token)", field: "token")
    }
    let told = try handle.client.introspect(
      subject, until: try handle.deadline(timeout_ms), cancellation: handle.closing)
    claims.pointee = try enroll_buf(JSON.object(told).serialized())
  }
}

@_cdecl("enroll_dpop_proof") @implementation
public func enroll_dpop_proof(
  _ client: Handle?, _ method: TextIn?, _ method_size: Int, _ url: TextIn?, _ url_size: Int,
  _ nonce: TextIn?, _ nonce_size: Int, _ access_token: TextIn?, _ access_token_size: Int,
  _ proof: BufferOut?, _ error: ErrorOut?
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let handle = try ClientHandle.find(client)
    let proof = try require(proof, "proof")
    let token = try TextInput(access_token, access_token_size, "access_token").text(limit: TextLimit.json)
    let made = try handle.client.dpopProof(
      method: try TextInput(method, method_size, "method").requiredText(limit: TextLimit.name),
      url: try TextInput(url, url_size, "url").requiredText(limit: TextLimit.url),
      nonce: try TextInput(nonce, nonce_size, "nonce").text(limit: TextLimit.url),
      accessToken: token.map { Secret($0) })
    proof.pointee = try enroll_buf(made)
  }
}

@_cdecl("enroll_token_copy") @implementation
public func enroll_token_copy(
  _ client: Handle?, _ minimum_lifetime: Int64, _ timeout_ms: Int64, _ buffer: UnsafeMutablePointer<CChar>?,
  _ capacity: Int, _ size: UnsafeMutablePointer<Int>?, _ expires_at: Int64Out?, _ error: ErrorOut?
) -> enroll_status {
  // The fast path of almost every call: one lock, one read of the clock, no allocation and no error.
  if let buffer, capacity > 0, minimum_lifetime >= 0, timeout_ms >= -1, TokenCopy.accepts(error),
    let copied = TokenCopy.fromMemory(UInt(bitPattern: client), minimum_lifetime, buffer, capacity)
  {
    buffer[copied.count] = 0
    size?.pointee = copied.count
    expires_at?.pointee = copied.expiresAt.seconds
    return ENROLL_OK
  }
  return TokenCopy.withAllChecks(
    client, minimum_lifetime, timeout_ms, buffer, capacity, size, expires_at, error)
}

enum TokenCopy {
  static func accepts(_ error: ErrorOut?) -> Bool {
    guard let error else { return true }
    return error.pointee.struct_size >= enroll_error.firstSize
  }

  /// Copies the token in memory, if it is fresh, if this thread may request it, and if it fits into the buffer together
  /// with a NUL.
  static func fromMemory(
    _ client: UInt, _ minimumLifetime: Int64, _ buffer: UnsafeMutablePointer<CChar>, _ capacity: Int
  ) -> (count: Int, expiresAt: UnixTime)? {
    // For a client with the host's clock, the slot's word is 0.
    guard let slot = ClientHandle.table.unretainedSlot(client), let token = TokenPointer(address: slot.word),
      !HostCode.mark.isSet,
      let copied = token.copy(
        minimumLifetimeSeconds: minimumLifetime, at: SystemClock.now(),
        into: UnsafeMutableRawBufferPointer(start: buffer, count: capacity - 1),
        if: { slot.isAlive }),
      copied.count < capacity
    else { return nil }
    return copied
  }

  /// Copies a token with all checks, renews it if necessary, and reports errors.
  static func withAllChecks(
    _ client: Handle?, _ minimumLifetime: Int64, _ timeout: Int64, _ buffer: UnsafeMutablePointer<CChar>?,
    _ capacity: Int, _ size: UnsafeMutablePointer<Int>?, _ expiresAt: Int64Out?, _ error: ErrorOut?,
    for audience: (ClientHandle) throws(EnrollError) -> TokenAudience? = { _ in nil }
  ) -> enroll_status {
    reportingReason(to: error) { (reason: inout enroll_status) throws(EnrollError) in
      let handle = try ClientHandle.find(client)
      guard capacity >= 0, buffer != nil || capacity == 0 else {
        throw EnrollError(.invalidArgument, "buffer is NULL, or its capacity is absurd", field: "buffer")
      }
      let outcome = try handle.client.access(
        minimumLifetimeSeconds: try checkedLifetime(minimumLifetime), for: try audience(handle),
        until: try handle.deadline(timeout), cancellation: handle.closing)
      let token = try outcome.token(orBecause: &reason)
      let count = token.value.count
      guard let buffer, count < capacity else {
        size?.pointee = count
        throw EnrollError(
          .bufferTooSmall, "the token and its NUL take \(count + 1) bytes, the buffer has \(capacity)",
          field: "buffer")
      }
      token.value.withBytes {
        UnsafeMutableRawBufferPointer(start: buffer, count: capacity).copyMemory(from: $0)
      }
      buffer[count] = 0
      size?.pointee = count
      expiresAt?.pointee = token.expiresAt.seconds
    }
  }
}
