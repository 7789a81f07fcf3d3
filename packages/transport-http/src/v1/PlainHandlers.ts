/** Handlers of the plain API: each finds the conversation in the principal's view, makes one call and names the result. */
import { present } from "@colloquy/protocol/app/Fields"
import { type Event, isTerminal } from "@colloquy/protocol/EventMsg"
import { parseConversationId } from "@colloquy/protocol/Ids"
import type { ConversationsView } from "@colloquy/server/ConversationsView"
import { isQuestion, type Question, refOf } from "@colloquy/server/questions/Question"
import { decisionOp, formOp, takesDecision } from "@colloquy/server/questions/QuestionAnswer"
import type { Server } from "@colloquy/server/Server"
import * as Effect from "effect/Effect"
import * as DateTime from "effect/DateTime"
import type * as Scope from "effect/Scope"
import type { Answer, TurnEnd } from "./PlainApi.ts"
import { conflict, ended, invalid, notFound, type PlainError, plainErrorOf } from "./PlainError.ts"

type Views = ConversationsView["Service"]
type Conversation = Effect.Success<ReturnType<Views["get"]>>
type State = Effect.Success<Conversation["state"]>
type Submission = Parameters<Conversation["submit"]>
type Receipt = Effect.Success<ReturnType<Conversation["submit"]>>
type RunEnd = NonNullable<Effect.Success<ReturnType<Conversation["runTurn"]>>["end"]>
type Listener = Effect.Success<ReturnType<Conversation["attach"]>>

/** Page size of the app-server's list. */
const defaultPageSize = 25

/** The id in its canonical spelling; the schema of the route has accepted it. */
const idOf = (given: string): Effect.Effect<string, PlainError> => {
  const parsed = parseConversationId(given)
  return "problem" in parsed
    ? Effect.fail(invalid(`id: ${parsed.problem}`, "id"))
    : Effect.succeed(parsed.id)
}

/** A conversation for a caller whose first call is `runTurn`, which finds out whether it exists. */
export const refer = (views: Views, given: string): Effect.Effect<Conversation, PlainError> =>
  Effect.flatMap(idOf(given), (id) => Effect.mapError(views.refer(id), plainErrorOf))

/** The conversation of the principal with this id, loaded if necessary. */
export const find = (views: Views, given: string): Effect.Effect<Conversation, PlainError> =>
  Effect.flatMap(idOf(given), (id) => Effect.mapError(views.get(id), plainErrorOf))

const statusOf = ({ approvals, turn, waiting }: State) => {
  if (turn === undefined) return waiting.length === 0 ? "idle" : "running"
  return approvals.open.length === 0 ? "running" : "waitingForApproval"
}

const shownState = (conversationId: string, state: State) => {
  const { approvals, seq, settings, turn, usage, waiting } = state
  return {
    conversationId,
    model: settings.model,
    ...(settings.effort === undefined ? {} : { reasoningEffort: settings.effort }),
    status: statusOf(state),
    ...(turn === undefined ? {} : { turnId: turn.id }),
    waitingMessages: waiting.length,
    openQuestions: approvals.open.length,
    nextSeq: seq,
    cwd: settings.cwd,
    approvalPolicy: settings.approvalPolicy,
    sandboxPolicy: settings.sandboxPolicy,
    ...(usage === undefined ? {} : { totalTokens: usage.total_tokens }),
  } as const
}

/** The conversation as the routes show it. */
const shown = (conversation: Conversation) =>
  Effect.map(Effect.mapError(conversation.state, plainErrorOf), (state) =>
    shownState(conversation.id, state),
  )

/** The conversation with this id, also one that another process has. */
export const read = (views: Views, given: string) =>
  Effect.flatMap(idOf(given), (id) =>
    Effect.map(Effect.mapError(views.stateOf(id), plainErrorOf), (state) => shownState(id, state)),
  )

/** Attaches to the events of the conversation with this id, also of one that another process has. */
export const followed = (
  views: Views,
  given: string,
  options: Parameters<Views["follow"]>[1],
): Effect.Effect<Listener, PlainError, Scope.Scope> =>
  Effect.flatMap(idOf(given), (id) => Effect.mapError(views.follow(id, options), plainErrorOf))

