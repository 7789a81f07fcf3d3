/** The directories that a list is requested for. */
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import { settingsOf } from "../../app/ConversationResult.ts"

/** Those of the request as absolute paths; without any, the directory of the server. */
export const directoriesOf = (
  cwds: ReadonlyArray<string> | null | undefined,
): Effect.Effect<ReadonlyArray<string>, JsonRpcError, SettingsResolver> =>
  cwds == null || cwds.length === 0
    ? Effect.map(settingsOf({}), ({ cwd }) => [cwd])
    : Effect.forEach([...new Set(cwds)], (one) =>
        Effect.map(settingsOf({ cwd: one }), ({ cwd }) => cwd),
      )
