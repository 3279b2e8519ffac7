// Finds the route of a request. Paths are compared byte by byte, so that escapes and dot segments match nothing.

import EnrollRules
import EnrollHTTP

/// A path with at most one variable part.
struct PathPattern: Sendable {
  /// The variable part. The raw value is the name that the path has in braces.
  enum Part: String, Sendable {
    /// A name that the configuration may give to a provider.
    case provider
    /// The secret of a link in an e-mail.
    case token
    /// The name of a file.
    case name

    func accepts(_ text: Substring.UTF8View) -> Bool {
      switch self {
      case .provider: GatewaySettings.isName(text)
      case .token: (1...256).contains(text.count) && !text.contains(0x2F)
      case .name: !text.contains(0x2F)
      }
    }
  }

  /// The path, with the variable part in braces.
  let text: String
  private let before: String
  private let after: String
  let part: Part?

  init(_ text: String) {
    self.text = text
    let pieces = text.split(separator: "{", maxSplits: 1).flatMap { $0.split(separator: "}", maxSplits: 1) }
    part = pieces.count > 1 ? Part(rawValue: String(pieces[1])) : nil
    before = part == nil ? text : String(pieces[0])
    after = pieces.count > 2 ? String(pieces[2]) : ""
  }

  /// Whether a path matches this pattern, which has a variable part.
  func matches(_ path: String) -> Bool {
    guard let part, path.utf8.count >= before.utf8.count + after.utf8.count,
      path.utf8.starts(with: before.utf8),
      path.utf8.suffix(after.utf8.count).elementsEqual(after.utf8)
    else { return false }
    return part.accepts(variable(in: path))
  }

  /// The variable part of a path that matches this pattern; empty if the pattern has no variable part.
  func parameter(in path: String) -> String { part == nil ? "" : String(Substring(variable(in: path))) }

  private func variable(in path: String) -> Substring.UTF8View {
    path.utf8.dropFirst(before.utf8.count).dropLast(after.utf8.count)
  }
}

/// The routes by path. A path is identified by its index in ``paths`` (its place). All paths that do not
/// exist have the place ``elsewhere``.
struct RouteTable: Sendable {
  /// A path with the routes of its methods.
  struct Path: Sendable {
    let pattern: PathPattern
    var routes: [Route]

    /// The route of a request to this path; nil if the path has no route for the request's method.
    func route(of request: WebRequest) -> Route? { routes.first { $0.method.accepts(request) } }

    /// The lane of a request. If its method has no route at this path, the request is refused at once, in the lane of
    /// the path's first route.
    func lane(of request: WebRequest) -> Lane { (route(of: request) ?? routes[0]).waiting.lane(of: request) }
  }

  static let shared = RouteTable(Route.all)

  let paths: [Path]
  /// The places of the paths without a variable part, by the length of the path.
  private let fixed: [[Int]]
  private let variable: [Int]

  init(_ routes: [Route]) {
    var paths: [Path] = []
    for route in routes {
      if let place = paths.firstIndex(where: { ASCII.equals($0.pattern.text, route.path) }) {
        paths[place].routes.append(route)
      } else {
        paths.append(Path(pattern: PathPattern(route.path), routes: [route]))
      }
    }
    let longest = paths.map(\.pattern.text.utf8.count).max() ?? 0
    var fixed = [[Int]](repeating: [], count: longest + 1)
    for (place, path) in paths.enumerated() where path.pattern.part == nil {
      fixed[path.pattern.text.utf8.count].append(place)
    }
    self.paths = paths
    self.fixed = fixed
    variable = paths.indices.filter { paths[$0].pattern.part != nil }
  }

  /// The place of all paths that do not exist.
  var elsewhere: Int { paths.count }
  /// The label `route` of the metrics for each place.
  var labels: [String] { paths.map(\.pattern.text) + ["other"] }

  func place(of path: String) -> Int {
    let length = path.utf8.count
    if length < fixed.count {
      for place in fixed[length] where ASCII.equals(paths[place].pattern.text, path) { return place }
    }
    return variable.first { paths[$0].pattern.matches(path) } ?? elsewhere
  }

  /// The path at a place; nil for the place of paths that do not exist.
  subscript(place: Int) -> Path? { paths.indices.contains(place) ? paths[place] : nil }
}
