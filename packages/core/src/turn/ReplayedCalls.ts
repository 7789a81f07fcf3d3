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
import { callStart, ToolCalls } from "./ToolCalls.ts"

/** Reason of the question, for the user. */
const reason =
  "The process ended while this call ran, and it may have taken effect already. Run it again?"

/** The question whether the call may run again, with its id in events. */
const questionOf = (
  { settings }: TurnOptions,
  { call }: OpenCall,
  callId: string,
  tools: TurnTools,
): ApprovalRequest => {
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

/** What becomes of an open call. */
type Replay =
  | { readonly _tag: "Run"; readonly attempt: number; readonly eventCallId?: string }
  | { readonly _tag: "Refused"; readonly output: string }
  /** The turn has ended. */
  | { readonly _tag: "None" }

const refused = (output: string): Replay => ({ _tag: "Refused", output })

/**
 * An attempt whose question has this answer. It runs under an id of its own: the tool may ask a question too, and an answer
 * to one of two questions with the same id could be taken for that to the other.
 */
const afterAnswer = (isApproved: boolean, attempt: number): Replay =>
  isApproved
    ? { _tag: "Run", attempt }
    : refused(`${interruptedOutput}; running it again was not approved`)

/**
 * Decides whether the call runs again, which may need an answer. Every question has an id of its own, so that each is
 * resolved once. It is recorded first which attempt the question is about: after one more restart its answer counts for
 * that attempt, whenever it was given.
 */
const decide = Effect.fnUntraced(function* (
  turn: TurnOptions,
  open: OpenCall,
  port: TurnPort,
  tools: TurnTools,
): Effect.fn.Return<Replay> {
  const { asks, call, decided, started } = open
  // A call that only asked has no begin event yet: it keeps the id of its question.
  const asked = asks ? { eventCallId: eventCallIdOf(open) } : {}
  if (started === undefined) return { _tag: "Run", attempt: 1, ...asked }
  const { replay, waits = false } = started
  const ask = (eventCallId: string, attempt: number) =>
    Effect.map(port.ask(questionOf(turn, open, eventCallId, tools)), ({ decision }) =>
      afterAnswer(decision === "approved" || decision === "approved_for_session", attempt),
    )
  if (waits) {
    if (decided !== undefined) {
      return afterAnswer(decided === "approved", started.attempt)
    }
    if (asks) return yield* ask(eventCallIdOf(open), started.attempt)
  }
  const attempt = waits ? started.attempt : started.attempt + 1
  if (onlyAsks(open)) return { _tag: "Run", attempt, ...asked }
  if (replay === "never") return refused(interruptedOutput)
  if (attempt > maxAttempts)
    return refused(`${interruptedOutput}; it was tried ${attempt - 1} times`)
  if (replay === "safe") return { _tag: "Run", attempt }
  const id = port.eventCallId(call.call_id ?? "")
  const isRecorded = yield* port.recordCall({ ...callStart(tools, call, attempt, id), waits: true })
  return isRecorded ? yield* ask(id, attempt) : { _tag: "None" }
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
    const replay = yield* decide(turn, open, port, tools)
    if (replay._tag === "Run") yield* running.start(open.call, replay.attempt, replay.eventCallId)
    else if (replay._tag === "Refused") yield* port.emit([outputOf(open, replay.output)])
  }
  const outputs = yield* running.finish
  if (outputs.length > 0) yield* port.emit(outputs)
})
