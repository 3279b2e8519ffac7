// What the host says about the device it runs on; EnrollKit reads no hardware facts itself (flows.md §7).

public struct Platform: Equatable, Sendable {
  /// False: no external browser is to be had, the configured stand-in token is used (state A).
  public var isNative: Bool
  public var type: String?
  public var width: Int64?
  public var height: Int64?
  public var appVersion: String?
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
