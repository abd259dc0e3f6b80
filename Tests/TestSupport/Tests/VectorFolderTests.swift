import Foundation
import Testing

@testable import TestSupport

struct VectorFolderTests {
    private struct Vector: Decodable { var number: Int }

    private let folder = Folder()

    private func numbers(in name: String) throws -> [Int] {
        let vectors: [Vector] = try VectorFolder(at: URL(filePath: folder(name))).vectors { _, _ in }
        return vectors.map(\.number)
    }

    @Test func aTestOfVectorsDoesNotPassOnNothing() throws {
        #expect(throws: CocoaError.self) { try numbers(in: "missing") }
        try FileManager.default.createDirectory(atPath: folder("vectors"), withIntermediateDirectories: true)
        folder.write("{}", to: "vectors/a.txt")
        #expect(throws: VectorFolder.IsEmpty.self) { try numbers(in: "vectors") }
        folder.write("{\"number\": 2}", to: "vectors/b.json")
        folder.write("{\"number\": 1}", to: "vectors/a.json")
        #expect(try numbers(in: "vectors") == [1, 2])
        folder.write("{", to: "vectors/c.json")
        #expect(throws: DecodingError.self) { try numbers(in: "vectors") }
    }
}
