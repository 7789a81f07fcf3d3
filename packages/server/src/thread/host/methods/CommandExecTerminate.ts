/** `command/exec/terminate`: ends a command of this connection; its request is then answered. */
import type { CommandExecTerminate } from "@colloquy/protocol/thread/Commands"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { HostHandler } from "../HostCall.ts"
import { noCommand } from "../HostErrors.ts"

/** Handler of the method. */
export const commandExecTerminate: HostHandler<typeof CommandExecTerminate> = (
  { processId },
  { host },
) =>
  Effect.suspend(() => {
    const command = host.commands.get(processId)
    return command === undefined
      ? Effect.fail(noCommand(processId))
      : Effect.as(Deferred.succeed(command.terminated, undefined), {})
  })
