/** `config/read`: the configuration in effect, and where each value comes from. */
import type { ConfigRead } from "@colloquy/protocol/thread/Configuration"
import * as Effect from "effect/Effect"
import type { HostHandler } from "../HostCall.ts"
import { cannotUseConfig } from "../HostErrors.ts"
import { ConfigPort } from "../ports/ConfigPort.ts"

/** Handler of the method. A configuration belongs to no directory here, so `cwd` changes nothing. */
export const configRead: HostHandler<typeof ConfigRead> = Effect.fnUntraced(function* ({
  includeLayers,
}) {
  const port = yield* ConfigPort
  const { config, layers, origins } = yield* Effect.mapError(port.read, cannotUseConfig)
  return { config, origins, ...(includeLayers === true ? { layers } : {}) }
})
