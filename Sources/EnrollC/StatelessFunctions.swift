// Functions that need no client: PKCE and expiry.

public import CEnroll
import EnrollRules
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix

extension enroll_pkce {
  init(_ pair: PKCE) {
    self.init()
    pair.verifier.withBytes { verifier in
      withUnsafeMutableBytes(of: &code_verifier) { memory in
        if verifier.count < memory.count { memory.copyMemory(from: verifier) }
      }
    }
    CharacterArray.write(pair.challenge, to: &code_challenge)
  }
}

@_cdecl("enroll_pkce_init") @implementation
public func enroll_pkce_init(_ pkce: UnsafeMutablePointer<enroll_pkce>?, _ struct_size: Int) {
  enroll_pkce.initialize(pkce, size: struct_size)
}

@_cdecl("enroll_pkce_generate") @implementation
public func enroll_pkce_generate(
  _ pkce: UnsafeMutablePointer<enroll_pkce>?, _ error: ErrorOut?
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let output = try require(pkce, "pkce")
    try enroll_pkce.check(output)
    var random = try SystemRandomSource().bytes(PKCE.randomByteCount)
    defer { random.withUnsafeMutableBytes { Wipe.bytes($0) } }
    var pair = enroll_pkce(try PKCE.make(random: random))
    defer { withUnsafeMutableBytes(of: &pair) { Wipe.bytes($0) } }
    pair.write(to: output)
  }
}

@_cdecl("enroll_expiry_check") @implementation
public func enroll_expiry_check(
  _ expires_at: Int64, _ now: Int64, _ lifetime: Int64, _ grace: Int64, _ minimum_lifetime: Int64,
  _ band: Int32Out?,
  _ seconds_left: Int64Out?, _ error: ErrorOut?
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    for (name, value) in [("lifetime", lifetime), ("grace", grace), ("minimum_lifetime", minimum_lifetime)] {
      guard value >= 0 else {
        throw EnrollError(.invalidArgument, "\(name) must be 0 or more seconds, got \(value)", field: name)
      }
    }
    // This boot id differs from the boot id of `moment`, so that only the date counts.
    let expiry = Expiry(
      expiresAt: UnixTime(seconds: expires_at), deadline: Instant(nanoseconds: 0), bootID: "then",
      lifetimeSeconds: lifetime == 0 ? .max : lifetime)
    let moment = Moment(wall: UnixTime(seconds: now), instant: Instant(nanoseconds: 0), bootID: "now")
    seconds_left?.pointee = expiry.secondsLeft(at: moment)
    switch expiry.band(at: moment, graceSeconds: grace, minimumLifetimeSeconds: minimum_lifetime) {
    case .fresh: band?.pointee = ENROLL_BAND_FRESH
    case .due: band?.pointee = ENROLL_BAND_DUE
    case .expired: band?.pointee = ENROLL_BAND_EXPIRED
    }
  }
}
