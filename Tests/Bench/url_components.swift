// Foundation's URLComponents on the redirect that bench-steps parses. Prints nanoseconds: the median of the rounds.
//
//     swiftc -O Tests/Bench/url_components.swift -o url_components

import Foundation

let url =
  "https://app.example/callback?code=SplxlOBeZQQYbYS6WxSbIASplxlOBeZQQYbYS6WxSbI"
  + "&state=af0ifjsldkjaf0ifjsldkjaf0ifjsldkjaf0ifjsldk&iss=https%3A%2F%2Fid.example"
let calls = 1000
var times: [Double] = []
for _ in 0..<101 {
  let began = clock_gettime_nsec()
  for _ in 0..<calls {
    guard let parts = URLComponents(string: url), parts.queryItems?.count == 3 else { exit(1) }
  }
  times.append(Double(clock_gettime_nsec() - began) / Double(calls))
}
print(Int(times.sorted()[50]))

func clock_gettime_nsec() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
