// The label `route` of requests: a path of the table of addresses, with the variable part in braces.

import EnrollCore

enum RouteLabel {
  /// Every value that there is; the last is that of all other addresses.
  static let all: [String] =
    Route.fixed.map(\.path) + EmailRoute.fixed.map(\.path) + [
      "/welcome/{token}", "/signin/{token}", "/password/reset/{token}", "/assets/{name}",
      "/v1/auth/{provider}", "/v1/auth/{provider}/callback", "/v1/auth/{provider}/redeem",
      "/v1/auth/{provider}/notifications", "/v1/auth/{provider}/backchannel-logout",
      "/v1/auth/{provider}/data-deletion", "/v1/auth/{provider}/deauthorize", "other",
    ]

  /// - Parameter route: nil for an address that does not exist.
  static func place(of route: Route?) -> Int {
    guard let route else { return all.count - 1 }
    let behind = Route.fixed.count + EmailRoute.fixed.count
    switch route {
    case .email(.welcome): return behind
    case .email(.signInLink): return behind + 1
    case .email(.reset): return behind + 2
    case .asset: return behind + 3
    case .start: return behind + 4
    case .callback: return behind + 5
    case .redeem: return behind + 6
    case .notification: return behind + 7
    case .backchannelLogout: return behind + 8
    case .dataDeletion: return behind + 9
    case .deauthorization: return behind + 10
    case .email(let form):
      return (EmailRoute.fixed.firstIndex { $0.route == form }).map { $0 + Route.fixed.count }
        ?? all.count - 1
    default: return Route.fixed.firstIndex { $0.route == route } ?? all.count - 1
    }
  }
}
