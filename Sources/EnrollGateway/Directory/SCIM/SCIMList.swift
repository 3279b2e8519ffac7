// A list of users, page by page (RFC 7644 §3.4.2.4). Some directories ignore the filter and list all users, some ignore
// the start of a page, some announce more users than they have. So the gateway also compares the address of each listed
// user itself. A list that cannot be read to its end is a failure: it does not prove that no user has the address.

import EnrollJSON

/// Reads the pages of one search.
struct SCIMList {
  private let email: EmailAddress
  private let attribute: SCIMLookup
  private(set) var found: [SCIMUser] = []
  /// The number of listed users so far.
  private var count = 0
  private var pages = 0
  private var seen: Set<String> = []

  /// The limits that end a search in a directory that ignores the filter.
  static let pageLimit = 200
  static let userLimit = 20_000

  init(_ email: EmailAddress, in attribute: SCIMLookup) {
    self.email = email
    self.attribute = attribute
  }

  /// The index of the next page's first user, counted from 1.
  var startIndex: Int { count + 1 }

  /// - Returns: whether the directory has another page.
  /// - Throws: `.fault`.
  mutating func take(_ json: JSON?) throws(DirectoryFailure) -> Bool {
    // `Resources` may be absent if no user is found (RFC 7644 §3.4.2).
    let resources = json?["Resources"]?.array ?? []
    guard let json, let total = json["totalResults"]?.integer, total >= 0 else {
      throw .fault("the directory's answer to a search is no ListResponse: totalResults is missing")
    }
    for resource in resources {
      guard let user = SCIMUser(resource) else {
        throw .fault("the directory lists a user without an id")
      }
      guard seen.insert(user.id).inserted else {
        throw .fault(
          "the directory lists a user twice: it does not read startIndex, or changes while it is read")
      }
      if user.has(email, in: attribute) { found.append(user) }
    }
    count += resources.count
    pages += 1
    guard total > count else { return false }
    guard !resources.isEmpty else {
      throw .fault("the directory announces \(total) users and lists \(count)")
    }
    guard total <= Self.userLimit, pages < Self.pageLimit else {
      throw .fault(
        "the directory ignores the filter and has \(total) users: expected one that filters, or at most \(Self.userLimit) users"
      )
    }
    return true
  }
}