type Resolver = ReturnType<Server["Service"]["settings"]>
type Overrides = Parameters<Resolver["resolve"]>[0]

/** Creates a conversation with these settings on top of the configuration. */
export const create = Effect.fnUntraced(function* (
  views: Views,
  settings: Resolver,
  { includeApplyPatchTool, ...given }: Overrides & { readonly includeApplyPatchTool?: boolean },
) {
  const more =
    includeApplyPatchTool === undefined
      ? {}
      : { config: { ...given.config, include_apply_patch_tool: includeApplyPatchTool } }
  const resolved = yield* Effect.mapError(
    settings.resolve({ ...given, ...more, requiresProvider: true }),
    ({ key, message }) => invalid(message, key),
  )
  return yield* shown(yield* Effect.mapError(views.create(resolved), plainErrorOf))
})

/** One page of the principal's conversations. */
export const list = Effect.fnUntraced(function* (
  views: Views,
  query: { readonly limit?: number; readonly cursor?: string; readonly archived?: string },
) {
  const { items, nextCursor } = yield* Effect.mapError(
    views.list({
      limit: query.limit ?? defaultPageSize,
      archived: query.archived === "true",
      ...(query.cursor === undefined ? {} : { cursor: query.cursor }),
    }),
    plainErrorOf,
  )
  return {
    items: items.map(({ createdAtMs, id, path, preview = "" }) => ({
      conversationId: id,
      ...(path === undefined ? {} : { path }),
      preview,
      timestamp: DateTime.formatIso(DateTime.makeUnsafe(createdAtMs)),
    })),
    ...(nextCursor === undefined ? {} : { nextCursor }),
  }
})

/** Creates a conversation of the beginning of another one. */
export const fork = Effect.fnUntraced(function* (
  views: Views,
  given: string,
  rule: { readonly dropLastMessages?: number; readonly beforeMessage?: number },
) {
  const { beforeMessage, dropLastMessages = 0 } = rule
  if (beforeMessage !== undefined && rule.dropLastMessages !== undefined) {
    return yield* Effect.fail(
      invalid("`dropLastMessages` and `beforeMessage` exclude each other", "beforeMessage"),
    )
  }
  const id = yield* idOf(given)
  const forked = views.fork(
    id,
    beforeMessage === undefined
      ? { _tag: "DropLastUserMessages", n: dropLastMessages }
      : { _tag: "BeforeUserMessage", nth: beforeMessage },
  )
  return yield* shown(yield* Effect.mapError(forked, plainErrorOf))
})

/** Archives the conversation, or makes an archived one available again. */
export const move = (views: Views, to: "archive" | "unarchive", given: string) =>
  Effect.flatMap(idOf(given), (id) => Effect.mapError(views[to](id), plainErrorOf))

const attached = (conversation: Conversation, options?: Parameters<Conversation["attach"]>[0]) =>
  Effect.mapError(conversation.attach(options), plainErrorOf)

const submitted = (conversation: Conversation, ...[op, options]: Submission) =>
  Effect.mapError(conversation.submit(op, options), plainErrorOf)

const endOf = (receipt: Receipt, { error, msg, seq }: RunEnd): TurnEnd => ({
  ...acceptanceOf(receipt),
  seq,
  ...(msg.type === "task_complete"
    ? { status: "completed", lastAgentMessage: msg.last_agent_message }
    : { status: "aborted", abortReason: msg.reason }),
  ...(error === undefined ? {} : { error }),
})

/** Submits input; with `wait` resolves with the end of its turn, also of one that is over. */
export const send: (
  conversation: Conversation,
  op: Submission[0],
  options: Submission[1],
  wait: boolean,
) => Effect.Effect<TurnEnd | Pick<TurnEnd, "turnId" | "disposition">, PlainError> =
  Effect.fnUntraced(function* (conversation, op, options, wait) {
    if (!wait) return acceptanceOf(yield* submitted(conversation, op, options))
    const { end, receipt } = yield* Effect.mapError(conversation.runTurn(op, options), plainErrorOf)
    return end === undefined ? acceptanceOf(receipt) : endOf(receipt, end)
  })

