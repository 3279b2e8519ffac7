// Tests that sealed data can be opened if they are unchanged, and only with the same key and for the same purpose.
// Anything else is refused, with a separate error for each case.

@testable import EnrollPosix
@testable import EnrollStore
import EnrollRules
import EnrollSteps
import EnrollCrypto
import Expectations
import StoreSupport
import Testing

struct SealedFormatTests {
  private static let tag = [UInt8](repeating: 7, count: 16)
  private static let plaintext = Secret("what nobody may read")

  private static func keys(_ seed: UInt8 = 1) -> StoreKeys {
    StoreKeys(
      storeID: [UInt8](repeating: 1, count: 16), nameKey: Secret([UInt8](repeating: seed, count: 32)),
      active: StoreKeys.DataKey(
        id: [UInt8](repeating: 3, count: 16), key: Secret([UInt8](repeating: seed, count: 32))))
  }

  private static func sealed(generation: UInt64 = 5) throws -> [UInt8] {
    try SealedFormat.seal(
      plaintext, tag: tag, generation: generation, keys: keys(), random: SystemRandomSource())
  }

  private static func opening(_ file: [UInt8], _ keys: StoreKeys = keys()) -> EnrollError.Code? {
    code { () throws(EnrollError) in _ = try SealedFormat.open(file, tag: tag, keys: keys) }
  }

  /// The file with a corrected checksum. An attacker can do this, because it needs only the format, not the key.
  private static func withChecksum(_ file: [UInt8]) throws -> [UInt8] {
    var file = file
    let checksum = try Digest.sha256.hash(Array(file[..<152]))
    file.replaceSubrange(152..<160, with: checksum[..<8])
    return file
  }

  @Test("a sealed file opens to what was sealed, with its generation, at every length")
  func roundTrip() throws {
    for count in [0, 1, 15, 16, 17, 1000, SealedFormat.plaintextLimit] {
      let plaintext = Secret([UInt8](repeating: 0x61, count: count))
      let file = try SealedFormat.seal(
        plaintext, tag: Self.tag, generation: .max, keys: Self.keys(), random: SystemRandomSource())
      expect(file.count, is: 160 + count + 16)
      let (opened, generation) = try SealedFormat.open(file, tag: Self.tag, keys: Self.keys())
      expect(opened, is: plaintext)
      expect(generation, is: .max)
    }
  }

  @Test("a record over 1 MiB is refused before anything is written")
  func tooLong() {
    let long = Secret([UInt8](repeating: 0x61, count: SealedFormat.plaintextLimit + 1))
    expect(
      code { () throws(EnrollError) in
        _ = try SealedFormat.seal(
          long, tag: Self.tag, generation: 1, keys: Self.keys(), random: SystemRandomSource())
      }, is: .invalidArgument)
  }

  @Test("every flipped bit of a sealed file is damage, never a wrong key and never a success")
  func everyBit() throws {
    let file = try Self.sealed()
    for index in file.indices {
      for bit in 0..<8 {
        var changed = file
        changed[index] ^= 1 << UInt8(bit)
        expect(Self.opening(changed), is: .storeCorrupt, "byte \(index), bit \(bit)")
      }
    }
  }

  @Test("every shorter or longer file is damage")
  func everyLength() throws {
    let file = try Self.sealed()
    for count in 0..<file.count { expect(Self.opening(Array(file[..<count])), is: .storeCorrupt) }
    expect(Self.opening(file + [0]), is: .storeCorrupt)
  }

  @Test("a wrong key is another error than damage")
  func wrongKey() throws {
    expect(Self.opening(try Self.sealed(), Self.keys(2)), is: .storeKey)
    var otherStore = Self.keys()
    otherStore.storeID[0] ^= 1
    expect(Self.opening(try Self.sealed(), otherStore), is: .storeKey)
    var otherKeyID = Self.keys()
    otherKeyID.active.id[0] ^= 1
    expect(Self.opening(try Self.sealed(), otherKeyID), is: .storeKey)
  }

  @Test("what an older key sealed opens after a new one took its place")
  func olderKey() throws {
    var keys = Self.keys()
    keys.older = [keys.active]
    keys.active = StoreKeys.DataKey(
      id: [UInt8](repeating: 9, count: 16), key: Secret([UInt8](repeating: 9, count: 32)))
    expect(Self.opening(try Self.sealed(), keys), is: nil)
  }

  @Test("nothing in the header can be changed, also with a right checksum: it is associated data")
  func headerIsAuthenticated() throws {
    let file = try Self.sealed()
    // Changes the generation and the nonce; then the length, which then contradicts the size of the file.
    for index in Array(64..<72) + Array(104..<116) + Array(116..<120) {
      var changed = file
      changed[index] ^= 1
      expect(Self.opening(try Self.withChecksum(changed)), is: .storeCorrupt, "byte \(index)")
    }
    // Changes the store id, the key id, the salt and the commitment, which determine the key.
    for index in Array(16..<48) + Array(72..<104) + Array(120..<152) {
      var changed = file
      changed[index] ^= 1
      expect(Self.opening(try Self.withChecksum(changed)), is: .storeKey, "byte \(index)")
    }
  }

  @Test("a file relabelled as another account's is refused, also with a right checksum")
  func relabelled() throws {
    var file = try Self.sealed()
    let other = [UInt8](repeating: 8, count: 16)
    expect(
      code { () throws(EnrollError) in _ = try SealedFormat.open(file, tag: other, keys: Self.keys()) },
      is: .storeCorrupt)
    file.replaceSubrange(48..<64, with: other)
    let relabelled = try Self.withChecksum(file)
    expect(
      code { () throws(EnrollError) in _ = try SealedFormat.open(relabelled, tag: other, keys: Self.keys()) },
      is: .storeCorrupt)
  }

  @Test("header and body of two files do not mix")
  func mixed() throws {
    let one = try Self.sealed(generation: 1)
    let two = try Self.sealed(generation: 2)
    expect(Self.opening(Array(one[..<160]) + Array(two[160...])), is: .storeCorrupt)
  }

  @Test("a newer form is refused as such, not as damage")
  func newerForm() throws {
    var file = try Self.sealed()
    file[9] = 2
    expect(Self.opening(file), is: .storeCorrupt, "a flipped bit is not a version")
    expect(Self.opening(try Self.withChecksum(file)), is: .storeVersion)
  }

  @Test("no key is used twice, not even with a generator that repeats itself")
  func repeatingGenerator() throws {
    final class Stuck: RandomSource {
      func bytes(_ count: Int) throws(EnrollError) -> [UInt8] { [UInt8](repeating: 4, count: count) }
    }
    func salt(_ text: String, _ generation: UInt64) throws -> ArraySlice<UInt8> {
      try SealedFormat.seal(
        Secret(text), tag: Self.tag, generation: generation, keys: Self.keys(), random: Stuck())[72..<104]
    }
    let salts = try Set([salt("a", 1), salt("b", 1), salt("a", 2)])
    expect(salts.count, is: 3)
  }

  @Test("the plaintext is nowhere in the file")
  func sealedIsUnreadable() throws {
    let text = String(decoding: try Self.sealed(), as: UTF8.self)
    #expect(!text.contains("nobody"))
  }
}
