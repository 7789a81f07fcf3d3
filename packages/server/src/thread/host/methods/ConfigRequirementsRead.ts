/** `configRequirements/read`: this program has no administrator's requirements. */
import type { ConfigRequirementsRead } from "@colloquy/protocol/thread/Configuration"
import * as Effect from "effect/Effect"
import type { HostHandler } from "../HostCall.ts"

/** Handler of the method. */
export const configRequirementsRead: HostHandler<typeof ConfigRequirementsRead> = () =>
  Effect.succeed({ supportsIndependentSpeedModes: null, requirements: null })
