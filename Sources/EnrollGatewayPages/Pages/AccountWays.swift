// The part of the account page about ways to sign in: those that the account has, each with a button that takes it away, and those
// that can be added. And the part about the account's data: a copy, and its end.

struct AccountWays {
  let page: AccountPage
  let texts: Texts

  /// The identities, as rows of the profile.
  func writeIdentities(into html: inout HTML) {
    for (number, identity) in page.identities.enumerated() {
      html.element(.dd, .class("identity")) { html in
        self.identity(identity, number + 1, into: &html)
      }
    }
  }

  private func identity(_ identity: AccountPage.Identity, _ number: Int, into html: inout HTML) {
    html.sign(identity.sign, of: identity.label)
    html.element(.div) { html in
      html.element(.strong, .id("way-", number)) { $0.isolated(identity.label, always: true) }
      html.element(.p) { html in
        guard let email = identity.email else {
          html.phrase(texts(.noEmail))
          return
        }
        html.element(.bdi, .id("address-", number), text: email)
        html.text(" · ")
        html.phrase(
          identity.isEmailVerified
            ? texts(.emailConfirmed, [.provider: identity.label]) : texts(.emailUnconfirmed))
      }
    }
    guard let disconnect = page.actions.disconnect, page.identities.count > 1, let id = identity.id else {
      return
    }
    html.form(to: disconnect, page.token, hidden: ("identity", id)) { html in
      // The name says which way, and by which address, for those who hear the buttons alone.
      let name: Attribute =
        identity.email == nil
        ? .labelledBy("disconnect-", "way-", number: number)
        : .labelledBy("disconnect-", "way-", "address-", number: number)
      html.element(
        .button, .class("quiet"), .type("submit"), .id("disconnect-", number), name,
        phrase: texts(.disconnect))
    }
  }

  /// What can be added.
  func writeConnections(into html: inout HTML) {
    guard let connect = page.actions.connect, !page.connections.isEmpty else { return }
    html.element(.section, .labelledBy("connect")) { html in
      html.element(.h2, .id("connect"), phrase: texts(.connectTitle))
      html.element(.p, .class("soft"), phrase: texts(.connectLead))
      html.element(.ul, .class("connections"), .role("list")) { html in
        for way in page.connections {
          html.element(.li) { html in
            html.form(to: connect, page.token, hidden: ("provider", way.name)) {
              $0.element(
                .button, .class("quiet"), .type("submit"),
                phrase: texts(.connectWith, [.provider: way.label]))
            }
          }
        }
      }
    }
  }

  func writeData(into html: inout HTML) {
    guard let export = page.actions.export, let deletion = page.actions.deletion else { return }
    html.element(.section, .labelledBy("data")) { html in
      html.element(.h2, .id("data"), phrase: texts(.dataTitle))
      html.element(.p, .class("soft"), phrase: texts(.dataLead))
      html.element(.div, .class("choices")) { html in
        html.form(to: export, page.token) {
          $0.element(.button, .class("quiet"), .type("submit"), phrase: texts(.download))
        }
        html.element(.a, .class("button quiet"), .href(deletion), phrase: texts(.deleteAccount))
      }
    }
  }
}
