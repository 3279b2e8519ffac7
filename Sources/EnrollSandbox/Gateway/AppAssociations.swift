// A site's statements about the apps that may claim its links: Android's Digital Asset Links, and Apple's association file.

import EnrollJSON

enum AppAssociations {
  /// The content of `/.well-known/assetlinks.json`.
  static let android: JSON = .array([
    .object([
      ("relation", .array([.string("delegate_permission/common.handle_all_urls")])),
      (
        "target",
        .object([
          ("namespace", .string("android_app")), ("package_name", .string("com.example.app")),
          (
            "sha256_cert_fingerprints",
            .array([.string(Array(repeating: "00", count: 32).joined(separator: ":"))])
          ),
        ])
      ),
    ])
  ])

  /// The content of `/.well-known/apple-app-site-association`.
  static let apple: JSON = .object([
    (
      "applinks",
      .object([
        (
          "details",
          .array([
            .object([
              ("appIDs", .array([.string("ABCDE12345.com.example.app")])),
              (
                "components",
                .array([.object([("/", .string(Endpoint.welcome.path(with: "*")))])])
              ),
            ])
          ])
        )
      ])
    )
  ])
}
