// Unbuilt for iOS: this was written without Xcode.
//
// The C library in the plugin's form: JSON in, JSON out, on any thread. `enroll.h` is the manual.

import CEnroll
import Foundation

/// The reason why a call failed, in the manifest's form.
struct EnrollFailure: Error {
  let detail: [String: Any]

  init(_ error: enroll_error) {
    var error = error
    var detail: [String: Any] = [
      "status": String(cString: enroll_status_name(error.status)), "code": Int(error.status),
      "blame": String(cString: enroll_blame_name(error.blame)), "retryable": error.is_retryable == 1,
      "message": Self.text(&error.message),
    ]
    let field = Self.text(&error.field)
    let oauthError = Self.text(&error.oauth_error)
    let description = Self.text(&error.oauth_error_description)
    if !field.isEmpty { detail["field"] = field }
    if !oauthError.isEmpty { detail["oauthError"] = oauthError }
    if !description.isEmpty { detail["oauthErrorDescription"] = description }
    if error.http_status != 0 { detail["httpStatus"] = Int(error.http_status) }
    if error.retry_after_seconds != 0 { detail["retryAfter"] = Int(error.retry_after_seconds) }
    if error.reason != ENROLL_OK { detail["reason"] = String(cString: enroll_status_name(error.reason)) }
    self.detail = detail
  }

  /// A failure of the plugin itself.
  init(_ status: enroll_status, _ message: String, field: String? = nil) {
    var detail: [String: Any] = [
      "status": String(cString: enroll_status_name(status)), "code": Int(status),
      "blame": String(cString: enroll_blame_name(enroll_status_blame(status))),
      "retryable": enroll_status_is_retryable(status) == 1, "message": message,
    ]
    detail["field"] = field
    self.detail = detail
  }

