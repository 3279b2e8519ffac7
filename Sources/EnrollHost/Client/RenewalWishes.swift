// What the callers of a client want renewed.

import EnrollCore

/// Which access tokens the callers want renewed, by audience and epoch. A renewal that starts takes all wishes for its audience:
/// a caller that comes late, with an epoch that is over, gets what the renewal before it brought.
struct RenewalWishes: Sendable {
  /// What is wanted for one audience.
  struct Wish: Sendable {
    let audience: TokenAudience?
    var epochs: [UInt64] = []
    var isForced = false
  }

  private var wishes: [Wish] = []

  mutating func add(epoch: UInt64, isForced: Bool, for audience: TokenAudience?) {
    var wish = take(for: audience)
    if !wish.epochs.contains(epoch) { wish.epochs.append(epoch) }
    wish.isForced = wish.isForced || isForced
    wishes.append(wish)
  }

  mutating func take(for audience: TokenAudience?) -> Wish {
    guard let index = wishes.firstIndex(where: { $0.audience == audience }) else {
      return Wish(audience: audience)
    }
    return wishes.remove(at: index)
  }
}
