/**
 * `command/exec/write`: writes to the standard input of a command, or closes it. Responds once the command takes it, or with an
 * error when the command ends before or has too much to read already.
 */
import type { CommandExecWrite } from "@colloquy/protocol/thread/Commands"
import * as Effect from "effect/Effect"
import { invalid } from "../../../app/AppErrors.ts"
import { bytesOf } from "../Base64.ts"
import type { HostHandler } from "../HostCall.ts"
import { noCommand } from "../HostErrors.ts"

/** Handler of the method. */
export const commandExecWrite: HostHandler<typeof CommandExecWrite> = Effect.fnUntraced(function* (
  { closeStdin, deltaBase64, processId },
  { host },
) {
  const command = host.commands.get(processId)
  if (command === undefined) return yield* noCommand(processId)
  const { input } = command
  if (input === undefined) {
    return yield* invalid("stdin streaming is not enabled for this command/exec")
  }
  const bytes = deltaBase64 == null ? undefined : yield* bytesOf("deltaBase64", deltaBase64)
  if (bytes !== undefined && bytes.length > 0) {
    yield* input.write(bytes)
  }
  if (closeStdin === true) yield* input.end
  return {}
})
