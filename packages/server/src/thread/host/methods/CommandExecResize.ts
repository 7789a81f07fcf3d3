/** `command/exec/resize`: gives the terminal of a command another size. */
import type { CommandExecResize } from "@colloquy/protocol/thread/Commands"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { invalid } from "../../../app/AppErrors.ts"
import type { HostHandler } from "../HostCall.ts"
import { noCommand } from "../HostErrors.ts"

/** Handler of the method. */
export const commandExecResize: HostHandler<typeof CommandExecResize> = Effect.fnUntraced(
  function* ({ processId, size }, { host }) {
    const command = host.commands.get(processId)
    if (command === undefined) return yield* noCommand(processId)
    if (command.sizes === undefined) {
      return yield* invalid(`command/exec process ${JSON.stringify(processId)} has no terminal`)
    }
    yield* Queue.offer(command.sizes, size)
    return {}
  },
)
