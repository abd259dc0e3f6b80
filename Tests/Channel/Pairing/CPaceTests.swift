import TenfourChannelKeys
import Testing

@testable import TenfourPairing

/// The test vectors of draft-irtf-cfrg-cpace-21, appendix B.3 (ristretto255 and SHA-512) and A.1 (strings).
struct CPaceTests {
    private let password = Array("Password".utf8)
    private let channel = Array("\u{0B}A_initiator\u{0B}B_responder".utf8)
    private let session = hex("7e4b4791d6a8ef019b936c79fb7f2c57")
    private let scalars = [
        hex("da3d23700a9e5699258aef94dc060dfda5ebb61f02a5ea77fad53f4ff0976d08"),
        hex("d2316b454718c35362d83d69df6320f38578ed5984651435e2949762d900b80d"),
    ]
    private let shares = [
        hex("d6bac480f2c386c394efc7c47adb9925dcd2630b64f240c50f8d0eec482b9157"),
        hex("3ea7e0b19560d7c0b0f5734f63b955286dfa8232b5ebe63324e2d9e7433f7258"),
    ]

    private func run(_ index: Int) -> CPace {
        CPace(password: password, channel: channel, session: session, scalar: secret(scalars[index]))
    }

    private func key(
        of run: CPace, with share: [UInt8], as role: CPace.Role, data: String = "", otherData: String = ""
    ) -> [UInt8]? {
        run.key(with: share.span, as: role, data: Array(data.utf8), otherData: Array(otherData.utf8))?.array
    }

    private func product(of scalar: [UInt8], _ point: [UInt8]) -> [UInt8]? {
        CPace.multiply(point.span, by: secret(scalar))?.array
    }

    @Test func theGeneratorIsThatOfTheDraft() {
        let generator = CPace.generator(password: password, channel: channel, session: session)
        #expect(generator.array == hex("222b6b195fe84b1652badb6f6a3ae3d24341e7306967f0b8115b40d5698c7e56"))
    }

    @Test func bothPartiesGetTheKeyOfTheDraft() {
        let (initiator, responder) = (run(0), run(1))
        #expect(initiator.share == shares[0])
        #expect(responder.share == shares[1])
        let point = hex("80b69a8a76457ab6a4d7f887a4bf6b55a2f80ac19c333f917a05fc9887c8b40f")
        #expect(product(of: scalars[0], shares[1]) == point)
        #expect(product(of: scalars[1], shares[0]) == point)
        let key = hex(
            """
            b69effbf61b51d56401c0f65601abe428de8206feaaf0e32198896dcae7b35cd2b38950a39dfd5d4a79164614c2984f7daa460b588c1e8\
            0c3fa2068af7900447
            """)
        #expect(self.key(of: initiator, with: shares[1], as: .initiator, data: "ADa", otherData: "ADb") == key)
        #expect(self.key(of: responder, with: shares[0], as: .responder, data: "ADb", otherData: "ADa") == key)
    }

    @Test func aScalarMultiplicationIsThatOfTheDraft() {
        let point = hex("2c3c6b8c4f3800e7aef6864025b4ed79bd599117e427c41bd47d93d654b4a51c")
        let scalar = hex("7cd0e075fa7955ba52c02759a6c90dbbfc10e6d40aea8d283e407d88cf538a05")
        #expect(product(of: scalar, point) == hex("7c13645fe790a468f62c39beb7388e541d8405d1ade69d1778c5fe3e7f6b600e"))
    }

    /// The draft's Y_i1 and Y_i2, and lengths that are not a share's.
    static let badShares = [
        hex("2b3c6b8c4f3800e7aef6864025b4ed79bd599117e427c41bd47d93d654b4a51c"), [UInt8](repeating: 0, count: 32),
        [UInt8](repeating: 255, count: 32), [], [UInt8](repeating: 1, count: 33),
    ]

    @Test(arguments: badShares)
    func aShareThatIsNoElementEndsTheRun(share: [UInt8]) {
        #expect(key(of: run(0), with: share, as: .initiator) == nil)
        #expect(key(of: run(1), with: share, as: .responder) == nil)
    }

    @Test func theKeyDependsOnEachInput() {
        let usual = key(of: run(0), with: shares[1], as: .initiator)
        #expect(usual != nil)
        #expect(key(of: run(0), with: shares[1], as: .responder) != usual)
        #expect(key(of: run(0), with: shares[1], as: .initiator, data: "a") != usual)
        #expect(key(of: run(0), with: shares[1], as: .initiator, otherData: "a") != usual)
        for change in 0..<3 {
            var inputs = [password, channel, session]
            inputs[change].append(0)
            let other = CPace(
                password: inputs[0], channel: inputs[1], session: inputs[2], scalar: secret(scalars[0]))
            #expect(other.share != shares[0])
            #expect(key(of: other, with: shares[1], as: .initiator) != usual)
        }
    }

    @Test func lengthsAreWrittenInGroupsOfSevenBits() {
        #expect(LEB128.bytes(0) == [0])
        #expect(LEB128.bytes(127) == [127])
        #expect(LEB128.bytes(128) == [0x80, 1])
        #expect(LEB128.bytes(300) == [0xAC, 2])
    }

    private func secret(_ bytes: [UInt8]) -> SecretBytes { SecretBytes(copying: bytes.span) }
}

/// Returns the bytes that the hexadecimal digits stand for.
func hex(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

extension SecretBytes {
    var array: [UInt8] { withBytes { bytes in bytes.indices.map { bytes[$0] } } }
}
