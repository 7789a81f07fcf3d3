/** `fs/remove`: removes a file or directory. */
import type { FsRemove } from "@colloquy/protocol/thread/Files"
import * as Effect from "effect/Effect"
import { absolutePath, type HostHandler } from "../HostCall.ts"
import { cannotUseFile } from "../HostErrors.ts"
import { FilePort } from "../ports/FilePort.ts"

/** Handler of the method. */
export const fsRemove: HostHandler<typeof FsRemove> = Effect.fnUntraced(function* (params) {
  const path = yield* absolutePath("path", params.path)
  const files = yield* FilePort
  const options = { recursive: params.recursive ?? true, force: params.force ?? true }
  yield* Effect.mapError(files.remove(path, options), cannotUseFile)
  return {}
})
