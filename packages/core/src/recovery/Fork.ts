/**
 * Forks (§5.2): the log of a new conversation, cut from that of another before one of its user messages. Pure.
 *
 * Both rules count what a person said; the messages that tell the model where it works are ours and do not count.
 * The original cuts a list of items, this a log of events, so that the new conversation keeps the laws: it begins
 * with its own `session_configured` (L3), its numbers have no gap (L4) and no turn in it is left open (L5).
 */
import { type Event, isTerminal } from "@colloquy/protocol/EventMsg"
import type { ConversationId } from "@colloquy/protocol/Ids"
import { isQuestion, withdrawnEvent } from "../question/ApprovalEvents.ts"
import type { ConversationSettings } from "../ConversationSettings.ts"
import { BadForkRule, type ForkRule } from "../ForkRule.ts"
import { type Draft, numberDrafts } from "../decider/State.ts"
import { OpenQuestions } from "../log/OpenQuestions.ts"
import { initialEvents } from "../decider/InitialEvents.ts"

/** A rule without a problem may still count beyond the history of `source`, or name what is not there. */
export const beyondHistory = (
  source: ReadonlyArray<Event>,
  rule: ForkRule,
): BadForkRule | undefined => {
  const events = settled(source)
  const userMessages = beginnings(events).length
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
    case "ThroughSubmission":
      return events.some(({ id, msg }) => id === rule.id && msg.type === "task_started")
        ? undefined
        : new BadForkRule({ field: "id", value: rule.id })
  }
}

/**
 * Events of completed turns: a turn that still runs, and what was told after it began, is left out. So is the end of
 * a conversation that was shut down just now: the new one goes on.
 */
const settled = (source: ReadonlyArray<Event>): ReadonlyArray<Event> => {
  const events = source.filter(({ msg }) => msg.type !== "shutdown_complete")
  const begun = events.findLastIndex(({ msg }) => msg.type === "task_started")
  const id = events[begun]?.id
  const open = !events.some((event, i) => i > begun && event.id === id && isTerminal(event.msg))
  return begun !== -1 && open ? events.slice(0, begun) : events
}

/** Where each user message begins: at its turn if it started one, else at its item. */
const beginnings = (events: ReadonlyArray<Event>): ReadonlyArray<number> =>
  events.flatMap(({ msg }, i) => {
    if (msg.type !== "user_message" || (msg.kind ?? "plain") !== "plain") return []
    const item = events[i - 1]?.msg.type === "raw_response_item" ? i - 1 : i
    return [events[item - 1]?.msg.type === "task_started" ? item - 1 : item]
  })

/** How many events are kept; 0 for none at all. */
const cut = (events: ReadonlyArray<Event>, rule: ForkRule): number => {
  switch (rule._tag) {
    case "BeforeUserMessage":
      return beginnings(events)[rule.nth] ?? 0
    case "DropLastUserMessages": {
      const places = beginnings(events)
      return rule.n === 0 ? events.length : (places[places.length - rule.n] ?? 0)
    }
    case "BeforeEvent":
      return events.filter(({ seq }) => seq < rule.seq).length
    case "BeforeSubmission":
      return events.findIndex(({ id, msg }) => id === rule.id && msg.type === "task_started")
    case "ThroughSubmission":
      return events.findLastIndex(({ id, msg }) => id === rule.id && isTerminal(msg)) + 1
  }
}

/** A cut in the middle of a turn ends it there, and denies what it still asked (L7). */
const closing = (kept: ReadonlyArray<Event>): ReadonlyArray<Draft> => {
  let open: string | undefined
  const questions = new OpenQuestions()
  for (const event of kept) {
    const { id, msg } = event
    questions.add(event)
    if (msg.type === "task_started") open = id
    else if (isTerminal(msg) && id === open) open = undefined
  }
  if (open === undefined) return []
  const withdrawn = questions
    .all()
    .flatMap(({ id, msg }) => (isQuestion(msg) ? [{ id, msg: withdrawnEvent(msg) }] : []))
  return [...withdrawn, { id: open, msg: { type: "turn_aborted", reason: "interrupted" } }]
}

/** Without the shell, which the first one alone tells. */
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

/**
 * The log of the new conversation, which runs with `settings`. `rule` has no problem (`problemOf`, `beyondHistory`). Ids of
 * submissions are kept. Where the kept part tells the model of another environment, it is told of the right one.
 */
export const forkLog = (
  source: ReadonlyArray<Event>,
  rule: ForkRule,
  target: { readonly id: ConversationId; readonly settings: ConversationSettings },
): ReadonlyArray<Event> => {
  const events = settled(source)
  const begin = initialEvents(target.id, target.settings)
  const kept = events.slice(1, cut(events, rule))
  if (kept.length === 0) return numberDrafts(0, begin)
  const [own, environment] = [begin.slice(0, 1), begin.slice(1)]
  const told = [...kept, ...closing(kept)]
  const same = lastEnvironment(told) === lastEnvironment(environment)
  return numberDrafts(0, [...own, ...told, ...(same ? [] : environment)])
}
