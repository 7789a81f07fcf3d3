/** `thread/shellCommand`: runs a command of the user as a turn of its own. Refused while a turn runs. */
import type { ThreadShellCommand } from "@colloquy/protocol/thread/ThreadChanges"
import * as Effect from "effect/Effect"
import { invalid } from "../../app/AppErrors.ts"
import { subscriptionId } from "../../app/subscriptions/SubscriptionId.ts"
import { find, follow, type ThreadHandler } from "../ThreadCall.ts"
import { cannotSubmit } from "../ThreadErrors.ts"

/** Handler of the method. */
export const threadShellCommand: ThreadHandler<typeof ThreadShellCommand> = Effect.fnUntraced(
  function* ({ command, threadId }, call) {
    const conversation = yield* find(threadId)
    if (command.trim() === "") return yield* invalid("command must not be empty")
    if (command.includes("\0")) return yield* invalid("command must not contain a NUL character")
    call.hold(conversation.id)
    yield* follow(conversation, call)
    const submitted = conversation.submit(
      { type: "run_user_shell_command", command },
      { id: yield* subscriptionId, whileRunning: "reject" },
    )
    yield* Effect.mapError(submitted, (error) => cannotSubmit(conversation.id, error))
    return {}
  },
)