const acceptanceOf = ({ disposition, id }: Receipt) => ({ turnId: id, disposition })

/** Takes until the turn has ended. */
const terminalOf = Effect.fnUntraced(function* (listener: Listener, turnId: string) {
  while (true) {
    for (const delivery of yield* Effect.mapError(listener.take, (end) =>
      end._tag === "Done" ? ended() : plainErrorOf(end),
    )) {
      if (delivery._tag !== "Event" || delivery.event.id !== turnId) continue
      if (isTerminal(delivery.event.msg)) return delivery.event.msg
    }
  }
})

/** Interrupts the running turn and resolves when it has ended. */
export const interrupt = Effect.fnUntraced(function* (conversation: Conversation) {
  const listener = yield* attached(conversation)
  const { turn } = yield* Effect.mapError(conversation.state, plainErrorOf)
  yield* submitted(conversation, { type: "interrupt" })
  if (turn === undefined) return { abortReason: "interrupted" as const }
  const msg = yield* terminalOf(listener, turn.id)
  return {
    turnId: turn.id,
    abortReason: msg.type === "turn_aborted" ? msg.reason : ("interrupted" as const),
  }
})

const openOf = ({ approvals }: State): ReadonlySet<number> =>
  new Set(approvals.open.map(({ seq }) => seq))

const isPending = (open: ReadonlySet<number>, event: Event): event is Event & Question =>
  open.has(event.seq) && isQuestion(event)

/**
 * The events of the pending questions of the conversation with this id, read from its log in the store: also of one that no
 * process can load. One that has no log there is asked itself.
 */
export const questions = (views: Views, given: string) =>
  Effect.gen(function* () {
    const id = yield* idOf(given)
    const open = openOf(yield* Effect.mapError(views.stateOf(id), plainErrorOf))
    if (open.size === 0) return []
    return yield* views.history(id, Math.min(...open)).pipe(
      Effect.map((records) =>
        records.flatMap(({ event }) => (isPending(open, event) ? [event] : [])),
      ),
      Effect.mapError(plainErrorOf),
      Effect.catchIf(
        ({ code }) => code === "not_found",
        () => Effect.flatMap(find(views, given), attachedQuestions),
      ),
    )
  })

/** The same of a conversation that is loaded. */
const attachedQuestions = Effect.fnUntraced(function* (conversation: Conversation) {
  const open = openOf(yield* Effect.mapError(conversation.state, plainErrorOf))
  const first = Math.min(...open)
  if (open.size === 0) return []
  const listener = yield* attached(conversation, { from: first })
  const found: Array<Event & Question> = []
  while (true) {
    for (const delivery of yield* Effect.mapError(listener.take, (end) =>
      end._tag === "Done" ? ended() : plainErrorOf(end),
    )) {
      if (delivery._tag === "Synced") return found
      if (delivery._tag !== "Event") continue
      const { event } = delivery
      if (isPending(open, event)) found.push(event)
    }
  }
})

/** Answers the pending question that this event asked. */
export const answer = Effect.fnUntraced(function* (
  conversation: Conversation,
  seq: number,
  given: typeof Answer.Type,
) {
  const question = (yield* attachedQuestions(conversation)).find((one) => one.seq === seq)
  if (question === undefined) {
    const { seq: next } = yield* Effect.mapError(conversation.state, plainErrorOf)
    const message = `no question is pending with the number ${seq}`
    return yield* Effect.fail(seq < next ? conflict(message) : notFound(message))
  }
  const ref = refOf(question)
  if (takesDecision(ref)) {
    if (!("decision" in given))
      return yield* Effect.fail(invalid("decision: expected a decision", "decision"))
    return yield* submitted(conversation, decisionOp(ref, given.decision))
  }
  if (!("action" in given))
    return yield* Effect.fail(invalid("action: expected the action of a form", "action"))
  return yield* submitted(conversation, formOp(ref, present(given)))
})
