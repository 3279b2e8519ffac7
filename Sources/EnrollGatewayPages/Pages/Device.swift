// A device as people name it. A User-Agent names the browser and the system among much that is there for history's sake
// (RFC 9110 §10.1.5); any other text is a name that an app gave, and shown as it is.

/// What a session runs on.
struct Device: Equatable {
  let browser: String?
  let system: String?
  /// As it came, without what surrounds it.
  let given: String

  /// Longer names are cut.
  static let longest = 60

  /// - Returns: nil for a text that says nothing.
  init?(_ text: String) {
    let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    guard !words.isEmpty else { return nil }
    given = words
    // Only User-Agents of browsers begin like that, and all of them do.
    guard words.hasPrefix("Mozilla/") else {
      browser = nil
      system = nil
      return
    }
    browser = Self.browsers.first { words.contains($0.mark) }?.name
    system = Self.systems.first { words.contains($0.mark) }?.name
  }

  func name(_ texts: Texts) -> String {
    switch (browser, system) {
    case (let browser?, let system?):
      return texts(.browserOnSystem, [.browser: browser, .system: system]).plain
    case (let browser?, nil): return browser
    case (nil, let system?): return system
    case (nil, nil): break
    }
    return given.count <= Self.longest ? given : given.prefix(Self.longest - 1) + "…"
  }

  /// For the eyes of somebody else than who sent the text: it could be somebody's advertisement, so that only names of our own are shown.
  /// - Returns: nil for a text that names no browser and no system that we know.
  func knownName(_ texts: Texts) -> String? { browser == nil && system == nil ? nil : name(texts) }

  /// The first that is found counts: almost every browser calls itself Chrome and Safari as well.
  private static let browsers: [(mark: String, name: String)] = [
    ("EdgiOS/", "Edge"), ("EdgA/", "Edge"), ("Edg/", "Edge"), ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"), ("Vivaldi/", "Vivaldi"), ("FxiOS/", "Firefox"),
    ("Firefox/", "Firefox"), ("CriOS/", "Chrome"), ("Chromium/", "Chromium"), ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
  ]

  private static let systems: [(mark: String, name: String)] = [
    ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Macintosh", "macOS"), ("Linux", "Linux"),
  ]
}
