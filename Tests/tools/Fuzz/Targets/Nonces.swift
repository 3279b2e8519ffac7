// Nonces of servers for proofs (RFC 9449 §8).

@testable import EnrollRules

func nonce(in response: HTTPResponse) -> String? { DPoPNonces.nonce(in: response) }
func isNonceDemanded(by response: HTTPResponse) -> Bool { DPoPNonces.isDemanded(by: response) }
