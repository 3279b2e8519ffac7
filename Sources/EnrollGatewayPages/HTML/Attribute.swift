// The attributes that pages use. Their names are fixed here, so that no `style` and no `on…` can be written. URLs come from a
// `PageLink`, which was checked when it was created.

/// One attribute of an element.
struct Attribute: Sendable {
  enum Value: Sendable {
    /// The attribute has no value, only a name: `required`.
    case none
    case literal(StaticString)
    case text(String)
    /// Numbered ids of elements that occur several times: `device-1 end-1`.
    case numbered([StaticString], Int)
    /// Ids that belong to one field: `email-error email-hint`.
    case suffixed(StaticString, [StaticString])
  }

  let name: StaticString
  let value: Value

  private init(_ name: StaticString, _ value: Value) {
    self.name = name
    self.value = value
  }

  // URLs.
  static func href(_ link: PageLink) -> Attribute { Attribute("href", .text(link.text)) }
  static func src(_ link: PageLink) -> Attribute { Attribute("src", .text(link.text)) }
  /// Names one picture for all pixel densities.
  static func srcset(_ link: PageLink) -> Attribute { Attribute("srcset", .text(link.text)) }
  static func action(_ link: PageLink) -> Attribute { Attribute("action", .text(link.text)) }
  /// The target of the link that skips to the page's main content.
  static let hrefToMain = Attribute("href", .literal("#main"))

  // Literals.
  static func `class`(_ names: StaticString) -> Attribute { Attribute("class", .literal(names)) }
  static func id(_ id: StaticString) -> Attribute { Attribute("id", .literal(id)) }
  static func id(_ prefix: StaticString, _ number: Int) -> Attribute {
    Attribute("id", .numbered([prefix], number))
  }
  static func name(_ name: StaticString) -> Attribute { Attribute("name", .literal(name)) }
  static func content(_ content: StaticString) -> Attribute { Attribute("content", .literal(content)) }
  static func rel(_ relation: StaticString) -> Attribute { Attribute("rel", .literal(relation)) }
  static func type(_ type: StaticString) -> Attribute { Attribute("type", .literal(type)) }
  static func media(_ media: StaticString) -> Attribute { Attribute("media", .literal(media)) }
  static func role(_ role: StaticString) -> Attribute { Attribute("role", .literal(role)) }
  static let charset = Attribute("charset", .literal("utf-8"))
  static let deferred = Attribute("defer", .none)
  static let post = Attribute("method", .literal("post"))
  static let hidden = Attribute("aria-hidden", .literal("true"))
  static let current = Attribute("aria-current", .literal("true"))
  /// The empty alternative text of a picture that adds nothing to the text beside it.
  static let decorative = Attribute("alt", .literal(""))

  // Fields of forms.
  static func `for`(_ id: StaticString) -> Attribute { Attribute("for", .literal(id)) }
  static func id(_ name: StaticString, suffix: StaticString) -> Attribute {
    Attribute("id", .suffixed(name, [suffix]))
  }
  static func autocomplete(_ what: StaticString) -> Attribute { Attribute("autocomplete", .literal(what)) }
  static let required = Attribute("required", .none)
  /// Switches off the browser's checks: the gateway checks the fields itself, and shows errors in the page's language
  /// and beside the field.
  static let noValidate = Attribute("novalidate", .none)
  static let invalid = Attribute("aria-invalid", .literal("true"))
  static func describedBy(_ name: StaticString, suffixes: [StaticString]) -> Attribute {
    Attribute("aria-describedby", .suffixed(name, suffixes))
  }

  // Texts.
  static func named(_ name: String) -> Attribute { Attribute("name", .text(name)) }
  static func value(_ value: String) -> Attribute { Attribute("value", .text(value)) }
  static func alt(_ text: String) -> Attribute { Attribute("alt", .text(text)) }
  static func label(_ text: String) -> Attribute { Attribute("aria-label", .text(text)) }
  static func dateTime(_ text: String) -> Attribute { Attribute("datetime", .text(text)) }

  // Languages.
  static func lang(_ language: Language) -> Attribute { Attribute("lang", .text(language.tag.text)) }
  static func hreflang(_ language: Language) -> Attribute { Attribute("hreflang", .text(language.tag.text)) }
  static func dir(_ direction: Language.Direction) -> Attribute {
    Attribute("dir", .literal(direction == .rightToLeft ? "rtl" : "ltr"))
  }

  // Attributes with the ids of other elements, whose texts name the element for screen readers.
  static func labelledBy(_ id: StaticString) -> Attribute { Attribute("aria-labelledby", .literal(id)) }
  static func labelledBy(_ prefixes: StaticString..., number: Int) -> Attribute {
    Attribute("aria-labelledby", .numbered(prefixes, number))
  }
}
