// A theme of the operator: an object in the gateway's configuration. An error for an unknown key names the key's path.

public import EnrollJSON

extension Theme {
  /// Reads a theme.
  /// - Parameter json: `{"product": "Notes", "logo": "/files/logo.svg", "logoDark": …, "logoContainsName": true, "radius": 14,
  ///   "light": {"accent": "#0b5d53", …}, "dark": {…}, "links": {"help": …, "privacy": …, "terms": …, "imprint": …}}`.
  ///   `product` is required. Colours have the names of ``ColourRole``; links are https URLs or paths of the gateway.
  /// - Throws: ``ThemeError``.
  public init(json: JSONObject) throws(ThemeError) {
    let known = ["product", "logo", "logoDark", "logoContainsName", "radius", "light", "dark", "links"]
    for member in json.members where !known.contains(member.key) { throw .unknownKey(member.key) }
    guard let product = json["product"]?.string else { throw .malformed("product", expected: "a name") }
    var radius = 14
    if let value = json["radius"] {
      guard let given = value.integer.flatMap({ Int(exactly: $0) }) else {
        throw .malformed("radius", expected: "0 to 24 pixels")
      }
      radius = given
    }
    try self.init(
      product: product, logo: Self.logo(json), links: Self.links(json), light: Self.colours(json, "light"),
      dark: Self.colours(json, "dark"), radius: radius)
  }

  private static func logo(_ json: JSONObject) throws(ThemeError) -> Logo? {
    guard let path = try path(json, "logo") else {
      for key in ["logoDark", "logoContainsName"] where json[key] != nil {
        throw .malformed(key, expected: "a logo beside it")
      }
      return nil
    }
    var containsName = false
    if let value = json["logoContainsName"] {
      guard let given = value.bool else { throw .malformed("logoContainsName", expected: "true or false") }
      containsName = given
    }
    return Logo(path: path, darkPath: try self.path(json, "logoDark"), containsName: containsName)
  }

  private static func path(_ json: JSONObject, _ key: String) throws(ThemeError) -> PageLink? {
    guard let value = json[key] else { return nil }
    // A comma or a space would end the URL in `srcset`.
    guard let text = value.string, !text.contains(","), let link = try? PageLink(path: text) else {
      throw .malformed(key, expected: "a path of the gateway such as /files/logo.svg")
    }
    return link
  }

  private static func links(_ json: JSONObject) throws(ThemeError) -> Links {
    var links = Links()
    for member in try object(json, "links").members {
      let key = "links." + member.key
      guard let text = member.value.string,
        let link = (try? PageLink(path: text)) ?? (try? PageLink(web: text))
      else {
        throw .malformed(key, expected: "an https address or a path of the gateway")
      }
      switch member.key {
      case "help": links.help = link
      case "privacy": links.privacy = link
      case "terms": links.terms = link
      case "imprint": links.imprint = link
      default: throw .unknownKey(key)
      }
    }
    return links
  }

  private static func colours(_ json: JSONObject, _ scheme: String) throws(ThemeError) -> [ColourRole: Colour]
  {
    var colours: [ColourRole: Colour] = [:]
    for member in try object(json, scheme).members {
      let key = scheme + "." + member.key
      guard let role = ColourRole(rawValue: member.key) else { throw .unknownKey(key) }
      guard let colour = member.value.string.flatMap({ Colour($0) }) else {
        throw .malformed(key, expected: "a colour such as #0b5d53")
      }
      colours[role] = colour
    }
    return colours
  }

  private static func object(_ json: JSONObject, _ key: String) throws(ThemeError) -> JSONObject {
    guard let value = json[key] else { return JSONObject() }
    guard let object = value.object else { throw .malformed(key, expected: "an object") }
    return object
  }
}
