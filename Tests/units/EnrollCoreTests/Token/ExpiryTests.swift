import EnrollRules
import Expectations
import Testing

@Suite("The three bands of a token (flows.md §8)")
struct ExpiryTests {
  private func moment(_ wall: Int64, _ seconds: Int64, boot: String = "one") -> Moment {
    Moment(
      wall: UnixTime(seconds: wall), instant: Instant(nanoseconds: 0).advanced(bySeconds: seconds),
      bootID: boot)
  }

  private var hour: Expiry { Expiry(lifetimeSeconds: 3600, from: moment(1_000_000, 500)) }

  @Test(
    "fresh until the grace period, due in it, expired after it",
    arguments: [
      (Int64(0), Expiry.Band.fresh), (3539, .fresh), (3540, .due), (3599, .due), (3600, .expired),
      (100_000, .expired),
    ])
  func bands(elapsed: Int64, band: Expiry.Band) {
    expect(hour.band(at: moment(1_000_000 + elapsed, 500 + elapsed), graceSeconds: 60), is: band)
  }

  @Test(
    "setting the device's date changes nothing within a boot",
    arguments: [-31_536_000, -3600, 3600, 31_536_000])
  func dateIsSet(by seconds: Int64) {
    expect(hour.band(at: moment(1_000_000 + seconds, 510), graceSeconds: 60), is: .fresh)
    expect(hour.band(at: moment(1_000_000 + seconds, 500 + 3600), graceSeconds: 60), is: .expired)
  }

  @Test(
    "the date for callers is that of the clock as it is now, if the date was set after the token was received",
    arguments: [-31_536_000, -3600, 3600, 31_536_000])
  func dateForCallers(by seconds: Int64) {
    expect(hour.date(at: moment(1_000_000 + seconds + 10, 510)), is: UnixTime(seconds: 1_003_600 + seconds))
    // An expired token has a date, too.
    expect(
      hour.date(at: moment(1_000_000 + seconds + 4000, 4500)), is: UnixTime(seconds: 1_003_600 + seconds))
    // After a reboot, only the stored date is known.
    let rebooted = moment(1_000_000 + seconds, 5, boot: "two")
    expect(hour.date(at: rebooted), is: UnixTime(seconds: 1_003_600))
  }

  @Test("the date for callers does not change by rounding", arguments: [Int64(0), 1, 999_999_999])
  func dateIsSteady(nanoseconds: Int64) {
    for (wall, instant) in [(Int64(1_000_009), Int64(510)), (1_000_010, 510), (1_000_011, 510)] {
      var now = moment(wall, instant)
      now.instant = now.instant.advanced(byNanoseconds: nanoseconds)
      expect(hour.date(at: now), is: UnixTime(seconds: 1_003_600))
    }
  }

  @Test("absurd dates and lifetimes do not overflow", arguments: [Int64.min, .max])
  func absurdDates(wall: Int64) {
    let endless = Expiry(lifetimeSeconds: .max, from: moment(1_000_000, 500))
    expect(endless.date(at: moment(1_000_000, 510)), is: UnixTime(seconds: .max))
    _ = (endless.date(at: moment(wall, 510)), hour.date(at: moment(wall, 510)))
  }

  @Test("after a reboot the date decides")
  func reboot() {
    expect(hour.band(at: moment(1_000_100, 5, boot: "two"), graceSeconds: 60), is: .fresh)
    expect(hour.band(at: moment(1_003_600, 5, boot: "two"), graceSeconds: 60), is: .expired)
  }

  @Test("a boot's clock by which more is left than there ever was tells nothing: the date, and never fresh")
  func clockOfBootWentBack() {
    let back = moment(1_000_010, 499)
    expect(hour.band(at: back, graceSeconds: 60), is: .due)
    expect(hour.secondsLeft(at: back), is: 3590)
    expect(hour.band(at: moment(1_003_600, 499), graceSeconds: 60), is: .expired)
    expect(hour.band(at: moment(1_000_000, 500), graceSeconds: 60), is: .fresh)
    let kept = hour.freshness(at: back, graceSeconds: 60)
    #expect(!kept.holds(at: back.instant, minimumLifetimeSeconds: 0))
    // After a restore of the machine, a running process may see its clock earlier than when the token was stored. Then
    // the clock alone does not make the token fresh: the date also decides.
    let before = hour.freshness(at: moment(1_000_010, 510), graceSeconds: 60)
    #expect(before.holds(at: moment(0, 510).instant, minimumLifetimeSeconds: 0))
    #expect(!before.holds(at: moment(0, 5).instant, minimumLifetimeSeconds: 0))
  }

