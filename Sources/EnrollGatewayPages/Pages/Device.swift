// A device in words for users. A User-Agent names the browser and the system, among other parts for compatibility (RFC 9110
// §10.1.5). Any other text is a name that an app chose, and is shown unchanged.

/// The browser or device of a session.
struct Device: Equatable {
  let browser: String?
  let system: String?
  /// The original text with normalized blanks.
  let given: String

  /// Longer names are truncated.
  static let longest = 60

  /// - Returns: nil for a blank text.
  init?(_ text: String) {
    let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    guard !words.isEmpty else { return nil }
    given = words
    // All User-Agents of browsers begin with this text, and nothing else does.
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
      return texts(.deviceBrowserOnSystem, [.browser: browser, .system: system]).plain
    case (let browser?, nil): return browser
    case (nil, let system?): return system
    case (nil, nil): break
    }
    return given.count <= Self.longest ? given : given.prefix(Self.longest - 1) + "…"
  }

  /// The device's name for a page or an e-mail that another person may read. It contains only names from the
  /// tables below. The User-Agent itself is not shown, because its sender could put advertising into it.
  /// - Returns: nil if the text names no known browser and no known system.
  func knownName(_ texts: Texts) -> String? { browser == nil && system == nil ? nil : name(texts) }

  /// The first match counts: almost every browser also calls itself Chrome and Safari.
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
