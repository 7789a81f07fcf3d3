/** What the methods that write the configuration have in common. */
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { ResultOf } from "@colloquy/protocol/Method"
import type { ConfigValueWrite } from "@colloquy/protocol/thread/Configuration"
import * as Effect from "effect/Effect"
import { cannotUseConfig } from "./HostErrors.ts"
import { type ConfigEdit, ConfigPort } from "./ports/ConfigPort.ts"

interface Target {
  readonly filePath?: string | null | undefined
  readonly expectedVersion?: string | null | undefined
}

/** Writes the edits, all or none. */
export const writeConfig = Effect.fnUntraced(function* (
  edits: ReadonlyArray<ConfigEdit>,
  { expectedVersion, filePath }: Target,
): Effect.fn.Return<ResultOf<typeof ConfigValueWrite>, JsonRpcError> {
  const port = yield* ConfigPort
  const written = yield* Effect.mapError(
    port.write({
      edits,
      ...(filePath == null ? {} : { filePath }),
      ...(expectedVersion == null ? {} : { expectedVersion }),
    }),
    cannotUseConfig,
  )
  return {
    status: written.overridden === undefined ? "ok" : "okOverridden",
    version: written.version,
    filePath: written.filePath,
    overriddenMetadata: written.overridden ?? null,
  }
})
