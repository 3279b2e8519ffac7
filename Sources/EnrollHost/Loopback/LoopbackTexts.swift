// The texts of the page, in each of its languages.

public import EnrollRules

extension LoopbackPage {
  /// The user is signed in.
  public static func signedIn(_ language: ReturnPage.Language) -> LoopbackPage {
    page(
      language,
      [
        .english: ("You are signed in", "You can close this tab and go back to the application."),
        .german: ("Sie sind angemeldet", "Sie können diesen Tab schließen und zur Anwendung zurückkehren."),
        .french: ("Vous êtes connecté", "Vous pouvez fermer cet onglet et revenir à l’application."),
        .spanish: ("Ha iniciado sesión", "Puede cerrar esta pestaña y volver a la aplicación."),
        .italian: ("Accesso effettuato", "Può chiudere questa scheda e tornare all’applicazione."),
        .dutch: ("U bent aangemeld", "U kunt dit tabblad sluiten en teruggaan naar de app."),
        .portuguese: ("Sessão iniciada", "Pode fechar este separador e voltar à aplicação."),
      ])
  }

  /// The sign-in has failed.
  public static func failed(_ language: ReturnPage.Language) -> LoopbackPage {
    page(
      language,
      [
        .english: (
          "Signing in did not work", "You can close this tab. The application tells you what to do next."
        ),
        .german: (
          "Die Anmeldung ist fehlgeschlagen",
          "Sie können diesen Tab schließen. Die Anwendung sagt Ihnen, wie es weitergeht."
        ),
        .french: (
          "La connexion a échoué", "Vous pouvez fermer cet onglet. L’application vous indique la suite."
        ),
        .spanish: (
          "No se ha podido iniciar sesión",
          "Puede cerrar esta pestaña. La aplicación le indica cómo continuar."
        ),
        .italian: (
          "Accesso non riuscito", "Può chiudere questa scheda. L’applicazione le dice come proseguire."
        ),
        .dutch: ("Aanmelden is mislukt", "U kunt dit tabblad sluiten. De app vertelt u hoe u verder kunt."),
        .portuguese: (
          "Não foi possível iniciar sessão", "Pode fechar este separador. A aplicação diz-lhe como continuar."
        ),
      ])
  }

  /// The page for a provider that cannot be reached. The redirect is processed again later.
  public static func postponed(_ language: ReturnPage.Language) -> LoopbackPage {
    page(
      language,
      [
        .english: (
          "Signing in is not finished yet",
          "The provider cannot be reached at the moment. The application keeps trying; you can go back to it."
        ),
        .german: (
          "Die Anmeldung ist noch nicht abgeschlossen",
          "Der Anbieter ist zurzeit nicht erreichbar. Die Anwendung versucht es weiter; Sie können zu ihr zurückkehren."
        ),
        .french: (
          "La connexion n’est pas encore terminée",
          "Le fournisseur est injoignable pour le moment. L’application réessaie ; vous pouvez y revenir."
        ),
        .spanish: (
          "El inicio de sesión aún no ha terminado",
          "No se puede contactar con el proveedor en este momento. La aplicación lo sigue intentando; puede volver a ella."
        ),
        .italian: (
          "L’accesso non è ancora completo",
          "Il fornitore non è raggiungibile al momento. L’applicazione continua a provare; può tornare ad essa."
        ),
        .dutch: (
          "Het aanmelden is nog niet klaar",
          "De aanbieder is op dit moment niet bereikbaar. De app blijft het proberen; u kunt ernaar teruggaan."
        ),
        .portuguese: (
          "O início de sessão ainda não terminou",
          "De momento, não é possível contactar o fornecedor. A aplicação continua a tentar; pode voltar a ela."
        ),
      ])
  }

  /// The page for an application's store that cannot be written at the moment. The redirect is processed again later.
  public static func unsaved(_ language: ReturnPage.Language) -> LoopbackPage {
    page(
      language,
      [
        .english: (
          "Signing in is not finished yet",
          "The application cannot save the sign-in at the moment. It keeps trying; go back to it to see what helps."
        ),
        .german: (
          "Die Anmeldung ist noch nicht abgeschlossen",
          "Die Anwendung kann die Anmeldung zurzeit nicht speichern. Sie versucht es weiter; dort steht, was hilft."
        ),
        .french: (
          "La connexion n’est pas encore terminée",
          "L’application ne peut pas enregistrer la connexion pour le moment. Elle réessaie ; revenez-y pour savoir quoi faire."
        ),
        .spanish: (
          "El inicio de sesión aún no ha terminado",
          "La aplicación no puede guardar el inicio de sesión en este momento. Lo sigue intentando; vuelva a ella para saber qué hacer."
        ),
        .italian: (
          "L’accesso non è ancora completo",
          "L’applicazione non può salvare l’accesso al momento. Continua a provare; torni ad essa per sapere che cosa fare."
        ),
        .dutch: (
          "Het aanmelden is nog niet klaar",
          "De app kan de aanmelding op dit moment niet opslaan. De app blijft het proberen; ga ernaar terug om te zien wat helpt."
        ),
        .portuguese: (
          "O início de sessão ainda não terminou",
          "De momento, a aplicação não consegue guardar a sessão. Continua a tentar; volte a ela para saber o que fazer."
        ),
      ])
  }

