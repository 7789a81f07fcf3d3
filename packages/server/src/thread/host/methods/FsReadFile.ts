/** `fs/readFile`: the contents of a file. */
import type { FsReadFile } from "@colloquy/protocol/thread/Files"
import * as Base64 from "effect/encoding/Base64"
import * as Effect from "effect/Effect"
import { absolutePath, type HostHandler } from "../HostCall.ts"
import { cannotUseFile } from "../HostErrors.ts"
import { FilePort } from "../ports/FilePort.ts"

/** Handler of the method. */
export const fsReadFile: HostHandler<typeof FsReadFile> = Effect.fnUntraced(function* (params) {
  const path = yield* absolutePath("path", params.path)
  const files = yield* FilePort
  const bytes = yield* Effect.mapError(files.read(path), cannotUseFile)
  return { dataBase64: Base64.encode(bytes) }
})
