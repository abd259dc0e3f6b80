import TenfourChannelKeys
import Testing

/// The SHA-256 test cases of RFC 5869, appendix A.1 to A.3.
struct HKDFTests {
    struct Case: Sendable {
        var secret: String
        var salt: String
        var info: String
        var extracted: String
        var expanded: String
    }

    static let cases = [
        Case(
            secret: "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", salt: "000102030405060708090a0b0c",
            info: "f0f1f2f3f4f5f6f7f8f9", extracted: "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5",
            expanded: "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"),
        Case(
            secret: (0x00...0x4f).map { String($0, radix: 16).leftPadded }.joined(),
            salt: (0x60...0xaf).map { String($0, radix: 16).leftPadded }.joined(),
            info: (0xb0...0xff).map { String($0, radix: 16).leftPadded }.joined(),
            extracted: "06a6b88c5853361a06104c9ceb35b45cef760014904671014a193f40c15fc244",
            expanded: """
                b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09da3275600c2f\
                09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87
                """),
        Case(
            secret: "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", salt: "", info: "",
            extracted: "19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04",
            expanded: "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"),
    ]

    @Test(arguments: cases)
    func theVectorsOfTheRFCHold(vector: Case) {
        let key = HKDF.extract(salt: hex(vector.salt).span, secret: hex(vector.secret).span)
        #expect(key.array == hex(vector.extracted))
        let expanded = hex(vector.expanded)
        #expect(HKDF.expand(key, hex(vector.info), count: expanded.count).array == expanded)
    }
}

extension String {
    fileprivate var leftPadded: String { count < 2 ? "0" + self : self }
}
