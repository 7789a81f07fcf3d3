/** `fs/writeFile`: writes a file, replacing one that exists. */
import type { FsWriteFile } from "@colloquy/protocol/thread/Files"
import * as Effect from "effect/Effect"
import { bytesOf } from "../Base64.ts"
import { absolutePath, type HostHandler } from "../HostCall.ts"
import { cannotUseFile } from "../HostErrors.ts"
import { FilePort } from "../ports/FilePort.ts"

/** Handler of the method. */
export const fsWriteFile: HostHandler<typeof FsWriteFile> = Effect.fnUntraced(function* (params) {
  const path = yield* absolutePath("path", params.path)
  const bytes = yield* bytesOf("dataBase64", params.dataBase64)
  const files = yield* FilePort
  yield* Effect.mapError(files.write(path, bytes), cannotUseFile)
  return {}
})
