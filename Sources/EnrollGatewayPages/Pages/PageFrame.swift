// The parts that all pages share: language and direction, title, skip link, landmarks, the product's logo, the links in the
// footer.

/// A page without its frame.
package struct Content {
  /// The page's only `h1`, and the first part of its title.
  var heading: Phrase
  /// Whether the page is wider than a card of text.
  var isWide = false
  /// Whether a script submits the page's form.
  var submitsForm = false
  /// Writes the content of `main` with the `h1`; some pages show a symbol before the heading.
  var main: (inout HTML) -> Void
}

struct PageFrame {
  let theme: Theme
  let style: PageLink
  let mark: PageLink
  let formSubmitter: PageLink
  let texts: Texts
  let context: PageContext

  /// The title of the page: the heading, then the product. The product comes last, because tabs and screen readers cut
  /// off the end. It is left out if the heading already contains it.
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
        html.element(.a, .class("skip"), .hrefToMain, phrase: texts(.frameSkip))
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
      if content.submitsForm { html.script(formSubmitter) }
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
      (.frameHelp, theme.links.help), (.framePrivacy, theme.links.privacy), (.frameTerms, theme.links.terms),
      (.frameImprint, theme.links.imprint),
    ]
    let given = links.compactMap { text, link in link.map { (text, $0) } }
    guard !given.isEmpty || !context.otherLanguages.isEmpty else { return }
    html.element(.footer) { html in
      if !given.isEmpty {
        html.element(.nav, .label(texts(.frameAbout).plain)) { html in
          html.element(.ul, .role("list")) { html in
            for (text, link) in given {
              html.element(.li) { $0.element(.a, .href(link), phrase: texts(text)) }
            }
          }
        }
      }
      if !context.otherLanguages.isEmpty {
        html.element(.nav, .label(texts(.frameLanguage).plain)) { html in
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
  /// Writes a form with its token, hidden fields and one button.
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
