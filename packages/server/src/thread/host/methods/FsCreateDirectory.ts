/** `fs/createDirectory`: creates a directory, and its parents unless the client forbids it. */
import type { FsCreateDirectory } from "@colloquy/protocol/thread/Files"
import * as Effect from "effect/Effect"
import { absolutePath, type HostHandler } from "../HostCall.ts"
import { cannotUseFile } from "../HostErrors.ts"
import { FilePort } from "../ports/FilePort.ts"

/** Handler of the method. */
export const fsCreateDirectory: HostHandler<typeof FsCreateDirectory> = Effect.fnUntraced(
  function* (params) {
    const path = yield* absolutePath("path", params.path)
    const files = yield* FilePort
    const recursive = params.recursive ?? true
    yield* Effect.mapError(files.createDirectory(path, { recursive }), cannotUseFile)
    return {}
  },
)
