// QR codes (ISO/IEC 18004) for the URL of the device grant, which a phone's camera reads. This code supports only the
// byte mode, the lowest level of error correction, and versions 1 to 9; it makes no QR code of a longer text.

/// A square of dark and light modules.
struct QRCode {
  private(set) var size: Int
  private var modules: [Bool]
  private var isFixed: [Bool]

  subscript(row: Int, column: Int) -> Bool {
    (0..<size).contains(row) && (0..<size).contains(column) && modules[row * size + column]
  }

  /// For each version: the number of data bytes, the number of correction bytes in a block, and the number of blocks
  /// (table 9, level L).
  private static let versions: [(data: Int, correction: Int, blocks: Int)] = [
    (19, 7, 1), (34, 10, 1), (55, 15, 1), (80, 20, 1), (108, 26, 1), (136, 18, 2), (156, 20, 2), (194, 24, 2),
    (232, 30, 2),
  ]
  /// The number of bits before the text, which contain the mode and the length of the text.
  private static let headBits = 12
  /// The longest text, in bytes.
  static let limit = (versions[8].data * 8 - headBits) / 8

  /// Makes the code of a text; nil for a text longer than ``limit``.
  init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard let index = Self.versions.firstIndex(where: { $0.data * 8 >= Self.headBits + bytes.count * 8 })
    else {
      return nil
    }
    let version = index + 1
    size = 17 + 4 * version
    modules = [Bool](repeating: false, count: size * size)
    isFixed = modules
    drawPatterns(version)
    place(Self.codewords(bytes, Self.versions[index]))
    let candidates = (0..<8).map { mask in
      var one = self
      one.apply(mask)
      return one
    }
    self = candidates.min { $0.penalty < $1.penalty } ?? self
  }

  // MARK: Bytes

  private static func codewords(
    _ text: [UInt8], _ version: (data: Int, correction: Int, blocks: Int)
  ) -> [UInt8] {
    // The mode takes four bits (0100), so everything after it is shifted by half a byte. The four bits after the text
    // are the terminator.
    let whole = [UInt8(text.count)] + text
    var data = [0x40 | whole[0] >> 4]
    for (byte, next) in zip(whole, whole.dropFirst() + [0]) { data.append(byte << 4 | next >> 4) }
    var padding: UInt8 = 0xEC
    while data.count < version.data {
      data.append(padding)
      padding ^= 0xEC ^ 0x11
    }
    let length = version.data / version.blocks
    let blocks = (0..<version.blocks).map { Array(data[$0 * length..<($0 + 1) * length]) }
    let corrections = blocks.map { correction($0, version.correction) }
    return (0..<length).flatMap { index in blocks.map { $0[index] } }
      + (0..<version.correction).flatMap { index in corrections.map { $0[index] } }
  }

  /// The Reed-Solomon remainder, in the field of 256 elements over x⁸ + x⁴ + x³ + x² + 1.
  private static func correction(_ data: [UInt8], _ count: Int) -> [UInt8] {
    var generator: [UInt8] = [1]
    var root: UInt8 = 1
    for _ in 0..<count {
      var next = generator + [0]
      for (index, factor) in generator.enumerated() { next[index + 1] ^= product(factor, root) }
      generator = next
      root = product(root, 2)
    }
    var rest = data + [UInt8](repeating: 0, count: count)
    for index in data.indices {
      let factor = rest[index]
      for (offset, term) in generator.enumerated() { rest[index + offset] ^= product(term, factor) }
    }
    return Array(rest.suffix(count))
  }

  private static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
    var (left, right, product) = (left, right, UInt8(0))
    while right != 0 {
      if right & 1 == 1 { product ^= left }
      left = left << 1 ^ (left & 0x80 == 0 ? 0 : 0x1D)
      right >>= 1
    }
    return product
  }

  // MARK: Patterns

  private mutating func set(_ row: Int, _ column: Int, _ isDark: Bool) {
    guard (0..<size).contains(row), (0..<size).contains(column) else { return }
    modules[row * size + column] = isDark
    isFixed[row * size + column] = true
  }

  private mutating func drawPatterns(_ version: Int) {
    for index in 0..<size {
      set(6, index, index % 2 == 0)
      set(index, 6, index % 2 == 0)
    }
    for (top, left) in [(0, 0), (0, size - 7), (size - 7, 0)] {
      for row in -1...7 {
        for column in -1...7 {
          let distance = max(abs(row - 3), abs(column - 3))
          set(top + row, left + column, distance != 2 && distance != 4)
        }
      }
    }
    let centres = Self.centres(version, size)
    for row in centres {
      for column in centres where !isFinder(row, column) {
        for offset in 0..<25 {
          let (down, right) = (offset / 5 - 2, offset % 5 - 2)
          set(row + down, column + right, max(abs(down), abs(right)) != 1)
        }
      }
    }
    // Reserves the place of the format, which depends on the mask.
    drawFormat(0)
    if version >= 7 { drawVersion(version) }
  }

  /// The rows and columns of the alignment patterns (annex E).
  private static func centres(_ version: Int, _ size: Int) -> [Int] {
    switch version {
    case 1: []
    case 2...6: [6, size - 7]
    default: [6, (size - 1) / 2, size - 7]
    }
  }

  private func isFinder(_ row: Int, _ column: Int) -> Bool {
    row < 9 && (column < 9 || column > size - 9) || row > size - 9 && column < 9
  }

  /// Draws the level of error correction and the mask, both twice, with ten correction bits (§7.9).
  private mutating func drawFormat(_ mask: Int) {
    // 01 is the number of level L.
    let data = 0b01 << 3 | mask
    var rest = data
    for _ in 0..<10 { rest = rest << 1 ^ (rest >> 9 & 1) * 0x537 }
    let bits = (data << 10 | rest) ^ 0x5412
    func bit(_ index: Int) -> Bool { bits >> index & 1 == 1 }
    for index in 0..<6 { set(index, 8, bit(index)) }
    set(7, 8, bit(6))
    set(8, 8, bit(7))
    set(8, 7, bit(8))
    for index in 9..<15 { set(8, 14 - index, bit(index)) }
    for index in 0..<8 { set(8, size - 1 - index, bit(index)) }
    for index in 8..<15 { set(size - 15 + index, 8, bit(index)) }
    set(size - 8, 8, true)
  }

  /// Draws the version, twice, with twelve correction bits (§7.10).
  private mutating func drawVersion(_ version: Int) {
    var rest = version
    for _ in 0..<12 { rest = rest << 1 ^ (rest >> 11 & 1) * 0x1F25 }
    let bits = version << 12 | rest
    for index in 0..<18 {
      let isDark = bits >> index & 1 == 1
      set(index / 3, size - 11 + index % 3, isDark)
      set(size - 11 + index % 3, index / 3, isDark)
    }
  }

  // MARK: Data

  /// Fills columns of two modules from the right, alternately upwards and downwards.
  private mutating func place(_ codewords: [UInt8]) {
    var bit = 0
    var right = size - 1
    while right >= 1 {
      if right == 6 { right = 5 }
      let isUpward = (right + 1) & 2 == 0
      for step in 0..<size {
        let row = isUpward ? size - 1 - step : step
        for column in [right, right - 1] where !isFixed[row * size + column] && bit < codewords.count * 8 {
          modules[row * size + column] = codewords[bit / 8] >> (7 - bit % 8) & 1 == 1
          bit += 1
        }
      }
      right -= 2
    }
  }

  /// Inverts the data modules that the mask selects (§7.8.2).
  private mutating func apply(_ mask: Int) {
    for row in 0..<size {
      for column in 0..<size where !isFixed[row * size + column] {
        let product = row * column
        let isInverted =
          switch mask {
          case 0: (row + column) % 2 == 0
          case 1: row % 2 == 0
          case 2: column % 3 == 0
          case 3: (row + column) % 3 == 0
          case 4: (row / 2 + column / 3) % 2 == 0
          case 5: product % 2 + product % 3 == 0
          case 6: (product % 2 + product % 3) % 2 == 0
          default: ((row + column) % 2 + product % 3) % 2 == 0
          }
        if isInverted { modules[row * size + column].toggle() }
      }
    }
    drawFormat(mask)
  }

  /// The penalty score (§7.8.3): long runs, squares of one colour, patterns like a finder, and too many modules of one
  /// colour.
  private var penalty: Int {
    var points = 0
    for isAcross in [true, false] {
      for line in 0..<size {
        let cells = (0..<size).map { isAcross ? self[line, $0] : self[$0, line] }
        var run = 1
        for index in 1...size {
          if index < size, cells[index] == cells[index - 1] {
            run += 1
          } else {
            if run >= 5 { points += run - 2 }
            run = 1
          }
        }
        let corner = [true, false, true, true, true, false, true]
        let light = [Bool](repeating: false, count: 4)
        for pattern in [corner + light, light + corner] {
          for start in 0...(size - pattern.count) where Array(cells[start..<start + pattern.count]) == pattern
          {
            points += 40
          }
        }
      }
    }
    for row in 0..<size - 1 {
      for column in 0..<size - 1 {
        let first = self[row, column]
        if self[row, column + 1] == first, self[row + 1, column] == first, self[row + 1, column + 1] == first
        {
          points += 3
        }
      }
    }
    let dark = modules.count { $0 }
    return points + abs(dark * 20 - modules.count * 10) / modules.count * 10
  }
}

extension QRCode {
  private static let margin = 4

  /// The lines of text, each with two rows of modules; black on white, whatever the terminal's colours are.
  var lines: [String] {
    stride(from: -Self.margin, to: size + Self.margin, by: 2).map { row in
      let cells = (-Self.margin..<size + Self.margin).map { column -> String in
        switch (self[row, column], self[row + 1, column]) {
        case (true, true): "█"
        case (true, false): "▀"
        case (false, true): "▄"
        case (false, false): " "
        }
      }
      return "\u{1B}[30;107m" + cells.joined() + "\u{1B}[0m"
    }
  }

  /// The width in columns.
  var width: Int { size + 2 * Self.margin }
}
