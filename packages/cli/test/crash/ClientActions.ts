/**
 * The random actions of a client during one life of a server process: new conversations, messages, commands and
 * patches, with and without approvals, with short texts and texts of 200 KB. An action waits only for the response or
 * event that its next step needs.
 */
import * as Effect from "effect/Effect"
import { mark } from "../support/Processes.ts"
import type { Frame, Server } from "../support/Server.ts"
import type { Dice } from "./Dice.ts"
import type { Told } from "./Told.ts"

const largeChars = 200_000

/** One life: a server process and the records that its client keeps. */
export interface Life {
  readonly server: Server
  readonly told: Told
  readonly dice: Dice
  /** Number of this life, unique within the state directory. */
  readonly number: number
  /** Directory in which commands run and patches are applied. */
  readonly cwd: string
  /** The `sleep` argument of each command that must still run at the kill, by the call that started the command. */
  readonly sleepers: Map<string, string>
}

/** A message and its first characters, which are unique among all messages. */
interface Message {
  readonly start: string
  readonly text: string
}

const padding = ({ dice }: Life): string => (dice.chance(0.3) ? "x".repeat(largeChars) : "")

const saying = (life: Life, name: string): Message => {
  const start = `say ${name} `
  return { start, text: `${start}${padding(life)}.` }
}

/** Each command appends a line to a separate file, so that the test can count how often it ran. */
const running = (life: Life, name: string): Message => {
  const start = `run: echo ran >> ran-${name}; `
  const rest = life.dice.pick([
    "echo done",
    `head -c ${largeChars} /dev/zero | tr '\\0' x`,
    "for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.01; done",
  ])
  return { start, text: start + rest }
}

const patching = (life: Life, name: string): Message => {
  const start = `patch: *** Begin Patch\n*** Add File: patch-${name}\n`
  return { start, text: `${start}+${padding(life)}.\n*** End Patch` }
}

const message = (life: Life, name: string): Message =>
  life.dice.pick([saying, running, running, patching])(life, name)

const settings = ({ cwd, dice }: Life) => ({
  cwd,
  sandbox: "danger-full-access",
  policy: dice.pick(["never", "untrusted", "untrusted"]),
})

/** Resolves with the `task_started` event of the call; from then on the input counts as accepted. */
const untilBegun = (life: Life, call: string, thread: string | undefined, { start }: Message) =>
  Effect.map(life.server.event("task_started", call), ({ params }) => {
    life.told.of(thread ?? params?._meta?.threadId ?? "").inputs.add(start)
  })

const begin = (life: Life, name: string) =>
  Effect.suspend(() => {
    const said = message(life, name)
    const { policy, ...rest } = settings(life)
    const args = { ...rest, prompt: said.text, "approval-policy": policy }
    life.server.call(name, "codex", args)
    return untilBegun(life, name, undefined, said)
  })

const reply = (life: Life, name: string, thread: string) =>
  Effect.suspend(() => {
    const said = message(life, name)
    life.server.call(name, "codex-reply", { threadId: thread, prompt: said.text })
    return untilBegun(life, name, thread, said)
  })

interface Made {
  readonly conversation_id?: string
  readonly status?: string
}

const structured = ({ result }: Frame): Made => (result?.structuredContent ?? {}) as Made

const send = Effect.fnUntraced(function* (life: Life, name: string, thread: string) {
  const { start, text } = message(life, name)
  life.server.call(name, "conversationSendMessage", {
    conversation_id: thread,
    content: [{ type: "text", text }],
    while_running: life.dice.pick(["queue", "wait", "interrupt"]),
  })
  const { status } = structured(yield* life.server.answer(name))
  if (status === "ok") life.told.of(thread).inputs.add(start)
})

const create = Effect.fnUntraced(function* (life: Life, name: string) {
  const { cwd, policy, sandbox } = settings(life)
  life.server.call(name, "conversationCreate", { cwd, sandbox, approval_policy: policy })
  const { conversation_id: thread = "" } = structured(yield* life.server.answer(name))
  // The response named the conversation, so it must exist from now on, even if it never gets a message.
  life.told.of(thread)
  yield* send(life, `${name}-first`, thread)
})

/** Performs one random action. Uses only the last four conversations, so that some event logs become long. */
const act = (life: Life, name: string): Effect.Effect<void> => {
  const [first, ...others] = [...life.told.conversations.keys()].slice(-4)
  if (first === undefined || life.dice.chance(0.4)) {
    return life.dice.chance(0.6) ? begin(life, name) : create(life, name)
  }
  const thread = life.dice.pick([first, ...others])
  return life.dice.chance(0.5) ? reply(life, name, thread) : send(life, name, thread)
}

/**
 * Answers each question with the action that `decide` returns and never ends. A question without an action stays
 * pending until the next life.
 */
export const answerQuestions = (
  { server }: Life,
  decide: (question: Frame) => "accept" | "decline" | undefined,
): Effect.Effect<never> => {
  const answered = new Set<unknown>()
  const isNew = ({ id, method }: Frame) => method === "elicitation/create" && !answered.has(id)
  return Effect.forever(
    Effect.map(server.until(isNew), (question) => {
      answered.add(question.id)
      const action = decide(question)
      if (action !== undefined) server.send({ id: question.id, result: { action } })
    }),
  )
}

/** Starts a command that the kill will find running. Resolves after the command's first output. */
export const sleeper = (life: Life): Effect.Effect<void> =>
  Effect.suspend(() => {
    const name = `${life.number}-sleeper`
    const start = `run: echo ran >> ran-${name}; `
    const seconds = mark()
    life.sleepers.set(name, seconds)
    life.server.call(name, "codex", {
      cwd: life.cwd,
      sandbox: "danger-full-access",
      "approval-policy": "never",
      prompt: `${start}echo up; sleep ${seconds}`,
    })
    return Effect.andThen(
      untilBegun(life, name, undefined, { start, text: "" }),
      Effect.asVoid(life.server.event("exec_command_output_delta", name)),
    )
  })

/** Runs several actions concurrently. Never ends, because some actions never end; killing the server ends the life. */
export const run = (life: Life): Effect.Effect<never> =>
  Effect.forEach(
    Array.from({ length: 2 + life.dice.below(4) }, (_, n) => `${life.number}-${n}`),
    (name) => act(life, name),
    { concurrency: "unbounded", discard: true },
  ).pipe(
    Effect.andThen(Effect.never),
    Effect.raceFirst(
      answerQuestions(life, () => life.dice.pick(["accept", "accept", "decline", undefined])),
    ),
  )
