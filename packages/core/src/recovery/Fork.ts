/**
 * Forks: the log of a new conversation, cut from the log of another one. Pure.
 *
 * Rules that count user messages count those of a person; messages that Colloquy adds for the model do not count. The
 * original program cuts a list of items. Here a log of events is cut, so that the new conversation keeps the laws: it
 * begins with its own `session_configured` (L3), its numbers have no gap (L4) and every turn in it ends (L5).
 */
import { type Event, isTerminal } from "@colloquy/protocol/EventMsg"
import type { ConversationId } from "@colloquy/protocol/Ids"
import { isQuestion, withdrawnEvent } from "../question/ApprovalEvents.ts"
import type { ConversationSettings } from "../ConversationSettings.ts"
import { BadForkRule, type ForkRule } from "../ForkRule.ts"
import { type Draft, numberDrafts } from "../decider/State.ts"
import { OpenQuestions } from "../log/OpenQuestions.ts"
import { userMessageStarts, withoutReverted } from "../log/Reverted.ts"
import { initialEvents } from "../decider/InitialEvents.ts"

/** What is wrong with a valid rule for this history: it counts beyond it, or names a turn that it does not contain. */
export const beyondHistory = (
  source: ReadonlyArray<Event>,
  rule: ForkRule,
): BadForkRule | undefined => {
  const events = endedTurns(source)
  const userMessages = userMessageStarts(events).length
  switch (rule._tag) {
    case "DropLastUserMessages":
      return rule.n <= userMessages
        ? undefined
        : new BadForkRule({ field: "n", value: rule.n, userMessages })
    case "BeforeUserMessage":
      return rule.nth < userMessages
        ? undefined
        : new BadForkRule({ field: "nth", value: rule.nth, userMessages })
    case "BeforeEvent":
      return rule.seq <= source.length
        ? undefined
        : new BadForkRule({ field: "seq", value: rule.seq, next: source.length })
    case "BeforeSubmission":
      return placeOfTurn(withoutReverted(source), rule.id) === -1
        ? new BadForkRule({ field: "id", value: rule.id })
        : undefined
    case "ThroughSubmission":
      return placeOfTurn(events, rule.id) === -1
        ? new BadForkRule({ field: "id", value: rule.id })
        : undefined
  }
}

const placeOfTurn = (events: ReadonlyArray<Event>, turnId: string): number =>
  events.findIndex(({ id, msg }) => id === turnId && msg.type === "task_started")

const notCopied: ReadonlySet<string> = new Set([
  "shutdown_complete",
  "thread_rolled_back",
  "queue_changed",
])

/**
 * The events of ended turns: a turn that still runs is left out, with everything after its start. So is the last event of
 * a conversation that was shut down, since the new one continues; so are changes of the queue, which is not copied.
 */
const endedTurns = (source: ReadonlyArray<Event>): ReadonlyArray<Event> => {
  const events = withoutReverted(source).filter(({ msg }) => !notCopied.has(msg.type))
  const begun = events.findLastIndex(({ msg }) => msg.type === "task_started")
  const id = events[begun]?.id
  const open = !events.some((event, i) => i > begun && event.id === id && isTerminal(event.msg))
  return begun !== -1 && open ? events.slice(0, begun) : events
}

/** Number of events to keep; 0 for none. */
const cut = (events: ReadonlyArray<Event>, rule: ForkRule): number => {
  switch (rule._tag) {
    case "BeforeUserMessage":
      return userMessageStarts(events)[rule.nth] ?? 0
    case "DropLastUserMessages": {
      const places = userMessageStarts(events)
      return rule.n === 0 ? events.length : (places[places.length - rule.n] ?? 0)
    }
    case "BeforeEvent":
      return events.filter(({ seq }) => seq < rule.seq).length
    case "BeforeSubmission": {
      // Everything comes before a turn that still runs.
      const place = placeOfTurn(events, rule.id)
      return place === -1 ? events.length : place
    }
    case "ThroughSubmission":
      return events.findLastIndex(({ id, msg }) => id === rule.id && isTerminal(msg)) + 1
  }
}

/** The events that end a turn which the cut leaves unfinished, and deny its pending questions (L7). */
const closing = (kept: ReadonlyArray<Event>): ReadonlyArray<Draft> => {
  let open: string | undefined
  let reviews = false
  const questions = new OpenQuestions()
  for (const event of kept) {
    const { id, msg } = event
    questions.add(event)
    if (msg.type === "entered_review_mode") reviews = true
    else if (msg.type === "exited_review_mode" || msg.type === "task_started") reviews = false
    if (msg.type === "task_started") open = id
    else if (isTerminal(msg) && id === open) open = undefined
  }
  if (open === undefined) return []
  const withdrawn = questions
    .all()
    .flatMap(({ id, msg }) => (isQuestion(msg) ? [{ id, msg: withdrawnEvent(msg) }] : []))
  return [
    ...withdrawn,
    ...(reviews
      ? [{ id: open, msg: { type: "exited_review_mode", review_output: null } } as const]
      : []),
    { id: open, msg: { type: "turn_aborted", reason: "interrupted" } },
  ]
}

/** The last environment context, without the shell, which only the first one names. */
const lastEnvironment = (drafts: ReadonlyArray<Draft>): string | undefined =>
  drafts
    .flatMap(({ msg }) => (isEnvironment(msg) ? [JSON.stringify(msg)] : []))
    .at(-1)
    ?.replace(/\\n {2}<shell>[a-z]+<\/shell>/, "")

const isEnvironment = (msg: Draft["msg"]): boolean => {
  if (msg.type !== "raw_response_item" || msg.item.type !== "message") return false
  const [first] = msg.item.content
  return first?.type === "input_text" && first.text.startsWith("<environment_context>")
}

/** The log that is copied. */
export interface ForkSource {
  /** All of its durable events. */
  readonly events: ReadonlyArray<Event>
  /** When the event with this number was recorded, in milliseconds since the epoch. */
  readonly timeOf: (seq: number) => number
}

/** An event of the new log. */
export interface ForkedEvent {
  readonly event: Event
  /**
   * When it happened, in milliseconds since the epoch: the time of the event that it is a copy of. Absent for one that
   * happens with the creation of the conversation.
   */
  readonly atMs?: number
}

/**
 * The log of the new conversation, which runs with `settings`. `rule` must be valid (`problemOf`, `beyondHistory`). Ids of
 * submissions and times are kept; a turn that the cut leaves unfinished ends with its last event. If the kept part
 * describes another environment to the model, the right one is added.
 */
export const forkLog = (
  { events: source, timeOf }: ForkSource,
  rule: ForkRule,
  target: { readonly id: ConversationId; readonly settings: ConversationSettings },
): ReadonlyArray<ForkedEvent> => {
  const events = endedTurns(source)
  const [configured, ...environment] = initialEvents(target.id, target.settings)
  const kept = events.slice(1, cut(events, rule))
  const last = kept.at(-1)
  const history = [...kept, ...closing(kept)]
  const same = last !== undefined && lastEnvironment(history) === lastEnvironment(environment)
  const log = [
    ...(configured === undefined ? [] : [configured]),
    ...history,
    ...(same ? [] : environment),
  ]
  return numberDrafts(0, log).map((event, place) => {
    const original = place === 0 || place > history.length ? undefined : (kept[place - 1] ?? last)
    return { event, ...(original === undefined ? {} : { atMs: timeOf(original.seq) }) }
  })
}
