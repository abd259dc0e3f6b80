internal import TenfourChannelKeys

/// The page that is served at `/` and at each channel's name, with the Content-Security-Policy that allows nothing but
/// its own style and script.
struct WebPage {
    let bytes: [UInt8]
    let policy: String

    /// Takes the page from the bytes of `page.html`, which has one `<style>` and one `<script>`.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        let sources = ["style", "script"].map { tag in
            Self.content(of: tag, in: bytes).map { "\(tag)-src 'sha256-\(Self.digest(of: $0))'; " } ?? ""
        }
        policy =
            "default-src 'none'; \(sources.joined())connect-src 'self'; media-src 'self' blob:; img-src 'self' data:; "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    }

    static let embedded = WebPage(PackageResources.page_html)

    /// The bytes between the first `<tag>` and `</tag>`; nil if there are none.
    private static func content(of tag: String, in bytes: [UInt8]) -> ArraySlice<UInt8>? {
        guard let start = bytes.firstRange(of: Array("<\(tag)>".utf8))?.upperBound,
            let end = bytes[start...].firstRange(of: Array("</\(tag)>".utf8))?.lowerBound
        else { return nil }
        return bytes[start..<end]
    }

    /// SHA-256 in base64, as a policy states it.
    private static func digest(of bytes: ArraySlice<UInt8>) -> String {
        let digest = sha256(Array(bytes).span)
        return base64(digest.span)
    }
}
