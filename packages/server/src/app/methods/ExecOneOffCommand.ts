/** `execOneOffCommand`: runs one command in the sandbox of the request, or in that of the configuration (L15). */
import type { ExecOneOffCommand } from "@colloquy/protocol/app/Host"
import { present } from "@colloquy/protocol/app/Fields"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { AppHandler } from "../AppCall.ts"
import { internal, invalid } from "../AppErrors.ts"
import { HostPort } from "../ports/HostPort.ts"
import { settingsOf } from "../ConversationResult.ts"

/** That of the original. */
const defaultTimeoutMs = 10_000

/** Handler of the method. */
export const execOneOffCommand: AppHandler<typeof ExecOneOffCommand> = Effect.fnUntraced(
  function* (params) {
    const { cwd, sandboxPolicy, timeoutMs } = present(params)
    const [program, ...args] = params.command
    if (program === undefined) return yield* invalid("command must not be empty")
    const host = yield* HostPort
    const settings = yield* settingsOf(cwd === undefined ? {} : { cwd })
    return yield* Effect.mapError(
      host.runCommand({
        argv: [program, ...args],
        timeout: Duration.millis(timeoutMs ?? defaultTimeoutMs),
        settings: sandboxPolicy === undefined ? settings : { ...settings, sandboxPolicy },
      }),
      ({ message, reason }) =>
        internal(`exec failed: ${message}`, reason === undefined ? undefined : { reason }),
    )
  },
)
