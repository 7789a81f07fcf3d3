/**
 * Replays the tool calls of a turn that is resumed after a restart. Each runs again, needs an approval first, or gets an
 * output that says it was interrupted, depending on its replay class and on its earlier attempts.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ApprovalRequest } from "../approvals/Approval.ts"
import { eventCallIdOf, type OpenCall, onlyAsks } from "../log/OpenCalls.ts"
import { interruptedOutput, maxAttempts, outputOf } from "../recovery/RecoverTurn.ts"
import type { TurnTools } from "../ToolRuntime.ts"
import type { TurnOptions, TurnPort } from "./TurnPort.ts"
import { ToolCalls } from "./ToolCalls.ts"

/** Reason of the question, for the user. */
const reason =
  "The process ended while this call ran, and it may have taken effect already. Run it again?"

/** The question whether the call may run again. */
const questionOf = (
  { settings }: TurnOptions,
  open: OpenCall,
  tools: TurnTools,
): ApprovalRequest => {
  const { call } = open
  const callId = eventCallIdOf(open)
  const ofApplication = tools.questionOf?.(call)
  if (ofApplication !== undefined) return { _tag: "Tool", callId, ...ofApplication, reason }
  return {
    _tag: "Exec",
    callId,
    command:
      call.type === "local_shell_call"
        ? call.action.command
        : [call.name, call.type === "function_call" ? call.arguments : call.input],
    cwd: settings.cwd,
    sandbox: settings.sandboxPolicy,
    reason,
  }
}

/** Why the call does not run again; undefined when it may. */
const refusal = Effect.fnUntraced(function* (
  turn: TurnOptions,
  open: OpenCall,
  port: TurnPort,
  tools: TurnTools,
): Effect.fn.Return<string | undefined> {
  const { started } = open
  if (started === undefined || onlyAsks(open)) return undefined
  if (started.replay === "never") return interruptedOutput
  if (started.attempt >= maxAttempts)
    return `${interruptedOutput}; it was tried ${started.attempt} times`
  if (started.replay === "safe") return undefined
  const { decision } = yield* port.ask(questionOf(turn, open, tools))
  return decision === "approved" || decision === "approved_for_session"
    ? undefined
    : `${interruptedOutput}; running it again was not approved`
})

/** Replays the calls in order. Resolves when their outputs are emitted. */
export const replayCalls = Effect.fnUntraced(function* (
  turn: TurnOptions,
  calls: ReadonlyArray<OpenCall>,
  port: TurnPort,
  tools: TurnTools,
): Effect.fn.Return<void, never, Scope.Scope> {
  const running = yield* ToolCalls.make(tools, port)
  for (const open of calls) {
    const refused = yield* refusal(turn, open, port, tools)
    const attempt = (open.started?.attempt ?? 0) + 1
    // A call that only asked has no begin event yet: it keeps the id of its question.
    const id = onlyAsks(open) && open.asks ? eventCallIdOf(open) : undefined
    if (refused === undefined) yield* running.start(open.call, attempt, id)
    else yield* port.emit([outputOf(open, refused)])
  }
  const outputs = yield* running.finish
  if (outputs.length > 0) yield* port.emit(outputs)
})
