/**
 * The calls of a turn that is taken up again after a restart: each runs again, is asked about first, or gets an output
 * that says it was cut off, by its replay class and by how often it has begun already (R22).
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { eventCallIdOf, type OpenCall, onlyAsks } from "../log/OpenCalls.ts"
import { cutOff, maxAttempts, outputOf } from "../recovery/RecoverTurn.ts"
import type { TurnTools } from "../ToolRuntime.ts"
import type { TurnOptions, TurnPort } from "./TurnPort.ts"
import * as ToolCalls from "./ToolCalls.ts"

const reason =
  "The process ended while this call ran, and it may have taken effect already. Run it again?"

/** Why it does not run again; undefined: it may. */
const refusal = Effect.fnUntraced(function* (
  { settings }: TurnOptions,
  open: OpenCall,
  port: TurnPort,
): Effect.fn.Return<string | undefined> {
  const { started, call } = open
  if (started === undefined || onlyAsks(open)) return undefined
  if (started.replay === "never") return cutOff
  if (started.attempt >= maxAttempts) return `${cutOff}; it was tried ${started.attempt} times`
  if (started.replay === "safe") return undefined
  const { decision } = yield* port.ask({
    _tag: "Exec",
    callId: eventCallIdOf(open),
    command:
      call.type === "local_shell_call"
        ? call.action.command
        : [call.name, call.type === "function_call" ? call.arguments : call.input],
    cwd: settings.cwd,
    sandbox: settings.sandboxPolicy,
    reason,
  })
  return decision === "approved" || decision === "approved_for_session"
    ? undefined
    : `${cutOff}; running it again was not approved`
})

export const replayCalls = Effect.fnUntraced(function* (
  turn: TurnOptions,
  calls: ReadonlyArray<OpenCall>,
  port: TurnPort,
  tools: TurnTools,
): Effect.fn.Return<void, never, Scope.Scope> {
  const running = yield* ToolCalls.make(tools, port)
  for (const open of calls) {
    const refused = yield* refusal(turn, open, port)
    const attempt = (open.started?.attempt ?? 0) + 1
    // What only asked has no begin event yet: it keeps the id of its question.
    const id = onlyAsks(open) && open.asks ? eventCallIdOf(open) : undefined
    if (refused === undefined) yield* running.start(open.call, attempt, id)
    else yield* port.emit([outputOf(open, refused)])
  }
  const outputs = yield* running.finish
  if (outputs.length > 0) yield* port.emit(outputs)
})
