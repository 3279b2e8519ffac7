// Facts about the device, given by the host; EnrollKit reads no hardware facts itself (flows.md §7).

/// Facts about the device, given by the host. They are sent in requests; the library itself uses only ``isNative``.
public struct Platform: Equatable, Sendable {
  /// False for a platform without an external browser: the configured stand-in token is used (state A `notNative`).
  public var isNative: Bool
  /// The host's name for the kind of device: `ios`, `linux`, ….
  public var type: String?
  /// The screen's width, in the host's own points.
  public var width: Int64?
  /// The screen's height, in the host's own points.
  public var height: Int64?
  /// The app's version, in the host's form.
  public var appVersion: String?
  /// The host's own id of this device, which is different from the store's installation id.
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
