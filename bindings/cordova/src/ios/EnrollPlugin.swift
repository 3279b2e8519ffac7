// Unbuilt: this was written without Xcode.
//
// The native part on iOS: the actions of www/enroll.js over the C library. A command is passed on by its
// name, as JSON. Threads: Cordova calls on the main thread, and everything that this class owns stays there.
// The library calls back on its own threads. These threads pass answers to commandDelegate, and everything
// else to the main thread.

import AuthenticationServices
import CEnroll
import Cordova
import Foundation
import UIKit

@objc(EnrollPlugin)
final class EnrollPlugin: CDVPlugin {
  private struct HeldURL {
    let id: Int
    let url: String
  }

  private static let urlsHeld = 4
  private static let defaultTimeoutSeconds: Int64 = 30

  private var clients: [String: EnrollHandle] = [:]
  private var calls: [Int: PendingCall] = [:]
  private var urls: [HeldURL] = []
  private var listener: String?
  private var lastClient = 0
  private var lastURL = 0
  /// The number of the current page: answers to an earlier page are dropped.
  private var page = 0
  private var session: ASWebAuthenticationSession?
  private let queue = DispatchQueue(label: "org.enrollkit.cordova", attributes: .concurrent)

  // The life cycle of the app.

  override func pluginInitialize() {
    // Universal links, as cordova-ios 8 posts them; in cordova-ios 7 the app delegate has to post them in the
    // same way (README.md).
    NotificationCenter.default.addObserver(
      self, selector: #selector(continueActivity(_:)),
      name: Notification.Name("CDVPluginContinueUserActivityNotification"), object: nil)
  }

  /// A URL of the app's own scheme. Any app may send one: a URL that no transaction waits for changes nothing.
  override func handleOpenURL(_ notification: Notification) {
    if let url = notification.object as? URL { receive(url) }
  }

  @objc private func continueActivity(_ notification: Notification) {
    guard let activity = notification.object as? NSUserActivity, activity.activityType == NSUserActivityTypeBrowsingWeb,
      let url = activity.webpageURL
    else { return }
    receive(url)
  }

  /// The page has changed: the clients and calls of the previous page end.
  override func onReset() {
    page += 1
    listener = nil
    session?.cancel()
    session = nil
    calls.values.forEach { $0.cancel() }
    calls.removeAll()
    let left = Array(clients.values)
    clients.removeAll()
    // If a renewal was sent, `close` waits until its tokens are stored.
    queue.async { left.forEach { $0.close() } }
  }

  private func receive(_ url: URL) {
    lastURL += 1
    let held = HeldURL(id: lastURL, url: url.absoluteString)
    urls.append(held)
    urls = urls.suffix(Self.urlsHeld)
    tell(message(held))
  }

  // The actions that the page calls.

  @objc(open:)
  func open(_ command: CDVInvokedUrlCommand) {
    let page = self.page
    guard let wish = command.argument(at: 0) as? [String: Any] else { return refuse(command, "options", "an object") }
    guard let directory = directory(wish["store"]) else { return refuse(command, "store", "a name of a store") }
    lastClient += 1
    let id = "c\(lastClient)"
    queue.async {
      let opened = Result {
        try EnrollHandle(wish, directory: directory) { [weak self] name, parameters in
          DispatchQueue.main.async { self?.tell(id, name, parameters) }
        }
      }
      DispatchQueue.main.async {
        switch opened {
        case .success(let handle) where self.page == page:
          self.clients[id] = handle
          self.answer(command, .success(["client": id]))
        case .success(let handle):
          self.queue.async { handle.close() }
        case .failure(let error):
          self.answer(command, .failure(Self.failure(error)))
        }
      }
    }
  }

  @objc(close:)
  func close(_ command: CDVInvokedUrlCommand) {
    guard let id = command.argument(at: 0) as? String, let handle = clients.removeValue(forKey: id) else {
      return answer(command, .failure(Self.closed))
    }
    queue.async { handle.close() }
    answer(command, .success([:]))
  }

  /// [number, client or null, command, parameters]
  @objc(call:)
  func call(_ command: CDVInvokedUrlCommand) {
    guard let number = command.argument(at: 0) as? Int, let name = command.argument(at: 2) as? String,
      let parameters = command.argument(at: 3) as? [String: Any]
    else { return refuse(command, "command", "a command and its parameters") }
    guard parameters["keys"] == nil else { return refuse(command, "keys", "no keys: the app itself chooses the key provider") }
    guard let id = command.argument(at: 1) as? String else {
      guard let directory = directory(parameters["store"]) else { return refuse(command, "store", "a name of a store") }
      return queue.async {
        let result = Result { try EnrollLibrary.call(name, parameters, directory: directory) }
        self.answer(command, result.mapError(Self.failure))
      }
    }
    guard let handle = clients[id] else { return answer(command, .failure(Self.closed)) }
    let timeout = (parameters["timeout"] as? NSNumber)?.int64Value ?? Self.defaultTimeoutSeconds
    do {
      // The call may answer before `start` has returned; the main thread puts the two in order.
      calls[number] = try handle.start(name, parameters, timeoutMilliseconds: timeout * 1000) { [weak self] result in
        DispatchQueue.main.async {
          self?.calls.removeValue(forKey: number)
          self?.answer(command, result)
        }
      }
    } catch {
      answer(command, .failure(Self.failure(error)))
    }
  }

