/** `fs/copy`: copies a file, or a directory where the client says so. */
import type { FsCopy } from "@colloquy/protocol/thread/Files"
import * as Effect from "effect/Effect"
import { absolutePath, type HostHandler } from "../HostCall.ts"
import { cannotUseFile } from "../HostErrors.ts"
import { FilePort } from "../ports/FilePort.ts"

/** Handler of the method. */
export const fsCopy: HostHandler<typeof FsCopy> = Effect.fnUntraced(function* (params) {
  const from = yield* absolutePath("sourcePath", params.sourcePath)
  const to = yield* absolutePath("destinationPath", params.destinationPath)
  const files = yield* FilePort
  const recursive = params.recursive ?? false
  yield* Effect.mapError(files.copy(from, to, { recursive }), cannotUseFile)
  return {}
})
