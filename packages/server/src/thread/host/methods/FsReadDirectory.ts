/** `fs/readDirectory`: the entries of a directory. */
import type { FsReadDirectory } from "@colloquy/protocol/thread/Files"
import * as Effect from "effect/Effect"
import { absolutePath, type HostHandler } from "../HostCall.ts"
import { cannotUseFile } from "../HostErrors.ts"
import { FilePort } from "../ports/FilePort.ts"

/** Handler of the method. */
export const fsReadDirectory: HostHandler<typeof FsReadDirectory> = Effect.fnUntraced(
  function* (params) {
    const path = yield* absolutePath("path", params.path)
    const files = yield* FilePort
    return { entries: yield* Effect.mapError(files.list(path), cannotUseFile) }
  },
)
