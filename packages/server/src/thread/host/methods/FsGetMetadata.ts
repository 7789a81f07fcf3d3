/** `fs/getMetadata`: describes a file or directory. */
import type { FsGetMetadata } from "@colloquy/protocol/thread/Files"
import * as Effect from "effect/Effect"
import { absolutePath, type HostHandler } from "../HostCall.ts"
import { cannotUseFile } from "../HostErrors.ts"
import { FilePort } from "../ports/FilePort.ts"

/** Handler of the method. */
export const fsGetMetadata: HostHandler<typeof FsGetMetadata> = Effect.fnUntraced(
  function* (params) {
    const path = yield* absolutePath("path", params.path)
    const files = yield* FilePort
    const { sizeBytes, ...facts } = yield* Effect.mapError(files.describe(path), cannotUseFile)
    return { ...facts, size: sizeBytes }
  },
)
