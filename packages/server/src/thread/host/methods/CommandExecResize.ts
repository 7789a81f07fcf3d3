/** `command/exec/resize`: only commands in a terminal have a size, and this program gives none a terminal. */
import type { CommandExecResize } from "@colloquy/protocol/thread/Commands"
import * as Effect from "effect/Effect"
import { invalid } from "../../../app/AppErrors.ts"
import type { HostHandler } from "../HostCall.ts"
import { noCommand } from "../HostErrors.ts"

/** Handler of the method. */
export const commandExecResize: HostHandler<typeof CommandExecResize> = ({ processId }, { host }) =>
  Effect.suspend(() =>
    Effect.fail(
      host.commands.has(processId)
        ? invalid(`command/exec process ${JSON.stringify(processId)} has no terminal`)
        : noCommand(processId),
    ),
  )