  private static func text<Characters>(_ characters: inout Characters) -> String {
    withUnsafeBytes(of: &characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}

/// An empty `enroll_error` with its size set.
func newError() -> enroll_error {
  var error = enroll_error()
  enroll_error_init(&error, MemoryLayout<enroll_error>.stride)
  return error
}

/// Receives a client's events: the name and the parameters of each.
typealias EventListener = @Sendable (_ name: String, _ parameters: [String: Any]) -> Void
typealias CallResult = Result<[String: Any], EnrollFailure>

/// One client of the library.
final class EnrollHandle: @unchecked Sendable {
  let client: OpaquePointer

  /// Reads the store and the Keychain, so it must not run on the main thread.
  init(_ wish: [String: Any], directory: URL, listener: @escaping EventListener) throws {
    let platform = wish["platform"] as? [String: Any] ?? [:]
    let texts = TextArguments()
    var error = newError()
    var keys = enroll_keys()
    enroll_keys_init(&keys, MemoryLayout<enroll_keys>.stride)
    keys.provider = ENROLL_KEYS_HOST
    var options = enroll_client_options()
    enroll_client_options_init(&options, MemoryLayout<enroll_client_options>.stride)
    (options.configuration, options.configuration_size) = texts.add(json(wish["configuration"] ?? [:]))
    (options.store_directory, options.store_directory_size) = texts.add(directory.path)
    (options.account, options.account_size) = texts.add(wish["account"] as? String)
    (options.platform_type, options.platform_type_size) = texts.add(platform["type"] as? String)
    (options.app_version, options.app_version_size) = texts.add(platform["appVersion"] as? String)
    (options.device_id, options.device_id_size) = texts.add(platform["deviceId"] as? String)
    options.platform_width = Int64(platform["width"] as? Int ?? 0)
    options.platform_height = Int64(platform["height"] as? Int ?? 0)
    options.is_not_native = platform["native"] as? Bool == false ? 1 : 0
    options.waits_for_platform = wish["waitForPlatform"] as? Bool == true ? 1 : 0
    options.renews_in_background = wish["renewInBackground"] as? Bool == true ? 1 : 0

    var opened: OpaquePointer?
    let status = KeychainSecretStore.withStruct { secrets in
      URLSessionTransport.withStruct { transport in
        keys.host = secrets
        options.transport = transport
        return withUnsafePointer(to: &keys) { keys in
          options.keys = keys
          return enroll_client_new(&options, &opened, &error)
        }
      }
    }
    guard status == ENROLL_OK, let opened else { throw EnrollFailure(error) }
    client = opened
    let listening = Unmanaged.passRetained(Box(listener))
    var subscription: Int64 = 0
    let subscribed = enroll_events_subscribe(
      opened,
      { box, name, parameters, size in
        guard let box, let name else { return }
        let listener = Unmanaged<Box<EventListener>>.fromOpaque(box).takeUnretainedValue()
        listener.value(String(cString: name), object(parameters, size))
      }, listening.toOpaque(),
      { box in
        // The last event's callback has returned.
        if let box { Unmanaged<Box<EventListener>>.fromOpaque(box).release() }
      }, &subscription, &error)
    guard subscribed == ENROLL_OK else {
      listening.release()
      enroll_client_free(opened)
      throw EnrollFailure(error)
    }
  }

  /// Blocks until a renewal that was sent is stored, so it must not run on the main thread.
  func close() {
    enroll_client_free(client)
  }

  /// Starts a command. The returned handle cancels it; ``PendingCall/deinit`` releases the handle.
  func start(
    _ command: String, _ parameters: [String: Any], timeoutMilliseconds: Int64,
    completion: @escaping @Sendable (CallResult) -> Void
  ) throws -> PendingCall {
    let text = json(parameters)
    var error = newError()
    var pending: OpaquePointer?
    let box = Unmanaged.passRetained(Box(completion))
    let status = enroll_call_start(
      client, command, command.utf8.count, text, text.utf8.count, timeoutMilliseconds,
      { box, status, result, size, error in
        guard let box else { return }
        let completion = Unmanaged<Box<@Sendable (CallResult) -> Void>>.fromOpaque(box).takeRetainedValue()
        if status == ENROLL_OK {
          completion.value(.success(object(result, size)))
        } else {
          let failure = error.map { EnrollFailure($0.pointee) }
          completion.value(.failure(failure ?? EnrollFailure(status, "no reason given")))
        }
      }, box.toOpaque(), &pending, &error)
    guard status == ENROLL_OK, let pending else {
      // The call did not start, so no callback will release the box.
      box.release()
      throw EnrollFailure(error)
    }
    return PendingCall(pending)
  }
}

/// A call that may be cancelled.
final class PendingCall: @unchecked Sendable {
  private let pending: OpaquePointer

  init(_ pending: OpaquePointer) { self.pending = pending }

  deinit { enroll_pending_free(pending) }

  func cancel() { enroll_pending_cancel(pending) }
}

/// Runs commands that need no client. Commands about a store have separate C functions, because the Keychain
/// holds the store's key.
enum EnrollLibrary {
  static func call(_ command: String, _ parameters: [String: Any], directory: URL) throws -> [String: Any] {
    var error = newError()
    var result = enroll_buf()
    defer { enroll_buf_free(&result) }
    let path = directory.path
    let status: enroll_status
    switch command {
    case "accounts.list":
      status = withKeys { enroll_accounts_list(path, path.utf8.count, $0, &result, &error) }
    case "accounts.remove":
      let account = parameters["account"] as? String ?? "default"
      status = withKeys {
        enroll_accounts_remove(path, path.utf8.count, $0, account, account.utf8.count, &error)
      }
    case "installation.reset":
      status = withKeys { enroll_installation_reset(path, path.utf8.count, $0, &error) }
    case "store.diagnose":
      status = withKeys { enroll_store_diagnose(path, path.utf8.count, $0, &result, &error) }
    default:
      let text = json(parameters)
      status = enroll_call(nil, command, command.utf8.count, text, text.utf8.count, -1, &result, &error)
    }
    guard status == ENROLL_OK else { throw EnrollFailure(error) }
    return object(result.data, result.size)
  }

  private static func withKeys(_ body: (UnsafePointer<enroll_keys>) -> enroll_status) -> enroll_status {
    KeychainSecretStore.withStruct { secrets in
      var keys = enroll_keys()
      enroll_keys_init(&keys, MemoryLayout<enroll_keys>.stride)
      keys.provider = ENROLL_KEYS_HOST
      keys.host = secrets
      return withUnsafePointer(to: &keys, body)
    }
  }
}

/// C strings that live as long as this object.
private final class TextArguments {
  private var owned: [UnsafeMutablePointer<CChar>] = []

  deinit { owned.forEach { free($0) } }

  func add(_ text: String?) -> (UnsafePointer<CChar>?, Int) {
    guard let text, let copy = strdup(text) else { return (nil, 0) }
    owned.append(copy)
    return (UnsafePointer(copy), strlen(copy))
  }
}

final class Box<Value>: @unchecked Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }
}

private func json(_ value: Any) -> String {
  guard JSONSerialization.isValidJSONObject(value),
    let data = try? JSONSerialization.data(withJSONObject: value)
  else { return "null" }
  return String(decoding: data, as: UTF8.self)
}

private func object(_ text: UnsafePointer<CChar>?, _ size: Int) -> [String: Any] {
  guard let text, size > 0 else { return [:] }
  let data = Data(bytes: text, count: size)
  return (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] ?? [:]
}
