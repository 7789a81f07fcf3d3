/** The beginning of a file, whatever its length is said to be: files of `/proc` say 0, and others grow while they are read. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Stream from "effect/Stream"

/** At most `maxBytes` of a file. */
export const readHead = Effect.fnUntraced(function* (path: string, maxBytes: number) {
  const fs = yield* FileSystem.FileSystem
  const pieces = yield* Stream.runCollect(fs.stream(path, { bytesToRead: maxBytes }))
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
})
