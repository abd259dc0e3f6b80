public import Foundation

/// A folder of Protocol/vectors: pairs of files, NAME.json with the meaning of the bytes in NAME.bin.
public struct VectorFolder: Sendable {
    private let folder: URL

    /// A folder has no vectors: a test of them would pass without having tested anything.
    public struct IsEmpty: Error {
        public var path: String
    }

    /// The folder `name` of Protocol/vectors; empty for the vectors directly in it.
    public init(_ name: String = "") { self.init(at: URL(filePath: Repository.path("Protocol/vectors/\(name)"))) }

    init(at folder: URL) { self.folder = folder }

    /// Returns the files with a meaning, one or more, in the order of their names.
    public func files() throws -> [URL] {
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }.sorted { $0.path < $1.path }
        guard !files.isEmpty else { throw IsEmpty(path: folder.path) }
        return files
    }

    /// Decodes all vectors, one or more. `setFile` gives one the file that it was read from.
    public func vectors<Vector: Decodable>(_ setFile: (inout Vector, URL) -> Void) throws -> [Vector] {
        try files().map { file in
            var vector = try JSONDecoder().decode(Vector.self, from: Data(contentsOf: file))
            setFile(&vector, file)
            return vector
        }
    }

    /// Returns the bytes of the vector `name`.
    public func bytes(of name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appending(path: name + ".bin")))
    }
}
