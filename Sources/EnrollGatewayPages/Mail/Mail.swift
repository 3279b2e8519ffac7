// E-mails, made from the texts of a catalogue: a subject, plain text, and HTML with the same content. They have no
// pictures, load nothing, and contain no URL except the link. They contain no text that a stranger chose (a name in a
// registration, an unknown User-Agent), because such a text could be advertising.

/// A kind of e-mail. Its raw value is the key in a catalogue.
public enum Mail: String, Sendable, CaseIterable {
  case activation, accountExists, signInLink, passwordReset, passwordChanged, identityLinked, identityUnlinked
  case accountsMerged, accountDeleted

  /// Whether the e-mail has a link.
  var hasLink: Bool {
    switch self {
    case .activation, .accountExists, .signInLink, .passwordReset: true
    case .passwordChanged, .identityLinked, .identityUnlinked, .accountsMerged, .accountDeleted: false
    }
  }

  /// Whether the text about what happened contains the provider's name.
  var namesProvider: Bool { self == .identityLinked || self == .identityUnlinked }

  var parts: [MailPart] {
    hasLink ? [.subject, .explanation, .action, .help] : [.subject, .explanation, .help]
  }
}

/// The texts of an e-mail.
enum MailPart: String, Sendable, CaseIterable {
  case subject
  case explanation = "what"
  /// The text of the link.
  case action
  case help
}

/// An e-mail with its values.
public struct MailPage: Sendable {
  public var mail: Mail
  public var link: PageLink?
  /// A provider's label.
  public var provider: String?
  /// The User-Agent of the browser that asked for the link.
  public var device: String?

  public init(_ mail: Mail, link: PageLink? = nil, provider: String? = nil, device: String? = nil) {
    self.mail = mail
    self.link = link
    self.provider = provider
    self.device = device
  }
}

/// The text of an e-mail.
public struct MailContent: Sendable, Equatable {
  /// A single line.
  public let subject: String
  /// Plain text; lines end with a line feed.
  public let text: String
  /// HTML in UTF-8.
  public let html: [UInt8]
}

extension Pages {
  public func mail(_ page: MailPage, in language: Language) -> MailContent {
    let texts = Texts(catalogue: languages.catalogue(of: language), product: theme.product)
    let provider = page.provider ?? texts(.failureSomeProvider).plain
    let explanation = texts(page.mail, .explanation, page.mail.namesProvider ? [.provider: provider] : [:])
    let device = page.device.flatMap { Device($0) }.map {
      texts(.mailAskedBy, [.device: $0.knownName(texts) ?? texts(.deviceUnknown).plain])
    }
    let help = texts(page.mail, .help)
    let subject = texts(page.mail, .subject).plain

    var text = explanation.plain + "\n\n"
    if let link = page.link { text += link.text + "\n\n" }
    if let device { text += device.plain + "\n\n" }
    text += help.plain + "\n\n-- \n" + theme.product + "\n"

    var html = HTML(capacity: 2048)
    html.doctype()
    html.element(.html, .lang(texts.language), .dir(texts.language.direction)) { html in
      html.element(.head) { html in
        html.void(.meta, .charset)
        html.element(.title, text: subject)
      }
      html.element(.body) { html in
        html.element(.h1, text: subject)
        html.element(.p, phrase: explanation)
        if let link = page.link {
          html.element(.p) { html in
            html.element(.a, .href(link)) { html in
              html.element(.strong, phrase: texts(page.mail, .action))
            }
          }
          html.element(.p, phrase: texts(.mailLinkHelp))
          html.element(.p) { $0.element(.a, .href(link), text: link.text) }
        }
        if let device { html.element(.p, phrase: device) }
        html.element(.p, phrase: help)
      }
    }
    return MailContent(subject: subject, text: text, html: html.bytes)
  }
}
