// A PIN over the account, through a client. Each call takes a good part of a second: that is what makes guessing dear.

public import EnrollCore
public import EnrollCrypto

extension Client {
  /// - Throws: as ``Engine/setPIN(_:)``.
  public func setPIN(_ pin: Secret) throws(EnrollError) {
    try requireOpen()
    defer {
      tokens.forget()
      outbox.sendNews()
      hub.announceChange()
    }
    try engine.setPIN(pin)
  }

  /// - Throws: as ``Engine/usePIN(_:to:)``.
  public func usePIN(_ pin: Secret, to change: PINChange) throws(EnrollError) -> PINAnswer {
    try requireOpen()
    defer {
      tokens.forget()
      hub.announceChange()
    }
    return try engine.usePIN(pin, to: change)
  }
}
