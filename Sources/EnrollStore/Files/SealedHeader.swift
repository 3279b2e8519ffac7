// The readable part of a sealed file (store.md, Format). The whole header is associated data of the encryption, so that
// nothing in it can be changed unnoticed. The checksum at its end only distinguishes accidental damage from a wrong
// key. Numbers are big-endian.
//
//   0 magic 8 │ 8 version 2 │ 10 header length 2 │ 12 zero 4 │ 16 store id 16 │ 32 key id 16 │ 48 tag 16
//  64 generation 8 │ 72 salt 32 │ 104 nonce 12 │ 116 plaintext length 4 │ 120 key commitment 32 │ 152 checksum 8
// 160 ciphertext, then its tag of 16

import EnrollRules
import EnrollCrypto

struct SealedHeader: Equatable {
  static let magic: [UInt8] = Array("ENROLLED".utf8)
  static let count = 160
  static let checksumCount = 8
  /// The number of bytes of magic, version and header length.
  private static let fixedCount = 12

  var version: Int64
  var storeID: [UInt8]
  var keyID: [UInt8]
  /// The tag: an HMAC of the file's purpose and name. It is also a part of the file's name.
  var tag: [UInt8]
  /// A number that increases by one with every write of the file.
  var generation: UInt64
  var salt: [UInt8]
  var nonce: [UInt8]
  var plaintextCount: UInt32
  /// A value that only the sealing key produces.
  var commitment: [UInt8]

  /// The 160 bytes of the header.
  func encoded() throws(CryptoError) -> [UInt8] {
    var bytes = Self.magic
    bytes.reserveCapacity(Self.count)
    Self.append(UInt64(bitPattern: version), 2, to: &bytes)
    Self.append(UInt64(Self.count), 2, to: &bytes)
    Self.append(0, 4, to: &bytes)
    bytes += storeID
    bytes += keyID
    bytes += tag
    Self.append(generation, 8, to: &bytes)
    bytes += salt
    bytes += nonce
    Self.append(UInt64(plaintextCount), 4, to: &bytes)
    bytes += commitment
    bytes += try Digest.sha256.hash(bytes)[..<Self.checksumCount]
    return bytes
  }

  /// The number of the form of a sealed file, and the length of its header. This works for any form, including newer
  /// forms.
  /// - Throws: `.storeCorrupt`.
  private static func form(of file: [UInt8]) throws(EnrollError) -> (version: Int64, count: Int) {
    guard file.count >= fixedCount, file[..<8].elementsEqual(Self.magic) else {
      throw damage("does not begin like a sealed file")
    }
    // In every form the header ends with the checksum. So the checksum can be verified in any form, and damage of the
    // version or of the length is reported as damage.
    let count = Int(truncatingIfNeeded: number(file[10..<fixedCount]))
    let body = count - checksumCount
    guard body >= fixedCount, file.count >= count else { throw damage("is cut off in its header") }
    let checksum = try SealedFormat.crypto { () throws(CryptoError) in
      try Digest.sha256.hash(Array(file[..<body]))
    }
    guard file[body..<count].elementsEqual(checksum[..<checksumCount]) else {
      throw damage("has a damaged header")
    }
    return (Int64(truncatingIfNeeded: number(file[8..<10])), count)
  }

  /// - Parameter file: the whole file.
  /// - Throws: `.storeCorrupt`.
  static func version(of file: [UInt8]) throws(EnrollError) -> Int64 { try form(of: file).version }

  /// - Parameter file: the whole file, in the newest form.
  /// - Throws: `.storeCorrupt`.
  init(of file: [UInt8]) throws(EnrollError) {
    let count: Int
    (version, count) = try Self.form(of: file)
    guard count == Self.count, file[12..<16].allSatisfy({ $0 == 0 }) else {
      throw Self.damage("has a header that no version writes")
    }
    storeID = Array(file[16..<32])
    keyID = Array(file[32..<48])
    tag = Array(file[48..<64])
    generation = Self.number(file[64..<72])
    salt = Array(file[72..<104])
    nonce = Array(file[104..<116])
    plaintextCount = UInt32(truncatingIfNeeded: Self.number(file[116..<120]))
    commitment = Array(file[120..<152])
  }

  init(
    version: Int64, storeID: [UInt8], keyID: [UInt8], tag: [UInt8], generation: UInt64, salt: [UInt8],
    nonce: [UInt8],
    plaintextCount: UInt32, commitment: [UInt8]
  ) {
    self.version = version
    self.storeID = storeID
    self.keyID = keyID
    self.tag = tag
    self.generation = generation
    self.salt = salt
    self.nonce = nonce
    self.plaintextCount = plaintextCount
    self.commitment = commitment
  }

  static func damage(_ text: String) -> EnrollError {
    EnrollError(.storeCorrupt, "a sealed file " + text, field: "store")
  }

  static func append(_ number: UInt64, _ count: Int, to bytes: inout [UInt8]) {
    for place in (0..<count).reversed() {
      bytes.append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(place))))
    }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}
