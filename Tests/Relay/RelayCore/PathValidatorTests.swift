import TenfourAudioCore
import TenfourChannelKeys
import TenfourSession
import TestSupport
import Testing

@testable import TenfourRelayCore

struct PathValidatorTests {
    private let member = MemberID(3)

    @Test func aChallengeIsNoLongerThanWhatCame() throws {
        var (paths, generator) = (PathValidator(), CSPRNG())
        let short = paths.datagramArrived(
            of: member, from: .host(1), byteCount: 52, using: &generator, at: .start)
        #expect(short == nil)
        let challenge = paths.datagramArrived(
            of: member, from: .host(1), byteCount: 1, using: &generator, at: .start)
        #expect(challenge != nil)
        let again = paths.datagramArrived(
            of: member, from: .host(1), byteCount: 500, using: &generator, at: .start + .milliseconds(199))
        #expect(again == nil, "more than five challenges in a second")
    }

    @Test func onlyTheAnswerFromThereIsValidAndOnlyOnce() throws {
        var (paths, generator) = (PathValidator(), CSPRNG())
        let sent = paths.datagramArrived(
            of: member, from: .host(1), byteCount: 100, using: &generator, at: .start)
        let challenge = try #require(sent)
        let results = [
            paths.validate(challenge, of: member, from: .host(2)),
            paths.validate(challenge &+ 1, of: member, from: .host(1)),
            paths.validate(challenge, of: MemberID(4), from: .host(1)),
            paths.validate(challenge, of: member, from: .host(1)),
            paths.validate(challenge, of: member, from: .host(1)),
        ]
        #expect(results == [false, false, false, true, false])
    }

    @Test func anotherAddressHasAnotherChallenge() throws {
        var (paths, generator) = (PathValidator(), CSPRNG())
        let first = paths.datagramArrived(
            of: member, from: .host(1), byteCount: 100, using: &generator, at: .start)
        let second = paths.datagramArrived(
            of: member, from: .host(2), byteCount: 100, using: &generator, at: .start + .seconds(1))
        #expect(first != nil && second != nil && first != second)
        let isOldValid = paths.validate(first!, of: member, from: .host(1))
        #expect(!isOldValid)
    }
}
