// Handles: numbers dressed as pointers, looked up by slot and generation and never dereferenced, so that a null, stale,
// doubly freed or invented one is an error code and not a crash (R41). So is a handle of another copy of the library in
// the same process: each copy mixes a random number into its handles. No lock: a lookup is one compare-and-swap, and a
// process may fork in the middle of anything.

import EnrollCore
import EnrollHost
import EnrollPosix
import Synchronization

/// The objects that C holds handles of, one table for each kind. A handle that was handed out stays good until it is
/// removed; whoever looked it up before that keeps the object until it gives it back.
///
/// A handle is, from the low end: 3 bits of kind (never zero, so that no handle is an aligned pointer), 20 bits of
/// slot, the rest generation: 32 bits where a pointer has 64, 9 where it has 32. Slot and generation are mixed with the
/// table's random number.
struct HandleTable<Object: AnyObject>: ~Copyable, @unchecked Sendable {
  // Unchecked: slots are made of atomics, and an object is only reached through a slot that counts its users.
  private let kind: UInt
  /// Mixed into every handle by XOR; 0 in the bits of the kind and above those of the generation.
  private let salt: UInt
  /// Pointers to chunks of slots, allocated when first needed and never freed.
  private let chunks: UnsafeMutablePointer<Atomic<UInt>>
  /// Slots that were ever used.
  private let used = Atomic<UInt32>(0)
  /// The last slot that became free, plus 1, and above it a count that grows with every change.
  private let free = Atomic<UInt64>(0)

  init(kind: UInt) {
    self.kind = kind & Slot.kinds
    chunks = .allocate(capacity: Slot.chunkLimit)
    // Without random bytes the address serves: no two tables of a process have the same one.
    salt = (Slot.randomSalt ?? UInt(bitPattern: chunks)) & Slot.saltBits
    for index in 0..<Slot.chunkLimit { (chunks + index).initialize(to: Atomic(0)) }
  }

  /// - Parameter word: for ``Glimpse/word``.
  /// - Returns: a handle, or nil when ``Slot/limit`` handles are alive.
  func insert(_ object: Object, word: UInt = 0) -> UInt? {
    guard let index = takeFreeSlot(), let slot = slot(at: index) else { return nil }
    let generation = Slot.next(slot.pointee.state.load(ordering: .relaxed))
    slot.pointee.object.store(
      UInt(bitPattern: Unmanaged.passRetained(object).toOpaque()), ordering: .relaxed)
    slot.pointee.word.store(word, ordering: .relaxed)
    slot.pointee.state.store(Slot.alive(generation), ordering: .releasing)
    return (UInt(generation) << Slot.generationShift | UInt(index) << 3) ^ salt | kind
  }

  /// Runs `body` with the object of a live handle. The object outlives the call even if another thread removes it.
  /// - Returns: nil, without having run anything, when the handle is not alive.
  func with<Result>(_ handle: UInt, _ body: (Object) -> Result) -> Result? {
    guard let slot = acquire(handle) else { return nil }
    defer { giveBack(slot, index: index(handle)) }
    guard let object = object(of: slot) else { return nil }
    return body(object)
  }

  /// Where a handle of this kind points, alive or not; counts no user, so nothing there is kept.
  func glimpse(_ handle: UInt) -> Glimpse? {
    guard handle & Slot.kinds == kind, let slot = usedSlot(at: index(handle)) else { return nil }
    return Glimpse(slot: slot, generation: generation(handle))
  }

  /// The object of a live handle, retained.
  func object(_ handle: UInt) -> Object? { with(handle) { $0 } }

  /// Ends a handle. The object goes when its last user is done.
  /// - Returns: the object; nil when the handle was not alive.
  func remove(_ handle: UInt) -> Object? {
    guard let slot = acquire(handle) else { return nil }
    defer { giveBack(slot, index: index(handle)) }
    // Of two that free one handle at once, the one that closes it wins.
    let before = slot.pointee.state.bitwiseOr(Slot.closed, ordering: .acquiringAndReleasing).oldValue
    return before & Slot.closed == 0 ? object(of: slot) : nil
  }

