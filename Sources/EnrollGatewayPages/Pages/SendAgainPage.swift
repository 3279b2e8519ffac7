// A provider's page sent the browser here with a form, and browsers send no cookies of ours with another site's forms. This page
// sends the same fields again, as its own: by a script of this origin, or by its button.

/// The provider's answer, to be sent once more.
public struct SendAgainPage: Sendable {
  /// The provider's label.
  public var provider: String
  /// Where the form goes: the path that it came to.
  public var action: PageLink
  public var fields: [(name: String, value: String)]

  public init(provider: String, action: PageLink, fields: [(name: String, value: String)]) {
    self.provider = provider
    self.action = action
    self.fields = fields
  }

  func content(texts: Texts) -> Content {
    let heading = texts(.sendAgainTitle)
    return Content(heading: heading, sendsItself: true) { html in
      html.element(.h1, phrase: heading)
      html.element(.p, .class("lead"), phrase: texts(.sendAgainWhat, [.provider: provider]))
      html.element(.form, .post, .action(action)) { html in
        for field in fields {
          html.void(.input, .type("hidden"), .named(field.name), .value(field.value))
        }
        html.element(.div, .class("actions")) { html in
          html.element(.button, .class("button"), .type("submit"), phrase: texts(.sendAgainButton))
        }
      }
    }
  }
}
