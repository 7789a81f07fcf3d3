/**
 * What a client does in one life of a server, drawn from the dice: new conversations, messages, commands, patches, with
 * and without questions, small and of 200 KB. Nothing is waited for but what the next step needs.
 */
import * as Effect from "effect/Effect"
import { mark } from "../support/Processes.ts"
import type { Frame, Server } from "../support/Server.ts"
import type { Dice } from "./Dice.ts"
import type { Told } from "./Told.ts"

const largeChars = 200_000

/** One life: the server, and what its client notes. */
export interface Life {
  readonly server: Server
  readonly told: Told
  readonly dice: Dice
  /** Names this life among those of a state directory. */
  readonly number: number
  /** Where commands run and patches are applied. */
  readonly cwd: string
  /** What each command that is meant to be caught running sleeps, by the call that began it. */
  readonly sleepers: Map<string, string>
}

/** A message and how it begins, which no other message does. */
interface Message {
  readonly start: string
  readonly text: string
}

const padding = ({ dice }: Life): string => (dice.chance(0.3) ? "x".repeat(largeChars) : "")

const saying = (life: Life, name: string): Message => {
  const start = `say ${name} `
  return { start, text: `${start}${padding(life)}.` }
}

/** Each notes in a file of its own that it ran. */
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

/** Accepted once the client is told that its turn began. */
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
  // Told of: it has to be there from now on, even if nothing is ever said in it.
  life.told.of(thread)
  yield* send(life, `${name}-first`, thread)
})

/** Keeps to few conversations, so that some become long. */
const act = (life: Life, name: string): Effect.Effect<void> => {
  const [first, ...others] = [...life.told.conversations.keys()].slice(-4)
  if (first === undefined || life.dice.chance(0.4)) {
    return life.dice.chance(0.6) ? begin(life, name) : create(life, name)
  }
  const thread = life.dice.pick([first, ...others])
  return life.dice.chance(0.5) ? reply(life, name, thread) : send(life, name, thread)
}

/** Questions are answered as `decide` says, some not at all: those wait for the next life. */
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

/** A command that is caught in the middle: returns when it has said something. */
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

/** Several at once; never ends, as some of them never do: the end of the life is its death. */
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
