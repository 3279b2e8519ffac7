// Files of the store. The target corrects their checksums, so that the fuzzer gets past them; no changed file
// may open.

@testable import EnrollPosix
@testable import EnrollStore
import EnrollRules
import EnrollCrypto
import EnrollJSON

@testable import EnrollHost

extension Target {
  static let store = [
    // An input is a list of changes to a good file: two bytes for the position, and one byte with the bits to flip at
    // that position.
    Target("sealed-file") { input in
      var file = Sample.sealedFile
      for at in stride(from: 0, to: input.count - 2, by: 3) {
        let place = (Int(input[at]) << 8 | Int(input[at + 1])) % (file.count + 1)
        if place == file.count { file.removeLast() } else { file[place] ^= input[at + 2] }
        if file.isEmpty { return }
      }
      open(file)
      if file.count >= SealedHeader.count, let checksum = try? Digest.sha256.hash(Array(file[..<152])) {
        file.replaceSubrange(152..<160, with: checksum[..<8])
        open(file)
      }
    },
    Target("keys-file") { input in
      let start = Array("enrollkit-keys 1 ".utf8)
      guard let checksum = try? Digest.sha256.hash(start + input) else {
        return require(false, "SHA-256 works")
      }
      let file = start + Base64URL.encodedBytes(checksum) + [0x0A] + input
      _ = try? KeysFile(input)
      guard let keys = try? KeysFile(file) else { return }
      guard let written = try? keys.encoded(), let again = try? KeysFile(written) else {
        return require(false, "what is read can be written and read")
      }
      require((try? again.encoded()) == written, "and is the same")
      for slot in keys.slots {
        let opened = try? KeyWrapping.unwrap(
          slot.wrapped, under: Sample.key, slot: keys.slot(slot.keyID), provider: slot.provider)
        require(opened == nil, "a slot that was made up does not open")
      }
    },
    Target("documents") { input in
      if let document = try? AccountDocument(decoding: Secret(input)) {
        require((try? AccountDocument(decoding: document.encoded())) == document, "the same again")
      }
      if let entries = try? OutboxDocument.decode(Secret(input)) {
        require((try? OutboxDocument.decode(OutboxDocument.encoded(entries))) == entries, "the same again")
      }
      if let id = try? InstallationDocument.decode(Secret(input)) {
        require((try? InstallationDocument.decode(InstallationDocument.encoded(id))) == id, "the same again")
      }
      let shut = AccountDocument(account: .default, lineage: "l", record: AccountRecord())
      if let record = try? shut.record(unsealed: Secret(input), version: 1) {
        require((try? shut.record(unsealed: record.encoded(), version: 1)) == record, "the same again")
      }
    },
  ]

  private static func open(_ file: [UInt8]) {
    guard (try? SealedFormat.open(file, tag: Sample.tag, keys: Sample.storeKeys)) != nil else {
      if let header = try? SealedHeader(of: file) {
        require(
          (try? header.encoded()) == Array(file.prefix(SealedHeader.count)), "a header has one spelling")
      }
      return
    }
    require(file == Sample.sealedFile, "only what was sealed opens")
  }
}
