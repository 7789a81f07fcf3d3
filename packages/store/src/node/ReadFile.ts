/**
 * Reads a small file of this machine. Never waits and never reads more than `maxBytes`, whatever
 * exists at the path: a pipe, a device or an endless file is refused, and so is a file that grew
 * after its size was read (L13).
 */

/**
 * Needed before the server's first response. An import statement would load all file streams of
 * Node.
 */
const { closeSync, constants, fstatSync, openSync, readSync } = process.getBuiltinModule("node:fs")

/**
 * The path is not a regular file of at most `maxBytes` bytes. `message` never quotes the contents.
 */
export class UnsuitableFile extends Error {}

/** As the system reports it where a directory is read. */
const directory = (): Error =>
  Object.assign(new Error("EISDIR: it is a directory"), { code: "EISDIR" })

const chunkBytes = 64 * 1024

/** Reads at most one byte more than `maxBytes`. `size`: the expected length, so that a small file takes little memory. */
const readUpTo = (handle: number, size: number, maxBytes: number): Uint8Array => {
  const pieces: Array<Uint8Array> = []
  let length = 0
  while (length <= maxBytes) {
    const expected = length > size ? chunkBytes : Math.min(chunkBytes, size + 1 - length)
    const piece = new Uint8Array(Math.min(expected, maxBytes + 1 - length))
    const read = readSync(handle, piece, 0, piece.length, null)
    if (read === 0) break
    pieces.push(piece.subarray(0, read))
    length += read
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

/**
 * The bytes of a regular file; links are followed. Throws `UnsuitableFile` or a system error.
 *
 * @param maxBytes a longer file is refused
 */
export const readFile = (path: string, maxBytes: number): Uint8Array => {
  // Does not wait for the other end of a pipe.
  const handle = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const stats = fstatSync(handle)
    if (stats.isDirectory()) throw directory()
    if (!stats.isFile()) throw new UnsuitableFile("is not a regular file")
    const size = stats.size
    const tooLong = (bytes: string) =>
      new UnsuitableFile(`has ${bytes} bytes, expected at most ${maxBytes}`)
    if (size > maxBytes) throw tooLong(String(size))
    const bytes = readUpTo(handle, size, maxBytes)
    if (bytes.length > maxBytes) throw tooLong(`more than ${maxBytes}`)
    return bytes
  } finally {
    closeSync(handle)
  }
}
