/**
 * A command of the user, which a turn runs before any request to the model. What the model reads of it is recorded when it
 * ends, also after an interrupt.
 */
import * as Effect from "effect/Effect"
import { commandMessage } from "../log/CommandMessage.ts"
import type { ToolResult, TurnTools } from "../ToolRuntime.ts"
import type { TurnPort } from "./TurnPort.ts"

const failed: ToolResult = { output: "execution error: the command failed with an internal error" }

/** Runs the command of this turn. Resolves when its output is emitted, and never fails. */
export const runCommand = (
  turnId: string,
  command: string,
  port: Pick<TurnPort, "emit" | "eventCallId">,
  { runUserCommand }: TurnTools,
): Effect.Effect<void> => {
  if (runUserCommand === undefined) {
    const message = "this conversation has no shell that runs commands of the user"
    return port.emit([{ type: "error", message }])
  }
  const record = ({ output }: ToolResult) =>
    port.emit([{ type: "raw_response_item", item: commandMessage(command, output) }])
  return Effect.suspend(() => runUserCommand(command, port.eventCallId(`shell-${turnId}`))).pipe(
    Effect.catchDefect((defect) =>
      Effect.as(Effect.logError("a command of the user failed with a defect", defect), failed),
    ),
    Effect.onInterrupt(() => record({ output: "interrupted by the user before it had ended" })),
    Effect.flatMap(record),
  )
}
