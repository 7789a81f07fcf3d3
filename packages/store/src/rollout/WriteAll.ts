/** Writes a whole batch to a file. */
import * as Effect from "effect/Effect"
import type { FileFault, FileHandle } from "../Files.ts"

/** Writes all bytes; continues behind a write that stopped short. */
export const writeAll = (
  handle: FileHandle,
  offset: number,
  bytes: Uint8Array,
): Effect.Effect<void, FileFault> =>
  bytes.length === 0
    ? Effect.void
    : Effect.flatMap(handle.write(offset, bytes), (written) =>
        writeAll(handle, offset + written, bytes.subarray(written)),
      )
