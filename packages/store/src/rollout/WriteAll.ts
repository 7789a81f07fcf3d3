/** Writes a whole batch to a file. */
import * as Effect from "effect/Effect"
import type { FileFault, FileHandle } from "../Files.ts"

/** Writes all bytes; continues behind a write that stopped short. */
export const writeAll = Effect.fnUntraced(function* (
  handle: FileHandle,
  offset: number,
  bytes: Uint8Array,
): Effect.fn.Return<void, FileFault> {
  for (let written = 0; written < bytes.length;) {
    written += yield* handle.write(offset + written, bytes.subarray(written))
  }
})
