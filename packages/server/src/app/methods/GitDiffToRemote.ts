/** `gitDiffToRemote`: how the working tree differs from what is pushed. */
import type { GitDiffToRemote } from "@colloquy/protocol/app/Host"
import * as Effect from "effect/Effect"
import type { AppHandler } from "../AppCall.ts"
import { invalid } from "../AppErrors.ts"
import { HostPort } from "../ports/HostPort.ts"
import { settingsOf } from "../ConversationResult.ts"

/** Handler of the method. */
export const gitDiffToRemote: AppHandler<typeof GitDiffToRemote> = Effect.fnUntraced(function* ({
  cwd,
}) {
  const host = yield* HostPort
  const settings = yield* settingsOf({ cwd })
  return yield* host.gitDiffToRemote(settings).pipe(
    Effect.tapError(({ message }) => Effect.logDebug(`no diff: ${message}`)),
    Effect.mapError(() =>
      invalid(`failed to compute git diff to remote for cwd: ${JSON.stringify(cwd)}`),
    ),
  )
})
