// Handles: numbers in the type of a pointer, which are looked up by slot and generation and never dereferenced. A
// null, stale, doubly freed or invented handle therefore gives an error code and no crash (R41). So does a handle of
// another copy of the library in the same process, because each copy mixes a random number into its handles. The
// process may fork at any time, so there is no lock: a lookup is one compare-and-swap.

import EnrollRules
import EnrollHost
import EnrollPosix
import Synchronization

/// The objects for which C has handles, with one table for each kind. A handle is valid until it is removed. A thread
/// that looked up the object before the removal can use the object until that thread releases it.
///
/// The bits of a handle, from the low end: 3 bits of kind (never zero, so that no handle is an aligned pointer), 20
/// bits of slot, and the generation: 32 bits if a pointer has 64, 9 bits if it has 32. Slot and generation are mixed
/// with the table's random number.
struct HandleTable<Object: AnyObject>: ~Copyable, @unchecked Sendable {
  // Unchecked: slots are made of atomics, and an object is only reached through a slot that counts its users.
  private let kind: UInt
  /// Every handle is combined with this value by XOR. The bits of the kind, and the bits above the
  /// generation, are 0.
  private let salt: UInt
  /// Pointers to chunks of slots, allocated when first needed and never freed.
  private let chunks: UnsafeMutablePointer<Atomic<UInt>>
  /// The number of slots that were ever used.
  private let used = Atomic<UInt32>(0)
  /// The lower half is the index of the slot that became free last, plus 1. The upper half is a count that grows with
  /// every change.
  private let free = Atomic<UInt64>(0)

  init(kind: UInt) {
    self.kind = kind & Slot.kinds
    chunks = .allocate(capacity: Slot.chunkLimit)
    // If the system has no random bytes, the salt is the address of the chunks, which is different for every table in
    // the process.
    salt = (Slot.randomSalt ?? UInt(bitPattern: chunks)) & Slot.saltBits
    for index in 0..<Slot.chunkLimit { (chunks + index).initialize(to: Atomic(0)) }
  }

  /// - Parameter word: the value for ``UnretainedSlot/word``.
  /// - Returns: a handle; nil if ``Slot/limit`` handles are in use.
  func insert(_ object: Object, word: UInt = 0) -> UInt? {
    guard let index = takeFreeSlot(), let slot = slot(at: index) else { return nil }
    let generation = Slot.next(slot.pointee.state.load(ordering: .relaxed))
    slot.pointee.object.store(
      UInt(bitPattern: Unmanaged.passRetained(object).toOpaque()), ordering: .relaxed)
    slot.pointee.word.store(word, ordering: .relaxed)
    slot.pointee.state.store(Slot.alive(generation), ordering: .releasing)
    return (UInt(generation) << Slot.generationShift | UInt(index) << 3) ^ salt | kind
  }

  /// Runs `body` with the object of a valid handle. The object stays alive during the call, even if another thread
  /// removes it.
  /// - Returns: nil if the handle is not valid. Then `body` does not run.
  func with<Result>(_ handle: UInt, _ body: (Object) -> Result) -> Result? {
    guard let slot = acquire(handle) else { return nil }
    defer { release(slot, index: index(handle)) }
    guard let object = object(of: slot) else { return nil }
    return body(object)
  }

  /// The slot of a handle of this kind, whether the handle is valid or not. The caller does not count as a user of the
  /// slot, so the object may be released at any time.
  func unretainedSlot(_ handle: UInt) -> UnretainedSlot? {
    guard handle & Slot.kinds == kind, let slot = usedSlot(at: index(handle)) else { return nil }
    return UnretainedSlot(slot: slot, generation: generation(handle))
  }

  /// The object of a valid handle, retained.
  func object(_ handle: UInt) -> Object? { with(handle) { $0 } }

  /// Invalidates a handle. The object is released after its last use.
  /// - Returns: the object; nil if the handle was not valid.
  func remove(_ handle: UInt) -> Object? {
    guard let slot = acquire(handle) else { return nil }
    defer { release(slot, index: index(handle)) }
    // If two threads free one handle at the same time, only the thread that closes the slot gets the object.
    let before = slot.pointee.state.bitwiseOr(Slot.closed, ordering: .acquiringAndReleasing).oldValue
    return before & Slot.closed == 0 ? object(of: slot) : nil
  }

  private func object(of slot: UnsafeMutablePointer<Slot>) -> Object? {
    UnsafeRawPointer(bitPattern: slot.pointee.object.load(ordering: .relaxed)).map {
      Unmanaged<Object>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// Counts another user of the slot, if the handle is valid.
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

  private func release(_ slot: UnsafeMutablePointer<Slot>, index: Int) {
    let state = slot.pointee.state.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue
    guard state & (Slot.closed | Slot.users) == Slot.closed else { return }
    let object = slot.pointee.object.exchange(0, ordering: .relaxed)
    addFreeSlot(index)
    UnsafeRawPointer(bitPattern: object).map { Unmanaged<Object>.fromOpaque($0).release() }
  }
}

/// A slot whose reader does not count as its user.
struct UnretainedSlot {
  fileprivate let slot: UnsafeMutablePointer<Slot>
  fileprivate let generation: UInt32

  /// The word that is stored beside the object; another object's word if the handle is no longer valid.
  var word: UInt { slot.pointee.word.load(ordering: .relaxed) }

  /// Whether the handle is valid at this moment.
  var isAlive: Bool { Slot.isAlive(slot.pointee.state.load(ordering: .acquiring), generation) }
}

/// Storage for one object.
private struct Slot: ~Copyable {
  /// From the low end: 31 bits for the number of users, 1 bit "closed", 32 bits of generation.
  let state = Atomic<UInt64>(Slot.closed)
  /// The retained object.
  let object = Atomic<UInt>(0)
  /// A second word of the slot. Callers can read it without the object.
  let word = Atomic<UInt>(0)
  /// The next free slot, plus 1.
  let next = Atomic<UInt32>(0)

  static let perChunk = 1024
  static let chunkLimit = 1024
  /// The maximum number of handles of one kind that are valid at the same time.
  static let limit = perChunk * chunkLimit
  static let users: UInt64 = 0x7FFF_FFFF
  static let closed: UInt64 = 0x8000_0000
  static let kinds: UInt = 7
  static let generationShift = 23
  /// The number of bits of a generation that fit into a handle.
  static let generationBits = min(32, UInt.bitWidth - generationShift)
  static let saltBits = UInt.max >> UInt(UInt.bitWidth - generationShift - generationBits) & ~kinds

  /// A random salt; nil if the system has no random bytes.
  static var randomSalt: UInt? {
    let size = UInt.bitWidth / 8
    do throws(EnrollError) {
      return try SystemRandomSource().bytes(size).reduce(0) { $0 << 8 | UInt($1) }
    } catch {
      return nil
    }
  }

  /// The generation that follows the generation in `state`. It is never 0, and fits into the bits of a handle.
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

  /// The slot at an index that a handle may name; nil if the slot was never used.
  private func usedSlot(at index: Int) -> UnsafeMutablePointer<Slot>? {
    let chunk = chunks[index / Slot.perChunk].load(ordering: .acquiring)
    return UnsafeMutablePointer<Slot>(bitPattern: chunk).map { $0 + index % Slot.perChunk }
  }

  /// The slot at an index. Allocates its chunk if necessary.
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

  private func addFreeSlot(_ index: Int) {
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
