// Mails, as texts of a catalogue become them: a subject, plain text, and HTML that says the same. No picture, nothing that is loaded,
// no address but the one link. No mail contains text that a stranger chose (a name at registration, an unknown User-Agent): it could be
// an advertisement.

/// A kind of mail. Its name is the key in a catalogue.
public enum Mail: String, Sendable, CaseIterable {
  case activation, accountExists, signInLink, passwordReset, passwordChanged, identityLinked, identityUnlinked
  case accountsMerged, accountDeleted

  /// It has a link, with a word for it.
  var hasLink: Bool {
    switch self {
    case .activation, .accountExists, .signInLink, .passwordReset: true
    case .passwordChanged, .identityLinked, .identityUnlinked, .accountsMerged, .accountDeleted: false
    }
  }

  /// What happened has the provider's name.
  var namesProvider: Bool { self == .identityLinked || self == .identityUnlinked }

  var parts: [MailPart] { hasLink ? [.subject, .what, .action, .help] : [.subject, .what, .help] }
}

/// The texts of a mail.
enum MailPart: String, Sendable, CaseIterable {
  case subject, what
  /// On the link.
  case action
  case help
}

/// A mail with its values.
public struct MailPage: Sendable {
  public var mail: Mail
  public var link: PageLink?
  /// A provider's label.
  public var provider: String?
  /// The browser that asked for the link.
  public var device: String?

  public init(_ mail: Mail, link: PageLink? = nil, provider: String? = nil, device: String? = nil) {
    self.mail = mail
    self.link = link
    self.provider = provider
    self.device = device
  }
}

/// A mail in words.
public struct MailContent: Sendable, Equatable {
  /// One line.
  public let subject: String
  /// Lines that end with a line feed.
  public let text: String
  /// UTF-8.
  public let html: [UInt8]
}

extension Pages {
  public func mail(_ page: MailPage, in language: Language) -> MailContent {
    let texts = Texts(catalogue: languages.catalogue(of: language), product: theme.product)
    let provider = page.provider ?? texts(.someProvider).plain
    let what = texts(page.mail, .what, page.mail.namesProvider ? [.provider: provider] : [:])
    let device = page.device.flatMap { Device($0) }.map {
      texts(.mailAskedBy, [.device: $0.knownName(texts) ?? texts(.unknownDevice).plain])
    }
    let help = texts(page.mail, .help)
    let subject = texts(page.mail, .subject).plain

    var text = what.plain + "\n\n"
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
        html.element(.p, phrase: what)
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
