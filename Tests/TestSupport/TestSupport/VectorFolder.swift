public import Foundation

/// A folder of Protocol/vectors: pairs of files, NAME.json with the meaning of the bytes in NAME.bin.
public struct VectorFolder: Sendable {
    /// The files with a meaning, in the order of their names.
    public let files: [URL]
    private let folder: URL

    /// The folder `name` of Protocol/vectors; empty for the vectors directly in it.
    public init(_ name: String = "") {
        folder = URL(filePath: Repository.path("Protocol/vectors/\(name)"))
        let found = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        files = (found ?? []).filter { $0.pathExtension == "json" }.sorted { $0.path < $1.path }
    }

    /// Decodes all vectors. `setFile` gives one the file that it was read from.
    public func vectors<Vector: Decodable>(_ setFile: (inout Vector, URL) -> Void) -> [Vector] {
        files.map { file in
            do {
                var vector = try JSONDecoder().decode(Vector.self, from: Data(contentsOf: file))
                setFile(&vector, file)
                return vector
            } catch {
                fatalError("\(file.path) cannot be read: \(error)")
            }
        }
    }

    /// Returns the bytes of the vector `name`.
    public func bytes(of name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appending(path: name + ".bin")))
    }
}
