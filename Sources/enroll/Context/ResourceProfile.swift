// The profile of a resource: the name under which `login --resource` saves it, and `token --resource` finds it again.

import EnrollCore
import EnrollJSON
import EnrollPosix

enum ResourceProfile {
  /// The resource's host, which people know it by, and a number that tells its resources apart. The profile itself says which
  /// resource it is for.
  static func name(of resource: String) -> String {
    let host = (try? StrictURL(resource))?.hostText ?? "resource"
    let plain = host.utf8.map { byte -> UInt8 in
      ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == 0x2E || byte == 0x2D ? byte : 0x2D
    }
    let digits = String(hash(resource) & 0xFFFF_FFFF, radix: 16)
    return String(decoding: plain.prefix(55), as: UTF8.self) + "-"
      + String(repeating: "0", count: 8 - digits.count) + digits
  }

  /// A loopback redirect with a port: many servers compare redirects as they are registered, ports included. The same for every
  /// sign-in, so that a client is registered once; below the ports that systems give to programs that name none.
  static func redirectURI(of resource: String) -> String {
    "http://127.0.0.1:\(20_000 + (hash(resource) >> 32) % 12_000)/callback"
  }

  /// Whether there is such a profile, and it is for that resource.
  static func exists(for resource: String) -> Bool {
    let profile = try? UserDirectories.configuration(name(of: resource))
    return profile?["resource"]?.string == resource
  }

  /// FNV-1a, 64 bits: a label, and no proof of anything.
  private static func hash(_ text: String) -> UInt64 {
    text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}

extension PlaceOptions {
  /// The same, with the profile of a resource where nobody named another configuration.
  /// - Parameter mustExist: only a profile that is there counts.
  func at(
    _ resource: String?, mustExist: Bool, _ environment: Environment = .process
  ) -> PlaceOptions {
    guard let resource, config == nil, profile == nil, environment["ENROLL_CONFIG"] == nil,
      environment["ENROLL_PROFILE"] == nil, !mustExist || ResourceProfile.exists(for: resource)
    else { return self }
    var options = self
    options.profile = ResourceProfile.name(of: resource)
    return options
  }
}