  @Test("a caller that needs longer makes the token due earlier")
  func minimumLifetime() {
    let after = moment(1_000_000, 500 + 1800)
    expect(hour.band(at: after, graceSeconds: 60, minimumLifetimeSeconds: 1799), is: .fresh)
    expect(hour.band(at: after, graceSeconds: 60, minimumLifetimeSeconds: 1800), is: .due)
  }

  @Test("a token that lives shorter than the grace period is not due at birth")
  func shortLived() {
    let brief = Expiry(lifetimeSeconds: 30, from: moment(1_000_000, 500))
    expect(brief.band(at: moment(1_000_000, 500), graceSeconds: 60), is: .fresh)
    expect(brief.band(at: moment(1_000_015, 515), graceSeconds: 60), is: .due)
    expect(brief.band(at: moment(1_000_000, 500), graceSeconds: 60, minimumLifetimeSeconds: 3600), is: .fresh)
  }

  @Test(
    "no token is due in its first second, whatever its life and whatever the caller asks for",
    arguments: [Int64(1), 2, 3, 5, 9, 10])
  func firstSecond(lifetime: Int64) {
    let born = moment(1_000_000, 500)
    let brief = Expiry(lifetimeSeconds: lifetime, from: born)
    let kept = brief.freshness(at: born, graceSeconds: 60)
    for nanoseconds in [Int64(0), 1, 999_999_999] {
      var later = born
      later.instant = born.instant.advanced(byNanoseconds: nanoseconds)
      for needed in [Int64(0), 1, 2, 3600] {
        expect(brief.band(at: later, graceSeconds: 60, minimumLifetimeSeconds: needed), is: .fresh)
        #expect(kept.holds(at: later.instant, minimumLifetimeSeconds: needed))
      }
    }
    var end = born
    end.instant = born.instant.advanced(bySeconds: lifetime).advanced(byNanoseconds: -1)
    expect(brief.band(at: end, graceSeconds: 60), isNot: .expired)
    end.instant = end.instant.advanced(byNanoseconds: 1)
    expect(brief.band(at: end, graceSeconds: 60), is: .expired)
  }

  @Test("absurd lifetimes saturate (R32)", arguments: [Int64.max, Int64.max - 1, Int64.min])
  func absurd(lifetime: Int64) {
    let expiry = Expiry(lifetimeSeconds: lifetime, from: moment(1_000_000, 500))
    let band = expiry.band(at: moment(1_000_000, 500), graceSeconds: 60)
    expect(band, is: lifetime > 0 ? .fresh : .expired)
  }

  @Test("what memory keeps of an expiry says fresh when the expiry does", arguments: ["one", "two"])
  func freshness(boot: String) {
    let kept = hour.freshness(at: moment(1_000_100, 600, boot: boot), graceSeconds: 60)
    for (elapsed, needed) in [
      (0, 0), (1800, 1698), (1800, 1699), (1800, 1700), (3439, 0), (3440, 0), (3600, 0),
    ] {
      let later = moment(1_000_100 + Int64(elapsed), 600 + Int64(elapsed), boot: boot)
      let band = hour.band(at: later, graceSeconds: 60, minimumLifetimeSeconds: Int64(needed))
      expect(kept.holds(at: later.instant, minimumLifetimeSeconds: Int64(needed)), is: band == .fresh)
    }
  }

  @Test("after a reboot memory goes by the date that was, not by another boot's clock")
  func freshnessAfterReboot() {
    let expiry = Expiry(lifetimeSeconds: 3600, from: moment(1_000_000, 5_000_000))
    let kept = expiry.freshness(at: moment(1_000_000, 5, boot: "two"), graceSeconds: 60)
    #expect(kept.holds(at: moment(0, 5 + 3539).instant, minimumLifetimeSeconds: 0))
    #expect(!kept.holds(at: moment(0, 5 + 3540).instant, minimumLifetimeSeconds: 0))
  }
}
