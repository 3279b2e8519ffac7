// The calls for access tokens with an audience other than the session's own (RFC 8707): a resource, scopes, or both.

public import CEnroll
import EnrollCommands
import EnrollRules
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix

/// The audience that the caller names. NULL means that the caller wants the session's own token.
public typealias AudienceIn = UnsafePointer<enroll_audience>

extension ClientHandle {
  /// - Throws: `.invalidArgument` with the name of the member that is invalid.
  fileprivate func audience(_ audience: AudienceIn?) throws(EnrollError) -> TokenAudience? {
    guard let audience else { return nil }
    let given = try enroll_audience(reading: audience)
    let resource = try TextInput(given.resource, given.resource_size, "resource").text(limit: TextLimit.url)
    let scope = try TextInput(given.scope, given.scope_size, "scope").text(limit: TextLimit.parameters)
    return try client.configuration.audience(resource: resource, scopes: scope.map { Scopes.split($0) })
  }
}

/// The bytes of an audience in the caller's memory.
private struct AudienceBytes {
  let resource: UnsafeRawBufferPointer
  let scope: UnsafeRawBufferPointer

  /// Returns nil if the audience needs the full check. The full check is unnecessary if the struct has the current size
  /// and all texts of the audience have permitted sizes.
  init?(_ audience: AudienceIn) {
    guard audience.pointee.struct_size == MemoryLayout<enroll_audience>.size,
      let resource = Self.text(audience.pointee.resource, audience.pointee.resource_size),
      let scope = Self.text(audience.pointee.scope, audience.pointee.scope_size)
    else { return nil }
    self.resource = resource
    self.scope = scope
  }

  private static func text(_ pointer: TextIn?, _ size: Int) -> UnsafeRawBufferPointer? {
    guard let pointer else {
      return size == 0 || size == TextInput.nulTerminated ? .init(start: nil, count: 0) : nil
    }
    var count = size
    if size == TextInput.nulTerminated {
      count = NulTerminated.count(of: pointer, limit: TextLimit.parameters)
    }
    return (1...TextLimit.parameters).contains(count)
      ? UnsafeRawBufferPointer(start: pointer, count: count) : nil
  }
}

extension TokenCopy {
  /// As ``fromMemory(_:_:_:_:)``, for a token with another audience than the session's own.
  fileprivate static func fromMemory(
    _ client: UInt, _ audience: AudienceIn, _ minimumLifetime: Int64,
    _ buffer: UnsafeMutablePointer<CChar>, _ capacity: Int
  ) -> (count: Int, expiresAt: UnixTime)? {
    guard let slot = ClientHandle.table.unretainedSlot(client), let token = TokenPointer(address: slot.word),
      !HostCode.mark.isSet, let named = AudienceBytes(audience),
      let copied = token.copy(
        resource: named.resource, scopes: named.scope, minimumLifetimeSeconds: minimumLifetime,
        at: SystemClock.now(), into: UnsafeMutableRawBufferPointer(start: buffer, count: capacity - 1),
        if: { slot.isAlive }),
      copied.count < capacity
    else { return nil }
    return copied
  }
}

@_cdecl("enroll_audience_init") @implementation
public func enroll_audience_init(_ audience: UnsafeMutablePointer<enroll_audience>?, _ struct_size: Int) {
  enroll_audience.initialize(audience, size: struct_size)
}

@_cdecl("enroll_token_access_for") @implementation
public func enroll_token_access_for(
  _ client: Handle?, _ audience: AudienceIn?, _ minimum_lifetime: Int64, _ timeout_ms: Int64,
  _ access: AccessOut?, _ token: BufferOut?, _ error: ErrorOut?
) -> enroll_status {
  returningToken(client, access, token, error) { handle throws(EnrollError) in
    try handle.client.access(
      minimumLifetimeSeconds: try checkedLifetime(minimum_lifetime), for: try handle.audience(audience),
      until: try handle.deadline(timeout_ms), cancellation: handle.closing)
  }
}

@_cdecl("enroll_token_access_for_start") @implementation
public func enroll_token_access_for_start(
  _ client: Handle?, _ audience: AudienceIn?, _ minimum_lifetime: Int64, _ timeout_ms: Int64,
  _ callback: enroll_access_callback?, _ user_data: UserData?, _ pending: HandleOut?, _ error: ErrorOut?
) -> enroll_status {
  startingAccess(client, callback, user_data, pending, error) { handle throws(EnrollError) in
    let lifetime = try checkedLifetime(minimum_lifetime)
    let deadline = try handle.deadline(timeout_ms)
    let audience = try handle.audience(audience)
    return { client, cancellation, complete in
      client.access(
        minimumLifetimeSeconds: lifetime, for: audience, until: deadline, cancellation: cancellation,
        completion: complete)
    }
  }
}

@_cdecl("enroll_token_refresh_for") @implementation
public func enroll_token_refresh_for(
  _ client: Handle?, _ audience: AudienceIn?, _ timeout_ms: Int64, _ access: AccessOut?,
  _ token: BufferOut?, _ error: ErrorOut?
) -> enroll_status {
  returningToken(client, access, token, error) { handle throws(EnrollError) in
    try handle.client.refresh(
      for: try handle.audience(audience), until: try handle.deadline(timeout_ms),
      cancellation: handle.closing)
  }
}

@_cdecl("enroll_token_refresh_for_start") @implementation
public func enroll_token_refresh_for_start(
  _ client: Handle?, _ audience: AudienceIn?, _ timeout_ms: Int64, _ callback: enroll_access_callback?,
  _ user_data: UserData?, _ pending: HandleOut?, _ error: ErrorOut?
) -> enroll_status {
  startingAccess(client, callback, user_data, pending, error) { handle throws(EnrollError) in
    let deadline = try handle.deadline(timeout_ms)
    let audience = try handle.audience(audience)
    return { client, cancellation, complete in
      client.refresh(for: audience, until: deadline, cancellation: cancellation, completion: complete)
    }
  }
}

@_cdecl("enroll_token_copy_for") @implementation
public func enroll_token_copy_for(
  _ client: Handle?, _ audience: AudienceIn?, _ minimum_lifetime: Int64, _ timeout_ms: Int64,
  _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int, _ size: UnsafeMutablePointer<Int>?,
  _ expires_at: Int64Out?, _ error: ErrorOut?
) -> enroll_status {
  guard let audience else {
    return enroll_token_copy(
      client, minimum_lifetime, timeout_ms, buffer, capacity, size, expires_at, error)
  }
  if let buffer, capacity > 0, minimum_lifetime >= 0, timeout_ms >= -1, TokenCopy.accepts(error),
    let copied = TokenCopy.fromMemory(
      UInt(bitPattern: client), audience, minimum_lifetime, buffer, capacity)
  {
    buffer[copied.count] = 0
    size?.pointee = copied.count
    expires_at?.pointee = copied.expiresAt.seconds
    return ENROLL_OK
  }
  return TokenCopy.withAllChecks(
    client, minimum_lifetime, timeout_ms, buffer, capacity, size, expires_at, error
  ) { handle throws(EnrollError) in try handle.audience(audience) }
}

@_cdecl("enroll_token_list") @implementation
public func enroll_token_list(
  _ client: Handle?, _ tokens: BufferOut?, _ error: ErrorOut?
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let handle = try ClientHandle.find(client)
    let tokens = try require(tokens, "tokens")
    let kept = JSON.array(try handle.client.keptTokens().map { $0.json })
    tokens.pointee = try enroll_buf(kept.serialized())
  }
}
