// The part of the account page about ways to sign in: the ways that the account has, each with a button to
// remove it, and the ways that can be added. Also the part about the account's data: export and deletion.

struct AccountSignInMethods {
  let page: AccountPage
  let texts: Texts

  /// Writes the identities as rows of the profile.
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
          html.phrase(texts(.accountNoEmail))
          return
        }
        html.element(.bdi, .id("address-", number), text: email)
        html.text(" · ")
        html.phrase(
          identity.isEmailVerified
            ? texts(.accountEmailConfirmed, [.provider: identity.label]) : texts(.accountEmailUnconfirmed))
      }
    }
    guard let disconnect = page.actions.disconnect, page.identities.count > 1, let id = identity.id else {
      return
    }
    html.form(to: disconnect, page.token, hidden: ("identity", id)) { html in
      // The button's accessible name includes the provider and the address, for users who hear only the buttons.
      let name: Attribute =
        identity.email == nil
        ? .labelledBy("disconnect-", "way-", number: number)
        : .labelledBy("disconnect-", "way-", "address-", number: number)
      html.element(
        .button, .class("quiet"), .type("submit"), .id("disconnect-", number), name,
        phrase: texts(.accountDisconnect))
    }
  }

  /// Writes the ways to sign in that can be added.
  func writeConnections(into html: inout HTML) {
    guard let connect = page.actions.connect, !page.connections.isEmpty else { return }
    html.element(.section, .labelledBy("connect")) { html in
      html.element(.h2, .id("connect"), phrase: texts(.accountConnectTitle))
      html.element(.p, .class("soft"), phrase: texts(.accountConnectLead))
      html.element(.ul, .class("connections"), .role("list")) { html in
        for method in page.connections {
          html.element(.li) { html in
            html.form(to: connect, page.token, hidden: ("provider", method.name)) {
              $0.element(
                .button, .class("quiet"), .type("submit"),
                phrase: texts(.accountConnectWith, [.provider: method.label]))
            }
          }
        }
      }
    }
  }

  func writeData(into html: inout HTML) {
    guard let export = page.actions.export, let deletion = page.actions.deletion else { return }
    html.element(.section, .labelledBy("data")) { html in
      html.element(.h2, .id("data"), phrase: texts(.accountDataTitle))
      html.element(.p, .class("soft"), phrase: texts(.accountDataLead))
      html.element(.div, .class("choices")) { html in
        html.form(to: export, page.token) {
          $0.element(.button, .class("quiet"), .type("submit"), phrase: texts(.accountDownload))
        }
        html.element(.a, .class("button quiet"), .href(deletion), phrase: texts(.accountDelete))
      }
    }
  }
}
