// Facts about the device, given by the host; EnrollKit reads no hardware facts itself (flows.md §7).

/// Facts about the device, given by the host: sent with requests that want them, never used by this library.
public struct Platform: Equatable, Sendable {
  /// False: there is no external browser, and the configured stand-in token is used (state A).
  public var isNative: Bool
  /// The host's word for the kind of device: `ios`, `linux`, ….
  public var type: String?
  /// The screen's width, in the host's own points.
  public var width: Int64?
  /// The screen's height, in the host's own points.
  public var height: Int64?
  /// The version of the app, as the host names it.
  public var appVersion: String?
  /// The host's own name for this device; the store's installation id is another one.
  public var deviceID: String?

  public init(
    isNative: Bool = true, type: String? = nil, width: Int64? = nil, height: Int64? = nil,
    appVersion: String? = nil, deviceID: String? = nil
  ) {
    self.isNative = isNative
    self.type = type
    self.width = width
    self.height = height
    self.appVersion = appVersion
    self.deviceID = deviceID
  }
}
