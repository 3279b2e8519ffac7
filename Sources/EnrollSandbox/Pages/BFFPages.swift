// The back end's one page. All else that it says, the app says.

extension Page {
  static let signInOver = Page(
    title: "Sign-in over", status: 403,
    main: """
      <h1>This sign-in is over</h1>
      <p>It was finished before, began in another browser, or took longer than ten minutes. \
      Nothing was changed. Return to the app and start again.</p>
      """)
}