  @objc(cancel:)
  func cancel(_ command: CDVInvokedUrlCommand) {
    if let number = command.argument(at: 0) as? Int { calls[number]?.cancel() }
    answer(command, .success([:]))
  }

  /// All later events and URLs go to this callback.
  @objc(listen:)
  func listen(_ command: CDVInvokedUrlCommand) {
    listener = command.callbackId
    tell(["type": "ready"])
    urls.forEach { tell(message($0)) }
  }

  @objc(taken:)
  func taken(_ command: CDVInvokedUrlCommand) {
    if let id = command.argument(at: 0) as? Int { urls.removeAll { $0.id == id } }
    answer(command, .success([:]))
  }

  @objc(browse:)
  func browse(_ command: CDVInvokedUrlCommand) {
    let isOtherApp = command.argument(at: 1) as? Bool == true
    guard let text = command.argument(at: 0) as? String, let url = URL(string: text), mayOpen(url, isOtherApp) else {
      return refuse(command, "url", "an https URL for the browser")
    }
    if isOtherApp {
      return UIApplication.shared.open(url) { opened in
        let missing = EnrollFailure(ENROLL_E_UNSUPPORTED, "this device has no app for the link")
        self.answer(command, opened ? .success([:]) : .failure(missing))
      }
    }
    openBrowser(url, command)
  }

  /// Opens the browser over the app, with the browser's own sessions (RFC 8252 §B.1). The session receives
  /// the redirect, which is then handled like any other URL.
  private func openBrowser(_ url: URL, _ command: CDVInvokedUrlCommand) {
    session?.cancel()
    let completion: ASWebAuthenticationSession.CompletionHandler = { [weak self] redirect, error in
      DispatchQueue.main.async {
        if let redirect { self?.receive(redirect) }
        if (error as? ASWebAuthenticationSessionError)?.code == .canceledLogin { self?.tell(["type": "browserClosed"]) }
      }
    }
    let session = ASWebAuthenticationSession(url: url, callbackURLScheme: Self.scheme, completionHandler: completion)
    session.presentationContextProvider = self
    self.session = session
    let closed = EnrollFailure(ENROLL_E_UNSUPPORTED, "the browser did not open")
    answer(command, session.start() ? .success([:]) : .failure(closed))
  }

  /// The scheme that the plugin's variable URL_SCHEME put into Info.plist.
  private static let scheme: String? = {
    let types = Bundle.main.object(forInfoDictionaryKey: "CFBundleURLTypes") as? [[String: Any]]
    return types?.lazy.compactMap { ($0["CFBundleURLSchemes"] as? [String])?.first }.first
  }()

  // Answers to the page.

  private static let closed = EnrollFailure(ENROLL_E_HANDLE, "expected the id of an open client", field: "client")

  private static func failure(_ error: any Error) -> EnrollFailure {
    error as? EnrollFailure ?? EnrollFailure(ENROLL_E_INTERNAL, "\(type(of: error))")
  }

  private func refuse(_ command: CDVInvokedUrlCommand, _ field: String, _ expected: String) {
    answer(command, .failure(EnrollFailure(ENROLL_E_INVALID_ARGUMENT, "expected \(expected)", field: field)))
  }

  /// May run on any thread.
  private func answer(_ command: CDVInvokedUrlCommand, _ result: CallResult) {
    switch result {
    case .success(let object):
      commandDelegate.send(CDVPluginResult(status: .ok, messageAs: object), callbackId: command.callbackId)
    case .failure(let failure):
      commandDelegate.send(CDVPluginResult(status: .error, messageAs: failure.detail), callbackId: command.callbackId)
    }
  }

  private func tell(_ message: [String: Any]) {
    guard let listener, let result = CDVPluginResult(status: .ok, messageAs: message) else { return }
    // The same callback gets later messages, too.
    result.keepCallback = true
    commandDelegate.send(result, callbackId: listener)
  }

  private func tell(_ client: String, _ name: String, _ parameters: [String: Any]) {
    guard clients[client] != nil else { return }
    tell(["type": "event", "client": client, "name": name, "parameters": parameters])
  }

  private func message(_ held: HeldURL) -> [String: Any] { ["type": "url", "id": held.id, "url": held.url] }

  // Places of files.

  /// The directory of a store. A page passes a name, not a path. The directory is kept out of backups,
  /// because the store's key is unavailable on another device.
  private func directory(_ name: Any?) -> URL? {
    let text = name == nil ? "enroll" : name as? String
    guard let text, text.range(of: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", options: .regularExpression) != nil,
      !text.contains("\n"),
      var parent = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
    else { return nil }
    parent.appendPathComponent("org.enrollkit", isDirectory: true)
    try? FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
    var values = URLResourceValues()
    values.isExcludedFromBackup = true
    try? parent.setResourceValues(values)
    return parent.appendingPathComponent(text, isDirectory: true)
  }

  /// Whether the URL is a provider's page: over https, or over http on this device. Another app's link may
  /// have its own scheme.
  private func mayOpen(_ url: URL, _ isOtherApp: Bool) -> Bool {
    switch url.scheme?.lowercased() {
    case "https": return url.host != nil
    case "http": return !isOtherApp && ["127.0.0.1", "localhost", "::1"].contains(url.host ?? "")
    case let scheme?: return isOtherApp && scheme.contains(".")
    case nil: return false
    }
  }
}

extension EnrollPlugin: ASWebAuthenticationPresentationContextProviding {
  func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor {
    viewController.view.window ?? ASPresentationAnchor()
  }
}
