// What all pages share: language and direction, the title, the skip link, landmarks, the product's sign, the links at the foot.

/// A page without its frame.
struct Content {
  /// The page's only `h1`, and the first part of its title.
  var heading: Phrase
  /// Wider than the text of a card.
  var isWide = false
  /// A script presses the page's one button.
  var sendsItself = false
  /// What follows in `main`, the `h1` included: some pages have a mark in front of it.
  var main: (inout HTML) -> Void
}

struct PageFrame {
  let theme: Theme
  let style: PageLink
  let mark: PageLink
  let sender: PageLink
  let texts: Texts
  let context: PageContext

  /// The page first, then the product: tabs and screen readers cut the end off. A heading that names the
  /// product says it once.
  func title(_ content: Content) -> String {
    let heading = content.heading.plain
    return content.heading.pattern.pieces.contains(.value(.product))
      ? heading : heading + " – " + theme.product
  }

  func write(_ content: Content) -> [UInt8] {
    var html = HTML(capacity: 8192)
    html.doctype()
    html.element(.html, .lang(texts.language), .dir(texts.language.direction)) { html in
      head(content, into: &html)
      html.element(.body) { html in
        html.element(.a, .class("skip"), .hrefToMain, phrase: texts(.skip))
        html.element(.div, .class(content.isWide ? "frame wide" : "frame")) { html in
          header(into: &html)
          html.element(.main, .id("main"), content: content.main)
          footer(into: &html)
        }
      }
    }
    return html.bytes
  }

  private func head(_ content: Content, into html: inout HTML) {
    html.element(.head) { html in
      html.void(.meta, .charset)
      html.element(.title, text: title(content))
      html.void(.meta, .name("viewport"), .content("width=device-width, initial-scale=1"))
      html.void(.meta, .name("color-scheme"), .content("light dark"))
      html.void(.meta, .name("robots"), .content("noindex"))
      html.void(.link, .rel("icon"), .type("image/svg+xml"), .href(mark))
      html.void(.link, .rel("stylesheet"), .href(style))
      if content.sendsItself { html.script(sender) }
    }
  }

  private func header(into html: inout HTML) {
    html.element(.header) { html in
      guard let logo = theme.logo else {
        html.void(.img, .class("mark"), .src(mark), .decorative)
        html.element(.span, .class("product"), text: theme.product)
        return
      }
      html.element(.picture) { html in
        if let dark = logo.darkPath {
          html.void(.source, .media("(prefers-color-scheme: dark)"), .srcset(dark))
        }
        html.void(
          .img, .class("logo"), .src(logo.path), logo.containsName ? .alt(theme.product) : .decorative)
      }
      if !logo.containsName { html.element(.span, .class("product"), text: theme.product) }
    }
  }

  private func footer(into html: inout HTML) {
    let links: [(PageText, PageLink?)] = [
      (.help, theme.links.help), (.privacy, theme.links.privacy), (.terms, theme.links.terms),
      (.imprint, theme.links.imprint),
    ]
    let given = links.compactMap { text, link in link.map { (text, $0) } }
    guard !given.isEmpty || !context.otherLanguages.isEmpty else { return }
    html.element(.footer) { html in
      if !given.isEmpty {
        html.element(.nav, .label(texts(.about).plain)) { html in
          html.element(.ul, .role("list")) { html in
            for (text, link) in given {
              html.element(.li) { $0.element(.a, .href(link), phrase: texts(text)) }
            }
          }
        }
      }
      if !context.otherLanguages.isEmpty {
        html.element(.nav, .label(texts(.language).plain)) { html in
          html.element(.ul, .role("list")) { html in
            for (language, link) in context.otherLanguages {
              html.element(.li) { html in
                html.element(
                  .a, .href(link), .lang(language), .hreflang(language), .dir(language.direction),
                  text: language.name)
              }
            }
          }
        }
      }
    }
  }
}

extension HTML {
  /// A form that sends its token and what is hidden in it, with one button.
  mutating func form(
    to action: PageLink, _ token: FormToken, hidden: (name: String, value: String)...,
    button: (inout HTML) -> Void
  ) {
    element(.form, .post, .action(action)) { html in
      html.void(.input, .type("hidden"), .named(token.name), .value(token.value))
      for field in hidden { html.void(.input, .type("hidden"), .named(field.name), .value(field.value)) }
      button(&html)
    }
  }
}
