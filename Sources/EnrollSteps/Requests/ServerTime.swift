// The provider's clock, as this process knows it (R25).

import EnrollRules

extension EngineContext {
  /// The current time by the server's clock. It is computed from the server's responses to this process; without such
  /// responses, from the stored offset; without a stored offset, from the dates of the server's documents.
  func provenTime() -> UnixTime {
    if let time = provider.serverTime { return time }
    let (now, told) = (clock.wallTime(), provider.documentTime)
    guard let offset = (try? store.read(account))?.serverClock.offsetSeconds else { return told ?? now }
    let time = now + offset
    // A document from a cache has a date that is too early, never too late. If a document's date is much later than
    // `time`, somebody has changed this device's date.
    if let told, told.since(time) > ServerClock.toleranceSeconds { return told }
    return time
  }

  /// The current time by the server's clock, from the server's responses or the stored offset; nil if it is unknown.
  func knownServerTime() -> UnixTime? {
    if let time = provider.serverTime { return time }
    return (try? store.read(account))?.serverClock.offsetSeconds.map { clock.wallTime() + $0 }
  }
}
