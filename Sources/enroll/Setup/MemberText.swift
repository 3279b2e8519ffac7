// Adds and removes one member, or one element of a list, in the text of a JSON document, and keeps every other byte,
// because other programs and people write the same file.

import EnrollJSON

/// The bytes of a JSON document that is an object.
struct MemberText {
  private(set) var bytes: [UInt8]

  private struct Member {
    let key: String
    /// The range from the opening quote of the key to the end of the value.
    let whole: Range<Int>
    let value: Int
  }

  /// Parses a document; nil if the text is not a JSON object.
  init?(_ text: String) {
    bytes = Array(text.utf8)
    guard (try? JSON.parse(bytes))?.object != nil else { return nil }
  }

  var text: String { String(decoding: bytes, as: UTF8.self) }

  var json: JSON { (try? JSON.parse(bytes)) ?? .null }

  /// Sets a string in an object of the document. If the object is missing, it is added.
  /// - Returns: false, without any change, if the member `object` is not an object, or if the key has another value.
  mutating func add(_ value: String, as key: String, in object: String) -> Bool {
    let before = json
    if let present = before[object]?[key] { return present.string == value }
    let member = "\(JSON.string(key).text): \(JSON.string(value).text)"
    guard let found = members(of: start).first(where: { $0.key == object }) else {
      guard before[object] == nil else { return false }
      insert("\(JSON.string(object).text): {\(member)}", after: start)
      return json[object]?[key]?.string == value
    }
    guard bytes[found.value] == UInt8(ascii: "{") else { return false }
    insert(member, after: found.value)
    return json[object]?[key]?.string == value
  }

  /// Removes a member of an object. If the object is then empty, removes the object, too.
  mutating func remove(_ key: String, in object: String) {
    guard let found = members(of: start).first(where: { $0.key == object }),
      bytes[found.value] == UInt8(ascii: "{")
    else { return }
    remove(key, from: found.value)
    if members(of: found.value).isEmpty { remove(object, from: start) }
  }

  /// Adds an element at the end of a list of the document. If the list is missing, it is added.
  /// - Returns: false, without any change, if the member is not a list.
  mutating func append(_ element: JSON, to list: String) -> Bool {
    let before = json
    guard let found = members(of: start).first(where: { $0.key == list }) else {
      insert("\(JSON.string(list).text): [\(element.text)]", after: start)
      return json[list]?.array == [element]
    }
    guard let present = before[list]?.array else { return false }
    let all = elements(of: found.value)
    let comma = UInt8(ascii: ",")
    let blanks =
      all.count < 2
      ? " ".utf8.map { $0 } : bytes[all[0].upperBound..<all[1].lowerBound].filter { $0 != comma }
    bytes.insert(
      contentsOf: (all.isEmpty ? [] : [comma] + blanks) + Array(element.text.utf8),
      at: all.last?.upperBound ?? found.value + 1)
    return json[list]?.array == present + [element]
  }

  /// Replaces an element of a list.
  mutating func replace(_ index: Int, of list: String, by element: JSON) {
    guard let found = members(of: start).first(where: { $0.key == list }) else { return }
    let all = elements(of: found.value)
    if all.indices.contains(index) { bytes.replaceSubrange(all[index], with: Array(element.text.utf8)) }
  }

  /// Removes an element of a list. If the list is then empty, removes the list, too.
  mutating func remove(_ index: Int, of list: String) {
    guard let found = members(of: start).first(where: { $0.key == list }) else { return }
    let all = elements(of: found.value)
    guard all.indices.contains(index) else { return }
    remove(index, of: all)
    if all.count == 1 { remove(list, from: start) }
  }

  /// The index of the brace with which the document begins.
  private var start: Int { bytes.firstIndex(of: UInt8(ascii: "{")) ?? 0 }

  private mutating func insert(_ member: String, after brace: Int) {
    let first = members(of: brace).first
    // The new member gets the same white space as the member that follows it.
    let blanks = first.map { Array(bytes[(brace + 1)..<$0.whole.lowerBound]) } ?? []
    bytes.insert(
      contentsOf: blanks + Array(member.utf8) + (first == nil ? [] : [UInt8(ascii: ",")]), at: brace + 1)
    if blanks.isEmpty, first != nil {
      bytes.insert(UInt8(ascii: " "), at: brace + 2 + member.utf8.count)
    }
  }

  private mutating func remove(_ key: String, from brace: Int) {
    let all = members(of: brace)
    guard let index = all.firstIndex(where: { $0.key == key }) else { return }
    remove(index, of: all.map { $0.whole })
  }

  /// Removes the member or element at `index`, with its comma.
  private mutating func remove(_ index: Int, of all: [Range<Int>]) {
    if index + 1 < all.count {
      bytes.removeSubrange(all[index].lowerBound..<all[index + 1].lowerBound)
    } else if index > 0 {
      bytes.removeSubrange(all[index - 1].upperBound..<all[index].upperBound)
    } else {
      bytes.removeSubrange(all[index])
    }
  }

  /// The ranges of the elements of the list whose opening bracket is at index `bracket`.
  private func elements(of bracket: Int) -> [Range<Int>] {
    var found: [Range<Int>] = []
    guard bytes[bracket] == UInt8(ascii: "[") else { return [] }
    var at = skippingBlanks(bracket + 1)
    while at < bytes.count, bytes[at] != UInt8(ascii: "]") {
      let end = endOfValue(at)
      found.append(at..<end)
      at = skippingBlanks(end)
      guard at < bytes.count, bytes[at] == UInt8(ascii: ",") else { return found }
      at = skippingBlanks(at + 1)
    }
    return found
  }

  /// The members of the object whose opening brace is at index `brace`. The document is valid JSON, so each member has
  /// a colon and an end.
  private func members(of brace: Int) -> [Member] {
    var found: [Member] = []
    var at = brace + 1
    while true {
      at = skippingBlanks(at)
      guard at < bytes.count, bytes[at] == UInt8(ascii: "\"") else { return found }
      let begin = at
      at = endOfText(at)
      let key = (try? JSON.parse(Array(bytes[begin..<at])))?.string ?? ""
      let value = skippingBlanks(skippingBlanks(at) + 1)
      at = endOfValue(value)
      found.append(Member(key: key, whole: begin..<at, value: value))
      at = skippingBlanks(at)
      guard at < bytes.count, bytes[at] == UInt8(ascii: ",") else { return found }
      at += 1
    }
  }

  private func skippingBlanks(_ at: Int) -> Int {
    bytes[min(at, bytes.count)...].firstIndex { !" \t\r\n".utf8.contains($0) } ?? bytes.count
  }

  private func endOfText(_ quote: Int) -> Int {
    var at = quote + 1
    while at < bytes.count, bytes[at] != UInt8(ascii: "\"") {
      at += bytes[at] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(at + 1, bytes.count)
  }

  private func endOfValue(_ begin: Int) -> Int {
    var at = begin
    var depth = 0
    while at < bytes.count {
      switch bytes[at] {
      case UInt8(ascii: "\""):
        at = endOfText(at)
        if depth == 0 { return at }
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if depth <= 0 { return depth < 0 ? at : at + 1 }
      case UInt8(ascii: ","), UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"):
        if depth == 0 { return at }
      default: break
      }
      at += 1
    }
    return at
  }
}
