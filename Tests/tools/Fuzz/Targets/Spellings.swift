// Encodings of bytes: a text that is decoded and encoded again must not change.

import EnrollRules

extension Target {
  static let spellings = [
    Target("spellings") { input in
      require(
        Base64URL.decode(input[...]).map { Base64URL.encodedBytes($0) == input } ?? true, "one spelling")
      require(Base64URL.decode(Base64URL.encodedBytes(input)[...]) == input, "every value has a spelling")
      if let bytes = PercentEncoding.decode(input[...], plusForSpace: true) {
        require(bytes.count <= input.count, "decoding never lengthens")
      }
      guard let fields = try? FormEncoding.decode(input) else { return }
      require(fields.count <= 64, "fields are capped")
      let written = FormEncoding.encode(fields)
      // With three characters for each byte, the text may be longer than the parser's limit.
      guard written.count <= 1 << 16 else { return }
      guard let again = try? FormEncoding.decode(written) else {
        return require(false, "what is written can be read")
      }
      require(
        again.count == fields.count && zip(again, fields).allSatisfy { $0.0 == $1.0 && $0.1 == $1.1 },
        "and reads the same")
    }
  ]
}