  private func object(of slot: UnsafeMutablePointer<Slot>) -> Object? {
    UnsafeRawPointer(bitPattern: slot.pointee.object.load(ordering: .relaxed)).map {
      Unmanaged<Object>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// Counts one more user of a live slot of this generation.
  private func acquire(_ handle: UInt) -> UnsafeMutablePointer<Slot>? {
    guard handle & Slot.kinds == kind, let slot = usedSlot(at: index(handle)) else { return nil }
    let generation = generation(handle)
    var state = slot.pointee.state.load(ordering: .relaxed)
    while Slot.isAlive(state, generation) {
      let (exchanged, seen) = slot.pointee.state.weakCompareExchange(
        expected: state, desired: state &+ 1, successOrdering: .acquiring, failureOrdering: .relaxed)
      if exchanged { return slot }
      state = seen
    }
    return nil
  }

  private func giveBack(_ slot: UnsafeMutablePointer<Slot>, index: Int) {
    let state = slot.pointee.state.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue
    guard state & (Slot.closed | Slot.users) == Slot.closed else { return }
    let object = slot.pointee.object.exchange(0, ordering: .relaxed)
    putFreeSlot(index)
    UnsafeRawPointer(bitPattern: object).map { Unmanaged<Object>.fromOpaque($0).release() }
  }
}

/// The part of a handle that can be read without counting a user.
struct Glimpse {
  fileprivate let slot: UnsafeMutablePointer<Slot>
  fileprivate let generation: UInt32

  /// The word kept beside the object; another object's word if the handle is no longer alive.
  var word: UInt { slot.pointee.word.load(ordering: .relaxed) }

  /// Whether the handle lives at this moment.
  var isAlive: Bool { Slot.isAlive(slot.pointee.state.load(ordering: .acquiring), generation) }
}

/// One place for an object.
private struct Slot: ~Copyable {
  /// From the low end: 31 bits of users, 1 bit "closed", 32 bits of generation.
  let state = Atomic<UInt64>(Slot.closed)
  /// The retained object.
  let object = Atomic<UInt>(0)
  /// A word kept beside the object, for callers that need nothing else.
  let word = Atomic<UInt>(0)
  /// The next free slot, plus 1.
  let next = Atomic<UInt32>(0)

  static let perChunk = 1024
  static let chunkLimit = 1024
  /// Handles of one kind alive at a time.
  static let limit = perChunk * chunkLimit
  static let users: UInt64 = 0x7FFF_FFFF
  static let closed: UInt64 = 0x8000_0000
  static let kinds: UInt = 7
  static let generationShift = 23
  /// How many bits of a generation a handle has room for.
  static let generationBits = min(32, UInt.bitWidth - generationShift)
  static let saltBits = UInt.max >> UInt(UInt.bitWidth - generationShift - generationBits) & ~kinds

  /// Nil where the system has no random bytes.
  static var randomSalt: UInt? {
    let size = UInt.bitWidth / 8
    do throws(EnrollError) {
      return try SystemRandomSource().bytes(size).reduce(0) { $0 << 8 | UInt($1) }
    } catch {
      return nil
    }
  }

  /// The generation after that of `state`: never 0, and no wider than a handle has room for.
  static func next(_ state: UInt64) -> UInt32 {
    let next = (state >> 32 &+ 1) & (1 << UInt64(generationBits) &- 1)
    return UInt32(truncatingIfNeeded: max(next, 1))
  }

  static func alive(_ generation: UInt32) -> UInt64 { UInt64(generation) << 32 }

  static func isAlive(_ state: UInt64, _ generation: UInt32) -> Bool {
    UInt32(truncatingIfNeeded: state >> 32) == generation && state & closed == 0 && state & users != users
  }
}

extension HandleTable {
  private func index(_ handle: UInt) -> Int { Int((handle ^ salt) >> 3 & 0xF_FFFF) }

  private func generation(_ handle: UInt) -> UInt32 {
    UInt32(truncatingIfNeeded: (handle ^ salt) >> UInt(Slot.generationShift))
  }

  /// The slot at an index that a handle may name; nil for one that was never used.
  private func usedSlot(at index: Int) -> UnsafeMutablePointer<Slot>? {
    let chunk = chunks[index / Slot.perChunk].load(ordering: .acquiring)
    return UnsafeMutablePointer<Slot>(bitPattern: chunk).map { $0 + index % Slot.perChunk }
  }

  /// The slot at an index, its chunk allocated if need be.
  private func slot(at index: Int) -> UnsafeMutablePointer<Slot>? {
    if let slot = usedSlot(at: index) { return slot }
    let fresh = UnsafeMutablePointer<Slot>.allocate(capacity: Slot.perChunk)
    for offset in 0..<Slot.perChunk { (fresh + offset).initialize(to: Slot()) }
    let (won, _) = chunks[index / Slot.perChunk].compareExchange(
      expected: 0, desired: UInt(bitPattern: fresh), ordering: .acquiringAndReleasing)
    if !won { fresh.deallocate() }
    return usedSlot(at: index)
  }

  private func takeFreeSlot() -> Int? {
    var head = free.load(ordering: .acquiring)
    while head & 0xFFFF_FFFF != 0 {
      let index = Int(head & 0xFFFF_FFFF) - 1
      let next = usedSlot(at: index)?.pointee.next.load(ordering: .relaxed) ?? 0
      let (exchanged, seen) = free.weakCompareExchange(
        expected: head, desired: (head >> 32 &+ 1) << 32 | UInt64(next), ordering: .acquiringAndReleasing)
      if exchanged { return index }
      head = seen
    }
    var count = used.load(ordering: .relaxed)
    while count < Slot.limit {
      let (exchanged, seen) = used.weakCompareExchange(
        expected: count, desired: count + 1, ordering: .acquiringAndReleasing)
      if exchanged { return Int(count) }
      count = seen
    }
    return nil
  }

  private func putFreeSlot(_ index: Int) {
    guard let slot = usedSlot(at: index) else { return }
    var head = free.load(ordering: .relaxed)
    while true {
      slot.pointee.next.store(UInt32(truncatingIfNeeded: head), ordering: .relaxed)
      let (exchanged, seen) = free.weakCompareExchange(
        expected: head, desired: (head >> 32 &+ 1) << 32 | UInt64(index + 1),
        successOrdering: .acquiringAndReleasing,
        failureOrdering: .relaxed)
      if exchanged { return }
      head = seen
    }
  }
}
