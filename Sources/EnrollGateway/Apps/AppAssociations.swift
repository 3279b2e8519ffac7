// Two files tell a phone that links of this host belong to an app: Android's Digital Asset Links and Apple's associated
// domains. Both are generated from the configured apps.

import EnrollRules
import EnrollJSON
import EnrollHTTP

enum AppAssociations {
  static let androidPath = "/.well-known/assetlinks.json"
  static let applePath = "/.well-known/apple-app-site-association"

  static func android(_ apps: [RegisteredApp]) -> WebResponse {
    let statements: [JSON] = apps.compactMap { app in
      app.android.map { android in
        .object([
          ("relation", .array([.string("delegate_permission/common.handle_all_urls")])),
          (
            "target",
            .object([
              ("namespace", .string("android_app")), ("package_name", .string(android.package)),
              ("sha256_cert_fingerprints", .array(android.fingerprints.map { .string($0) })),
            ])
          ),
        ])
      }
    }
    return .json(.array(statements))
  }

  /// Apple's file. It lists the paths of the apps' redirect URIs on this host.
  static func apple(_ apps: [RegisteredApp], publicOrigin: String) -> WebResponse {
    let details: [JSON] = apps.filter { !$0.appleAppIDs.isEmpty }.map { app in
      let paths = app.redirectURIs.compactMap { text -> String? in
        guard let url = try? StrictURL(text), ASCII.equals(url.shownOrigin, publicOrigin) else { return nil }
        return url.text(url.path)
      }
      return .object([
        ("appIDs", .array(app.appleAppIDs.map { .string($0) })),
        ("components", .array(paths.map { .object([("/", .string($0))]) })),
      ])
    }
    return .json(.object([("applinks", .object([("details", .array(details))]))]))
  }
}

extension WebResponse {
  static func json(_ json: JSON, status: Int = 200, headers: [HTTPHeader] = []) -> WebResponse {
    WebResponse(
      status, headers: [HTTPHeader("Content-Type", "application/json")] + headers, body: json.serialized())
  }

  /// A redirect that the browser follows with GET (RFC 9110 §15.4.4).
  static func redirect(to url: String, headers: [HTTPHeader] = []) -> WebResponse {
    WebResponse(303, headers: [HTTPHeader("Location", url)] + headers)
  }
}