  static func declined(_ language: ReturnPage.Language) -> LoopbackPage {
    page(
      language,
      [
        .english: (
          "This is not the page that was expected",
          "The application is still waiting for the tab in which you are signing in."
        ),
        .german: (
          "Das ist nicht die erwartete Seite",
          "Die Anwendung wartet noch auf den Tab, in dem Sie sich anmelden."
        ),
        .french: (
          "Ce n’est pas la page attendue",
          "L’application attend toujours l’onglet dans lequel vous vous connectez."
        ),
        .spanish: (
          "Esta no es la página esperada",
          "La aplicación sigue esperando la pestaña en la que inicia sesión."
        ),
        .italian: (
          "Questa non è la pagina attesa",
          "L’applicazione aspetta ancora la scheda in cui effettua l’accesso."
        ),
        .dutch: (
          "Dit is niet de verwachte pagina", "De app wacht nog op het tabblad waarin u zich aanmeldt."
        ),
        .portuguese: (
          "Esta não é a página esperada", "A aplicação ainda espera pelo separador em que inicia sessão."
        ),
      ])
  }

  /// The page for a browser that sent more cookies than the listener reads. A browser sends the cookies of every
  /// program that had a page on this machine.
  static func tooManyCookies(_ language: ReturnPage.Language) -> LoopbackPage {
    page(
      language,
      [
        .english: (
          "Your browser sent too many cookies",
          "Delete the cookies of this address, or sign in again in a private window. The application is still waiting."
        ),
        .german: (
          "Ihr Browser hat zu viele Cookies gesendet",
          "Löschen Sie die Cookies dieser Adresse, oder melden Sie sich in einem privaten Fenster an. Die Anwendung wartet noch."
        ),
        .french: (
          "Votre navigateur a envoyé trop de cookies",
          "Supprimez les cookies de cette adresse ou connectez-vous dans une fenêtre privée. L’application attend toujours."
        ),
        .spanish: (
          "Su navegador ha enviado demasiadas cookies",
          "Elimine las cookies de esta dirección o inicie sesión en una ventana privada. La aplicación sigue esperando."
        ),
        .italian: (
          "Il browser ha inviato troppi cookie",
          "Elimini i cookie di questo indirizzo o acceda in una finestra privata. L’applicazione aspetta ancora."
        ),
        .dutch: (
          "Uw browser heeft te veel cookies gestuurd",
          "Verwijder de cookies van dit adres of meld u aan in een privévenster. De app wacht nog."
        ),
        .portuguese: (
          "O seu navegador enviou demasiados cookies",
          "Elimine os cookies deste endereço ou inicie sessão numa janela privada. A aplicação ainda espera."
        ),
      ])
  }

  /// The text of the link to the application.
  static func back(_ returnPage: ReturnPage) -> String {
    if let name = returnPage.appName {
      return switch returnPage.language {
      case .english: "Back to \(name)"
      case .german: "Zurück zu \(name)"
      case .french: "Retour à \(name)"
      case .spanish: "Volver a \(name)"
      case .italian: "Torna a \(name)"
      case .dutch: "Terug naar \(name)"
      case .portuguese: "Voltar a \(name)"
      }
    }
    return switch returnPage.language {
    case .english: "Back to the application"
    case .german: "Zurück zur Anwendung"
    case .french: "Retour à l’application"
    case .spanish: "Volver a la aplicación"
    case .italian: "Torna all’applicazione"
    case .dutch: "Terug naar de app"
    case .portuguese: "Voltar à aplicação"
    }
  }

  private typealias Texts = (title: String, message: String)

  private static func page(
    _ language: ReturnPage.Language, _ words: KeyValuePairs<ReturnPage.Language, Texts>
  ) -> LoopbackPage {
    let found = words.first { $0.key == language }?.value
    return LoopbackPage(
      title: found?.title ?? "", message: found?.message ?? "", language: language.rawValue)
  }
}
