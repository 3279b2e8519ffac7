// A provider's page sent the browser here with a form, and browsers send no `SameSite=Lax` cookies with another site's form. This
// page submits the same fields again from the gateway's origin: with a script of this origin, or with its button.

/// A provider's answer that is submitted again.
public struct SendAgainPage: Page {
  /// The provider's label.
  public var provider: String
  /// The target of the form: the path to which the provider's page sent its form.
  public var action: PageLink
  public var fields: [(name: String, value: String)]

  public init(provider: String, action: PageLink, fields: [(name: String, value: String)]) {
    self.provider = provider
    self.action = action
    self.fields = fields
  }

  package func content(texts: Texts) -> Content {
    let heading = texts(.sendAgainTitle)
    return Content(heading: heading, submitsForm: true) { html in
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
